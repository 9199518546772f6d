"""An agent: instructions, a model, tools and limits. What a user builds, runs and keeps.

An agent is a value with methods; it holds no conversation. Everything that can be known before a turn starts is checked
here, when it is built.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Literal, Self

from tukang.chat import Chat
from tukang.conversation import Message, user
from tukang.equipment import Equipment, Stock, as_written, checked_choice, possible_choice
from tukang.errors import ConfigurationError
from tukang.grounding.policy import Check, Grounded
from tukang.loop.events import Event, Language, TurnStarted
from tukang.loop.limits import Limits
from tukang.loop.permissions import Principal, Rule
from tukang.memory.gate import WhenBusy
from tukang.memory.session import LEASE, Floor, MemorySession, Session
from tukang.memory.sight import Sight
from tukang.memory.summarising import Summariser
from tukang.memory.window import Seen, Window
from tukang.memory.wording import WORDS
from tukang.models.base import Model, Settings
from tukang.models.names import choose
from tukang.preamble import ANSWER_AS_DATA, PREAMBLE
from tukang.runnable import Runnable, RunOptions
from tukang.running import Running
from tukang.runtime.offering import must_serve, offered
from tukang.runtime.people import Approver
from tukang.runtime.routing import routed
from tukang.runtime.signals import Signal
from tukang.runtime.turn import Turn, check_own
from tukang.runtime.vault import Source
from tukang.tasks.backend import Backend
from tukang.tasks.having import tasks_of
from tukang.tools.finding import Menu
from tukang.tools.hosted import Hosted
from tukang.tools.supply import Supply
from tukang.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from tukang.memory.stores.base import Store

Instructions = str | Callable[[Any], str]


class Agent(Runnable):
    """Runs turns.

    Args:
        model: a name (`openai:gpt-4o-mini`, `local`), a model, or None for what the environment offers (see
            `tukang.models.names.choose`). A list of them: when one gives up, the next takes over for the rest of the turn.
        instructions: the system text, or a function from the caller's context to it.
        tools: functions, `@tool`s, (schema, callable) pairs, objects with `get_schema` and `execute`; see
            `tukang.tools.toolbox.Toolbox`. And tools that the model's provider runs; see `tukang.tools.hosted`.
        limits: how far a turn may go.
        settings: how the model samples.
        tool_choice: `auto`, `required`, `none`, or a tool's name: for the first call of each turn.
        name: what the agent is called in records.
        language: of the loop's own sentences to the model and the user: `en` or `id`.
        preamble: whether the model is told, before the instructions, how to work in a loop. Only with tools.
        window: what its sessions send of what was said before; see `Window`.
        grounded: whether an answer may say only what tools or the user have said: True for codes, prices, dates and numbers,
            a regular expression (or several) of what must be known, a function, or `Grounded`. What is unsupported goes back
            to the model once, and then stands in `Answer.unsupported`.
        approve: decides about calls that need permission; see `tukang.runtime.people.Approver`. Without it, such a call
            waits in a session in a store, and is refused anywhere else.
        secrets: name → secret, for tools that take a `tukang.tools.secret.Secret`: a mapping, or a function, async or not.
        tasks: carries long work to where it is run; see `tukang.tasks.backend`. None for this process. Only with long tools.
        menu: how much of a large toolbox the model is shown at once; see `tukang.tools.finding.Menu`.
        route: `auto` decides what is certain before the model is asked: a question that one look-up (`Knowledge.tool`)
            answers is looked up, one that none has to do with is not; the reply says so. See `tukang.runtime.routing`.
        rules: what may be called by whom, before each tool's own `approval` is asked; see `tukang.loop.permissions.Rule`.

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
        window: Window | None = None,
        grounded: bool | str | Sequence[str] | Check | Grounded = False,
        approve: Approver | None = None,
        rules: Iterable[Rule] = (),
        secrets: Source | None = None,
        tasks: Backend | None = None,
        route: Literal["loop", "auto"] = "loop",
        menu: Menu | None = None,
    ) -> None:
        self._route = route
        menu = menu or Menu()
        self.rules = tuple(rules)
        self._stock = Stock(Supply(tools, menu), menu, self.rules, secrets)
        self.limits = limits or Limits()
        self.settings = settings or Settings()
        self.tool_choice = checked_choice(tool_choice, [tool.name for tool in self.toolbox], self.hosted)
        self.name = name
        self.language: Language = language
        self.window = window or Window()
        self.grounded = Grounded.of(grounded)
        self._instructions = instructions
        self._approve = approve
        self._carrier = tasks
        self._wants_preamble = preamble
        self._ask(model)

    @property
    def toolbox(self) -> Toolbox:
        """Its tools, as they are now; a turn has those that there were when it began."""
        return self._stock.supply.toolbox

    @property
    def hosted(self) -> tuple[Hosted, ...]:
        """Its tools that the model's provider runs, as its rules have them."""
        return self._stock.hosted

    def _ask(self, model: str | Model | Sequence[str | Model] | None) -> None:
        """Choose the models, and decide all that depends on which they are."""
        several = model if isinstance(model, Sequence) and not isinstance(model, str) else (model,)
        choices = [choose(one) for one in several]
        if not choices:
            raise ConfigurationError("an empty list of models: name at least one, or leave it out")
        for choice in choices:
            must_serve(choice.model, self.hosted)
        self.models = tuple(choice.model for choice in choices)
        if self._route == "auto":
            self.models = tuple(routed(one, self.toolbox) for one in self.models)
        self.tasks = tasks_of(self, self._stock.vault, self._carrier, self._stock.cache)
        self.why_model = choices[0].why
        self._grounding = self.grounded and as_written(self.grounded, self.model)
        self._sight = self._sight_through(self.window)
        # A model that decides by rules of its own (the local one) says so; the preamble would only crowd its prompt.
        wanted = self._wants_preamble and len(self.toolbox) > 0 and getattr(self.model, "wants_preamble", True)
        self._preamble = PREAMBLE[self.language] if wanted else ""

    def with_model(self, model: str | Model | Sequence[str | Model]) -> Self:
        """The same agent, asking another model. This one keeps its own.

        Args:
            model: as for the agent.

        Raises:
            ConfigurationError: there is no such model.
        """
        other = copy.copy(self)
        other._ask(model)
        return other

    def with_tools(self, *tools: Any) -> Self:
        """The same agent with more tools behind its own; its models stay the same.

        Args:
            tools: as for the agent.

        Raises:
            ToolDefinitionError: one of them is no tool, or has a name that is taken.
        """
        other = copy.copy(self)
        other._stock = self._stock.with_more(tools)
        other._ask(self.models)
        other.why_model = self.why_model
        return other

    # ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def session(
        self,
        id: str = "default",
        messages: Iterable[Message] = (),
        *,
        store: str | Store | None = None,
        redact: Callable[[str], str] | None = None,
        lease: float = LEASE,
        window: Window | None = None,
    ) -> Chat:
        """A conversation with this agent that goes on over several turns: in memory, or in a store, where it outlives the
        process.

        Args:
            id: your name for it.
            messages: what was said before, if anything; only in memory.
            store: where it is kept: `sqlite:///tukang.db`, `postgresql://user@host/database`, or a store. None for memory.
            redact: your own last word on every text before it is written to the store; see `memory.redaction`.
            lease: seconds after which others may go on with the session when this process has died.
            window: what is sent of what was said before, instead of the agent's.

        Raises:
            ConfigurationError: the messages are not a valid conversation, or are given for a store; there is no such kind of
                store.
        """
        sight = self._sight if window is None else self._sight_through(window)
        if store is None:
            return Chat(self, MemorySession(id, messages, sight=sight))
        if tuple(messages):
            raise ConfigurationError(f"session {id!r}: what was said before stands in the store; leave messages out")
        from tukang.memory.redaction import Redaction  # only where a store is wanted
        from tukang.memory.stored import StoredSession
        from tukang.memory.stores.addresses import store_at

        kept = store_at(store) if isinstance(store, str) else store
        return Chat(
            self, StoredSession(id, kept, redaction=Redaction(redact, secrets=self.secrets), lease=lease, sight=sight)
        )

    def _sight_through(self, window: Window) -> Sight:
        reads_on = window.recall or self.toolbox.reads_on
        seen = Seen(self.language, reads_on, WORDS[self.language].tool if window.recall else None)
        if window.summary is None:
            return Sight(window, seen)
        wanted = window.summary.model
        writer = self.model if wanted is None else choose(wanted).model
        return Sight(window, seen, Summariser(writer, window.summary, self.language))

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
        returns: Any = None,
        turn: str | None = None,
        approve: Approver | None = None,
        principal: Principal | None = None,
    ) -> Running[Any]:
        """A turn that has not begun: await its `answer()`, or `cancel()` it. What all the other ways to run stand on.

        Args:
            message: the user's.
            context, tool_choice, limits, when_busy, approve, principal: see `RunOptions`.
            session: the conversation it belongs to.
            listen: is told every event and signal.
            returns: what the answer must be as data; see `Runnable`. None for words.
            turn: an id of your own, unique in the store: a turn of that id that has begun is gone on with, and one that has
                finished is not run again, but answered with what it ended in. Only with a session in a store.

        Raises:
            ConfigurationError: the tool_choice names no tool that the principal may use, there is no JSON Schema for
                `returns`, or `turn` is given without a store.
        """
        if turn is not None and (session is None or not session.lasts):
            raise ConfigurationError(f"turn {turn!r}: only a session in a store knows turns by an id of yours")
        equipment = self.equipped(context, returns, session, approve)
        started = TurnStarted(
            at=0.0,
            turn=turn or token_hex(6),
            trigger=user(message) if isinstance(message, str) else message,
            limits=limits or self.limits,
            policies=equipment.toolbox.policies,
            contracts=equipment.contracts,
            models=tuple(model.name for model in self.models),
            tool_choice=self._choice(tool_choice, principal),
            agent=self.name,
            session=session.id if session else None,
            language=self.language,
            returns=equipment.returns,
            grounding=self._grounding,
            principal=principal,
            rules=self.rules,
            hosted={tool.name: tool.asks for tool in offered(self.hosted, self.rules, principal)},
        )

        def made(floor: Floor) -> Turn:
            if floor.left is not None:
                return self._left(floor, equipment)
            return self.turn(floor, started, self.models, equipment)

        return Running(made, session, when_busy, listen, equipment.value, turn=turn, language=self.language)

    def resume(
        self,
        session: Session,
        *,
        context: Any = None,
        when_busy: WhenBusy = "wait",
        listen: Callable[[Event | Signal], None] | None = None,
        returns: Any = None,
        approve: Approver | None = None,
    ) -> Running[Any]:
        """The session's turn that was left in the middle, not gone on with yet: as `start`. Its answer raises
        `NothingToResumeError` when there is none.

        What governs the turn is what was written down when it began. The agent brings what cannot be written down: the model,
        the functions, the instructions.

        Args:
            session, when_busy, listen, approve: see `start`.
            context, returns: as they were when the turn began.

        Raises:
            ConfigurationError: there is no JSON Schema for `returns`. The answer raises it when the turn was another agent's,
                or is to return something else.
        """
        equipment = self.equipped(context, returns, session, approve)

        def made(floor: Floor) -> Turn:
            return self._left(floor, equipment)

        return Running(made, session, when_busy, listen, equipment.value, resume=True, language=self.language)

    def equipped(self, context: Any, returns: Any, session: Session | None, approve: Approver | None) -> Equipment:
        """What a turn for this caller is run with."""
        return self._stock.equipped(context, returns, session, approve or self._approve, self.language)

    def turn(
        self,
        floor: Floor,
        started: TurnStarted,
        models: tuple[Model, ...],
        equipment: Equipment,
        *,
        told: str | None = None,
    ) -> Turn:
        """A turn, put together. `told` is the system text; None for the agent's instructions."""
        shown = equipment.toolbox.permitted(started.principal.scopes if started.principal else ())
        return Turn(
            started=started,
            models=models,
            toolbox=equipment.toolbox,
            instructions=self._told(equipment) if told is None else told,
            history=floor.history,
            settings=self.settings,
            context=equipment.context,
            outputs=floor.outputs(started.turn) if equipment.toolbox.reads_on else None,
            cache=self._stock.cache,
            grounded=self.grounded.check if self.grounded else None,
            fit=floor.fit,
            vault=self._stock.vault,
            offered=None if shown is equipment.toolbox.contracts else shown,
            hosted=offered(self.hosted, started.rules, started.principal) if started.hosted else (),
            people=floor.people(equipment.approve),
            tasks=self.tasks.at(floor, started) if self.tasks else None,
            finder=equipment.finder,
        )

    def _left(self, floor: Floor, equipment: Equipment) -> Turn:
        """A turn that was left: as it was written down when it began, if it is this agent's."""
        assert floor.left is not None, "the floor was asked for with a turn that was left"
        started = floor.left.started
        check_own(started, self.name, equipment.contracts, equipment.wanted.tool.name if equipment.wanted else None)
        named = {model.name: model for model in reversed(self.models)}
        models = tuple(named.get(name, self.model) for name in started.models)
        return self.turn(floor, started, models, equipment)

    def _start(
        self,
        message: str | Message,
        returns: Any,
        options: RunOptions,
        listen: Callable[[Event | Signal], None] | None = None,
    ) -> Running[Any]:
        return self.start(message, returns=returns, listen=listen, **options)

    @property
    def model(self) -> Model:
        """The model that is asked first."""
        return self.models[0]

    @property
    def secrets(self) -> frozenset[str]:
        """The host's secrets that were seen so far: what must be written nowhere."""
        known = self._stock.vault.known if self._stock.vault else frozenset[str]()
        return known.union(*(tool.secrets for tool in self.hosted))

    def instructions(self, context: Any = None) -> str:
        """The system text as the model gets it."""
        own = self._instructions if isinstance(self._instructions, str) else self._instructions(context)
        return "\n\n".join(text for text in (self._preamble, own.strip()) if text)

    def _told(self, equipment: Equipment) -> str:
        """The instructions, and how to end a turn that returns data, where there are tools that may come first."""
        told, data = self.instructions(equipment.context), equipment.returns
        how = ANSWER_AS_DATA[self.language].format(tool=data.tool) if data and self._preamble else ""
        return f"{told}\n\n{how}" if how else told

    def _choice(self, asked: str | None, principal: Principal | None) -> str:
        """The tool_choice of a turn: as it was asked for, or the agent's own where this caller may follow it."""
        permitted = self.toolbox.permitted(principal.scopes if principal else ())
        names, theirs = [contract.name for contract in permitted], offered(self.hosted, self.rules, principal)
        if asked is not None:
            return checked_choice(asked, names, theirs)
        return self.tool_choice if possible_choice(self.tool_choice, names, theirs) else "auto"
