"""An agent: instructions, a model, tools and limits. What a user builds, runs and keeps.

An agent is a value with methods; it holds no conversation. Everything that can be known before a turn starts is checked
here, when it is built.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict, Unpack

from tukang.answer import Answer
from tukang.conversation import Message, user
from tukang.errors import ConfigurationError
from tukang.loop.events import Event, Language, TurnStarted
from tukang.loop.limits import Limits
from tukang.memory.gate import WhenBusy
from tukang.memory.session import Session
from tukang.models.base import Model, Settings
from tukang.models.names import choose
from tukang.preamble import PREAMBLE
from tukang.running import Running
from tukang.runtime.facade import wait_for
from tukang.runtime.signals import Signal
from tukang.runtime.turn import Turn
from tukang.stream import Stream
from tukang.tools.toolbox import Toolbox

Instructions = str | Callable[[Any], str]


class RunOptions(TypedDict, total=False):
    """What may be said for one turn.

    Args:
        context: the caller's own object: for instructions that are a function and for tools that ask for a `CallContext`. It
            is never sent to the model.
        tool_choice: instead of the agent's.
        limits: instead of the agent's.
        when_busy: `wait` (the default) or `refuse`, when another turn holds the session.
    """

    context: Any
    tool_choice: str
    limits: Limits
    when_busy: WhenBusy


class Agent:
    """Runs turns.

    Args:
        model: a name (`openai:gpt-4o-mini`, `local`), a model, or None for what the environment offers (see
            `tukang.models.names.choose`). A list of them: when one gives up, the next takes over for the rest of the turn.
        instructions: the system text, or a function from the caller's context to it.
        tools: functions, `@tool`s, (schema, callable) pairs, objects with `get_schema` and `execute`; see
            `tukang.tools.toolbox.Toolbox`.
        limits: how far a turn may go.
        settings: how the model samples.
        tool_choice: `auto`, `required`, `none`, or a tool's name: for the first call of each turn.
        name: what the agent is called in records.
        language: of the loop's own sentences to the model and the user: `en` or `id`.
        preamble: whether the model is told, before the instructions, how to work in a loop. Only with tools.

    Raises:
        ConfigurationError: the parts do not fit together; the message says which and how to mend it.
    """

    def __init__(
        self,
        model: str | Model | Sequence[str | Model] | None = None,
        instructions: Instructions = "",
        *,
        tools: Iterable[Any] = (),
        limits: Limits | None = None,
        settings: Settings | None = None,
        tool_choice: str = "auto",
        name: str = "agent",
        language: Language = "en",
        preamble: bool = True,
    ) -> None:
        several = model if isinstance(model, Sequence) and not isinstance(model, str) else (model,)
        choices = [choose(one) for one in several]
        if not choices:
            raise ConfigurationError("an empty list of models: name at least one, or leave it out")
        self.models = tuple(choice.model for choice in choices)
        self.why_model = choices[0].why
        self.toolbox = Toolbox.of(tools)
        self._contracts = {contract.name: contract.digest for contract in self.toolbox.contracts}
        self.limits = limits or Limits()
        self.settings = settings or Settings()
        self.tool_choice = self._checked_choice(tool_choice)
        self.name = name
        self.language: Language = language
        self._instructions = instructions
        # A model that decides by rules of its own (the local one) says so; the preamble would only crowd its prompt.
        wanted = preamble and getattr(self.model, "wants_preamble", True)
        self._preamble = PREAMBLE[language] if wanted and len(self.toolbox) else ""

    # ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, message: str | Message, **options: Unpack[RunOptions]) -> Answer:
        """Run one turn and wait for the answer. Works anywhere, also inside a notebook's event loop.

        Raises:
            ConfigurationError: the tool_choice names no tool, or the model cannot be loaded.
            KeyboardInterrupt: on Ctrl-C, after the turn was ended well.
        """
        return _waited_for(self.start(message, **options))

    async def arun(self, message: str | Message, **options: Unpack[RunOptions]) -> Answer:
        """Run one turn and await the answer. Cancelling the awaiting task ends the turn well first.

        Raises:
            ConfigurationError: the tool_choice names no tool, or the model cannot be loaded.
        """
        return await self.start(message, **options).answer()

    def stream(self, message: str | Message, **options: Unpack[RunOptions]) -> Stream:
        """Run one turn and follow it. Takes what `arun` takes."""
        return Stream(lambda listen: self.start(message, listen=listen, **options))

    def session(self, id: str = "default", messages: Iterable[Message] = ()) -> Chat:
        """A conversation with this agent that goes on over several turns. It lives in memory.

        Args:
            id: your name for it.
            messages: what was said before, if anything.
        """
        return Chat(self, Session(id, messages))

    def start(
        self,
        message: str | Message,
        *,
        context: Any = None,
        tool_choice: str | None = None,
        limits: Limits | None = None,
        session: Session | None = None,
        when_busy: WhenBusy = "wait",
        listen: Callable[[Event | Signal], None] | None = None,
    ) -> Running:
        """A turn that has not begun: await its `answer()`, or `cancel()` it. What all the other ways to run stand on."""
        started = TurnStarted(
            at=0.0,
            turn=uuid.uuid4().hex[:12],
            trigger=user(message) if isinstance(message, str) else message,
            limits=limits or self.limits,
            policies=self.toolbox.policies,
            contracts=self._contracts,
            models=tuple(model.name for model in self.models),
            tool_choice=self._checked_choice(tool_choice or self.tool_choice),
            agent=self.name,
            session=session.id if session else None,
            language=self.language,
        )

        def turn(history: Sequence[Message]) -> Turn:
            return Turn(
                started=started,
                models=self.models,
                toolbox=self.toolbox,
                instructions=self.instructions(context),
                history=history,
                settings=self.settings,
                context=context,
            )

        return Running(turn, session, when_busy, listen)

    @property
    def model(self) -> Model:
        """The model that is asked first."""
        return self.models[0]

    def instructions(self, context: Any = None) -> str:
        """The system text as the model gets it."""
        own = self._instructions if isinstance(self._instructions, str) else self._instructions(context)
        return "\n\n".join(text for text in (self._preamble, own.strip()) if text)

    def _checked_choice(self, choice: str) -> str:
        names = [contract.name for contract in self.toolbox.contracts]
        if choice in ("auto", "none") or choice in names or (choice == "required" and names):
            return choice
        offered = ", ".join(names) or "no tools at all"
        raise ConfigurationError(
            f"tool_choice {choice!r}: expected 'auto', 'none', 'required' (with tools), or the name of a tool; "
            f"this agent has {offered}"
        )


class Chat:
    """A session with one agent: `run`, `arun` and `stream` as on the agent, in one conversation.

    A turn that is started while another is running waits for it (`when_busy="wait"`), or is refused
    (`when_busy="refuse"`, raising `SessionBusyError`).
    """

    def __init__(self, agent: Agent, session: Session) -> None:
        self.agent = agent
        self.session = session

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said, oldest first."""
        return self.session.messages

    def run(self, message: str | Message, **options: Unpack[RunOptions]) -> Answer:
        """As `Agent.run`, in this conversation."""
        return _waited_for(self.agent.start(message, session=self.session, **options))

    async def arun(self, message: str | Message, **options: Unpack[RunOptions]) -> Answer:
        """As `Agent.arun`, in this conversation."""
        return await self.agent.start(message, session=self.session, **options).answer()

    def stream(self, message: str | Message, **options: Unpack[RunOptions]) -> Stream:
        """As `Agent.stream`, in this conversation."""
        return Stream(lambda listen: self.agent.start(message, listen=listen, session=self.session, **options))


def _waited_for(running: Running) -> Answer:
    return wait_for(running.answer, running.cancel)
