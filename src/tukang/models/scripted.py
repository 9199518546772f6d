"""A model that says what it was told to say: for tests, examples and demonstrations.

A script is a sequence of replies, one for each request. It can fail, be slow, go silent, send broken arguments and cut its
stream off: everything a real model does to a loop. It speaks no wire protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.conversation import Part, ServerCall, Text, ToolCall, Usage
from tukang.errors import ConfigurationError, ModelError, ModelErrorKind
from tukang.models.base import (
    ArgumentsDelta,
    CallBegan,
    FinishReason,
    ModelEvent,
    ModelRequest,
    PartCompleted,
    ReplyEnded,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tukang.tools.hosted import Hosted


class Fails(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reply that ends in a `ModelError`; see there. `status` is the HTTP status, where it matters which one."""

    kind: ModelErrorKind
    message: str = "scripted fault"
    retryable: bool = False
    retry_after: float | None = None
    status: int | None = None


class Says(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scripted reply. In a file: one JSON object a line, with these fields.

    Args:
        text: the words; a list is sent as that many deltas.
        thinking: the reasoning.
        calls: calls asked for: `{"name": …, "arguments": object or text, "id": …}`; text is sent as it is, broken or not.
        served: what the provider runs itself, before its words, or asks whether it may; see `ScriptedServed`.
        finish: the finish reason; by default `calls` or `stop`.
        fails: after all of the above was sent, the request fails.
        silent: after all of the above was sent, nothing comes any more.
        usage: what the request cost.
        delay: seconds before each delta.
    """

    text: str | tuple[str, ...] = ()
    thinking: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    finish: FinishReason | None = None
    fails: Fails | None = None
    silent: bool = False
    usage: Usage = Usage(input=10, output=5)
    delay: float = 0
    served: tuple[ScriptedServed, ...] = ()


class ScriptedServed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of the provider's own.

    Args:
        tool: as in a step: `web_search`, `web_fetch`, `file_search`, `code`, or `label.tool` of a server.
        arguments: what it is called with.
        result: what it returns, in words; for a search one `title — address` a line. None: that does not come in this reply.
        fault: whether it fails.
        asks: it is not run: the provider asks whether it may (a server's tools only).
    """

    tool: str
    arguments: dict[str, Any] = {}
    result: str | None = ""
    fault: bool = False
    asks: bool = False

    @property
    def label(self) -> str:
        """The server's; empty for a tool that is none of a server."""
        return self.tool.partition(".")[0] if "." in self.tool else ""

    @property
    def text(self) -> str:
        """The arguments as JSON."""
        return msgspec.json.encode(self.arguments).decode()


class ScriptedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call to ask for."""

    name: str
    arguments: str | dict[str, Any] = {}
    id: str | None = None

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else msgspec.json.encode(self.arguments).decode()


Line = str | Says | Part | Sequence[Part] | Exception
Script = Iterable[Line] | Callable[[ModelRequest], Line]


def call(
    name: str, arguments: str | Mapping[str, Any] | None = None, /, *, id: str | None = None, **fields: Any
) -> ToolCall:
    """A scripted call: `call("add", a=1, b=2)`, `call("add", {"a": 1})`, or `call("add", '{"a": 1,')`."""
    if isinstance(arguments, str):
        return ToolCall("", name, arguments, id)
    return ToolCall("", name, msgspec.json.encode({**(arguments or {}), **fields}).decode(), id)


def read_script(path: str | Path) -> list[Says]:
    """A script from a file of JSON lines, each a `Says`; blank lines are skipped.

    Raises:
        ConfigurationError: the file cannot be read, or a line is not a reply; it says which.
    """
    try:
        lines = Path(path).read_text("utf-8").split("\n")  # not at the other line breaks of Unicode
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"cannot read the script {str(path)!r}: {reason}") from error
    said: list[Says] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                said.append(msgspec.json.decode(line, type=Says))
            except msgspec.DecodeError as error:
                raise ConfigurationError(f"{path}, line {number}: not a scripted reply: {error}") from error
    return said


class Scripted:
    """A model that follows a script.

    Args:
        script: replies in order (a text, a `call(…)`, a list of parts, a `Says`, an exception to raise), or a function from
            the request to the next reply.
        name: what it calls itself.
        repeat: whether the last reply is said again and again when the script is at its end.

    `requests` keeps every request it was sent.
    """

    provider = "scripted"

    def __init__(self, script: Script, *, name: str = "scripted", repeat: bool = False) -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._script = script if callable(script) else list(script)
        self._repeat = repeat

    @classmethod
    def from_file(cls, path: str | Path) -> Scripted:
        """A script from a file; see `read_script`."""
        return cls(read_script(path), name=f"scripted:{path}")

    def cannot_serve(self, tool: Hosted) -> str | None:  # noqa: ARG002
        """It runs whatever its script says was run."""
        return None

    async def prepare(self, request: ModelRequest) -> None:
        """Nothing to load."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Say the next reply."""
        self.requests.append(request)
        line = self._next(request)
        if isinstance(line, Exception):
            raise line
        said = line if isinstance(line, Says) else None
        for event in _of_says(said) if said else _of_parts(_parts(cast("str | Part | Sequence[Part]", line))):
            await asyncio.sleep(said.delay if said else 0)
            yield event
        if said and said.silent:
            await asyncio.Event().wait()
        if said and said.fails:
            raise ModelError(
                said.fails.kind,
                said.fails.message,
                status=said.fails.status,
                retryable=said.fails.retryable,
                retry_after=said.fails.retry_after,
            )
        yield ReplyEnded(_finish(said, line), model=self.name)

    def _next(self, request: ModelRequest) -> Line:
        if callable(self._script):
            return self._script(request)
        place = len(self.requests) - 1
        if place < len(self._script):
            return self._script[place]
        if self._repeat and self._script:
            return self._script[-1]
        raise ModelError(
            "unexpected", f"the script has {len(self._script)} replies, and request {place + 1} wants another"
        )


def _parts(line: str | Part | Sequence[Part]) -> Sequence[Part]:
    if isinstance(line, str):
        return (Text(line),)
    return line if isinstance(line, Sequence) else (line,)


def _of_parts(parts: Sequence[Part]) -> Iterable[ModelEvent]:
    key = 0
    for part in parts:
        match part:
            case Text(text):
                yield TextDelta(text)
            case ToolCall(permission=True):
                yield PartCompleted(part)
            case ToolCall(name=name, arguments=arguments, wire_id=wire_id):
                yield CallBegan(key, name, wire_id)
                yield ArgumentsDelta(key, arguments)
                key += 1
            case _:
                yield PartCompleted(part)
    yield UsageReported(Usage(input=10, output=5))


def _of_says(said: Says) -> Iterable[ModelEvent]:
    if said.thinking:
        yield ThinkingDelta(said.thinking)
    for place, one in enumerate(said.served):
        yield PartCompleted(_served(one, place))
    for text in (said.text,) if isinstance(said.text, str) else said.text:
        yield TextDelta(text)
    for key, asked in enumerate(said.calls):
        yield CallBegan(key, asked.name, asked.id)
        yield ArgumentsDelta(key, asked.text)
    yield UsageReported(said.usage)


def _served(one: ScriptedServed, place: int) -> Part:
    name = one.tool.partition(".")[2] or one.tool
    if one.asks:
        asked = msgspec.json.encode({"tool": name, "arguments": one.arguments}).decode()
        return ToolCall("", one.label, asked, permission=True)
    done = ServerCall(f"served_{place}", name, one.text, Scripted.provider)
    return replace(done, tool=one.tool, result=one.result, fault=one.fault)


def _finish(said: Says | None, line: Line) -> FinishReason:
    if said is not None:
        return said.finish or ("calls" if said.calls or any(one.asks for one in said.served) else "stop")
    parts = _parts(cast("str | Part | Sequence[Part]", line))
    return "calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"
