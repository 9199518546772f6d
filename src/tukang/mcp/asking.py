"""The agent itself as a tool of others: a message goes in, its answer comes out. A turn of the agent's like any other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace

from tukang.agent import Agent
from tukang.answer import Answer
from tukang.calling import DECIDING
from tukang.chat import Chat
from tukang.errors import ConfigurationError, TukangError
from tukang.mcp import forms
from tukang.runtime.people import Approval, Verdict
from tukang.tools.outcome import Fault

if TYPE_CHECKING:
    from tukang.mcp.serving import Asked, Listen
    from tukang.memory.stores.base import Store

MOST = 200
"""Conversations that are kept in memory; the one that was used least recently goes first."""

LONGEST = 100_000
"""Characters of a message, so that nobody fills a model's context, and the memory of the server, with one."""

_PREFIX = {"id": "tanya_", "en": "ask_"}
_ABOUT = {
    "id": "Tanya asisten {name}: ia menjawab dalam bahasamu, dan memakai alat-alatnya sendiri.",
    "en": "Ask the assistant {name}: it answers in your language, and uses its own tools.",
}
_MESSAGE = {"id": "pesan untuk asisten", "en": "the message to the assistant"}
_SESSION = {
    "id": "nama percakapan yang dilanjutkan; tanpa ini, percakapan dengan klien ini",
    "en": "the name of a conversation to go on with; without it, the one with this client",
}
_RETURNS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "the answer"},
        "stopped": {
            "type": "string",
            "description": "why it ended: answer, terminal, or the limit that came in between",
        },
        "session": {"type": "string", "description": "the conversation, to go on with"},
        "turn": {"type": "string"},
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "tool": {"type": "string"},
                    "arguments": {"type": "string", "description": "as JSON"},
                    "fault": {"type": "string", "description": "what kind of fault, if it was one"},
                },
                "required": ["tool", "arguments"],
            },
        },
        "unsupported": {
            "type": "array",
            "items": {"type": "string"},
            "description": "what the answer says that no tool and no user has said",
        },
    },
    "required": ["text", "stopped", "session", "turn", "steps", "unsupported"],
}


class _Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message: str
    session: str | None = None


class AgentTool:
    """An agent, as a tool.

    Args:
        agent: the agent.
        store: where its conversations are kept; in memory when None.
        taken: names that other tools have.

    Raises:
        ConfigurationError: one of them is the name that the agent would have.
    """

    def __init__(self, agent: Agent, store: str | Store | None, taken: Collection[str]) -> None:
        self.agent = agent
        self.name = _PREFIX[agent.language] + (re.sub(r"[^a-zA-Z0-9_-]", "_", agent.name)[:50] or "agent")
        if self.name in taken:
            raise ConfigurationError(
                f"agent {agent.name!r} has a tool {self.name!r}, which is what it would be called itself"
            )
        self._store = store
        self._chats: dict[str, Chat] = {}

    def described(self) -> dict[str, Any]:
        """The tool, as `tools/list` gives it."""
        language = self.agent.language
        properties = {
            "message": {"type": "string", "minLength": 1, "maxLength": LONGEST, "description": _MESSAGE[language]},
            "session": {"type": "string", "minLength": 1, "maxLength": 100, "description": _SESSION[language]},
        }
        return {
            "name": self.name,
            "description": _ABOUT[language].format(name=self.agent.name),
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": ["message"],
                "additionalProperties": False,
            },
            "outputSchema": dict(_RETURNS),
        }

    async def call(
        self, asked: Asked, approve: Callable[[Approval], Awaitable[Verdict | None]], listen: Listen | None
    ) -> dict[str, Any]:
        """Run a turn; what came of it, as `tools/call` gives it."""
        try:
            given = msgspec.convert(dict(asked.arguments or {}), _Arguments)
        except msgspec.ValidationError as error:
            return forms.fault(Fault("invalid_arguments", str(error), "Send message, and session where you know one."))
        if not given.message.strip() or len(given.message) > LONGEST:
            return forms.fault(
                Fault("invalid_arguments", f"message must have 1 to {LONGEST} characters that are no blanks")
            )
        if asked.key is not None and self._store is None:
            return forms.fault(
                Fault(
                    "refused",
                    "this tool remembers no keys",
                    "Leave the idempotency key out, or call a tool of its own.",
                )
            )
        session = given.session or asked.conversation
        try:
            answer = await self._answer(asked, given.message, session, approve, listen)
        except TukangError as error:
            return forms.fault(Fault("tool_failed", str(error)))
        failed = answer.stopped in ("model_error", "cancelled")
        return forms.said(answer.text, _as_data(answer, session), failed=failed)

    async def _answer(
        self,
        asked: Asked,
        message: str,
        session: str,
        approve: Callable[[Approval], Awaitable[Verdict | None]],
        listen: Listen | None,
    ) -> Answer[Any]:
        chat = self._chat(replace(asked, conversation=session).session)
        limits = self.agent.limits
        limits = replace(limits, deciding=limits.deciding or DECIDING)
        if asked.seconds is not None and (limits.seconds is None or asked.seconds < limits.seconds):
            limits = replace(limits, seconds=asked.seconds)
        running = self.agent.start(
            message,
            context=asked.caller.context,
            principal=asked.caller.principal,
            session=chat.session,
            limits=limits,
            approve=approve,
            listen=listen,
            turn=None if asked.key is None else _turn(asked, message, session),
        )
        return await running.answer()

    def _chat(self, name: str) -> Chat:
        """A conversation with the agent."""
        chat = self._chats.pop(name, None) or self.agent.session(name, store=self._store)
        self._chats[name] = chat
        while len(self._chats) > MOST:
            del self._chats[next(iter(self._chats))]
        return chat


def _turn(asked: Asked, message: str, session: str) -> str:
    """The id of the turn that a key stands for, with this message in this conversation of this caller's."""
    named = "\n".join((asked.caller.id, asked.key or "", session, message))
    return "k" + hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _as_data(answer: Answer[Any], session: str) -> dict[str, Any]:
    steps = [
        {"tool": step.tool, "arguments": step.arguments} | ({"fault": step.fault.kind} if step.fault else {})
        for step in answer.steps
    ]
    data = {
        "text": answer.text,
        "stopped": answer.stopped,
        "session": session,
        "turn": answer.turn,
        "steps": steps,
        "unsupported": list(answer.unsupported),
    }
    return cast("dict[str, Any]", data)
