"""A model that writes down what another one was asked and answered, and one that answers from such a file.

    agent = Agent(Recorded.record(OpenAIChat("gpt-4o-mini"), "belanja.jsonl"), …)    # once, with a key
    agent = Agent("recorded:belanja.jsonl", …)                                       # ever after, with no network

A recording is a file of JSON lines, one for each request (`Exchange`). Requests are written in a neutral, readable form that
stays the same from run to run: call ids are counted, bytes are named by their hash, numbers in the loop's note (the time that
is left) and what cannot matter to the answer (`conversation`, `seconds`, `context`) are left out. A replay takes its requests
in the recorded order and compares each with the recorded one before it answers.

Secrets are removed from requests and replies alike, before anything is written; see `recorded_secrets`. This file speaks no
wire protocol and opens no connection.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from tukang.conversation import ToolCall, ToolResult
from tukang.errors import ConfigurationError, ModelError, ModelErrorKind
from tukang.models.base import Model, ModelEvent, ModelRequest
from tukang.models.recorded_secrets import Remover
from tukang.tools.hosted import Hosted

STOPPED = "the caller stopped listening here when this was recorded"
_ABSENT = "nothing"


class RecordedError(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The `ModelError` that a request ended in; see there."""

    kind: ModelErrorKind
    message: str
    hint: str | None = None
    status: int | None = None
    retryable: bool = False
    retry_after: float | None = None


class Exchange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a recording.

    Args:
        number: of the request, from 1, in the order they were sent.
        model, provider: who answered, as `Model.name` and `Model.provider`.
        digest: SHA-256 of `request`.
        request: what was asked, in the form of `readable`.
        events: what came back.
        error: how it failed, where it did; after the events.
    """

    number: int
    model: str
    provider: str
    digest: str
    request: dict[str, Any]
    events: tuple[ModelEvent, ...]
    error: RecordedError | None = None


class _Source(Protocol):
    """Where events come from: a model that is written down, or a file."""

    name: str
    provider: str

    def cannot_serve(self, tool: Hosted) -> str | None: ...

    async def prepare(self, request: ModelRequest) -> None: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...


class Recorded:
    """A model that is being recorded, or replayed. Made by `Recorded.record` and `Recorded.replay`."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    @classmethod
    def record(cls, model: Model, path: str | Path, *, secrets: Iterable[str] = ()) -> Recorded:
        """Ask `model`, and write each request and what came back to a file.

        Args:
            model: any model.
            path: the file; what it held is replaced. Only its owner may read it.
            secrets: more texts that must not be written, beside what looks like a key or a token.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        return cls(_Recording(model, Path(path), tuple(secrets)))

    @classmethod
    def replay(cls, path: str | Path, *, secrets: Iterable[str] = ()) -> Recorded:
        """Answer from a file, with no network.

        A request that is not the recorded one, or one too many, ends in a `ModelError` (`bad_request`) that names the
        request's number, the field, and the first difference.

        Args:
            path: a recording.
            secrets: those that were given when it was made, where the requests hold them.

        Raises:
            ConfigurationError: the file cannot be read, is not a recording, or was changed by hand.
        """
        return cls(_Replay(Path(path), tuple(secrets)))

    @property
    def name(self) -> str:
        """The recorded model's name; `recorded:<file>` for a replay."""
        return self._source.name

    @property
    def provider(self) -> str:
        """The recorded model's provider, whose own parts go back to it."""
        return self._source.provider

    def cannot_serve(self, tool: Hosted) -> str | None:
        """What the model says that is recorded; what was recorded is replayed."""
        return self._source.cannot_serve(tool)

    async def prepare(self, request: ModelRequest) -> None:
        """What the recorded model does; nothing for a replay."""
        await self._source.prepare(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer one request; see `record` and `replay`."""
        events = cast(Any, self._source.stream(request))
        async with aclosing(events):
            async for event in events:
                yield event


class _Recording:
    """Passes everything through, and writes it down."""

    def __init__(self, model: Model, path: Path, secrets: tuple[str, ...]) -> None:
        self.name = model.name
        self.provider = model.provider
        self._model = model
        self._path = path
        self._secrets = secrets
        self._number = 0
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        except OSError as error:
            raise ConfigurationError(f"cannot write the recording {str(path)!r}: {error.strerror}") from error

    def cannot_serve(self, tool: Hosted) -> str | None:
        refuse = getattr(self._model, "cannot_serve", None)
        return f"{self._model.name} has no tools of its provider's" if refuse is None else refuse(tool)

    async def prepare(self, request: ModelRequest) -> None:
        await self._model.prepare(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._number += 1
        remover = _remover(self._secrets, request)
        number, asked = self._number, readable(request, remover)
        came: list[ModelEvent] = []
        error: RecordedError | None = RecordedError("connection", STOPPED)
        try:
            events = cast(Any, self._model.stream(request))
            async with aclosing(events):
                async for event in events:
                    came.append(event)
                    yield event
            error = None
        except ModelError as fault:
            error = _recorded(fault, remover)
            raise
        finally:
            self._write(number, asked, tuple(remover.events(came)), error)

    def _write(
        self, number: int, asked: dict[str, Any], events: tuple[ModelEvent, ...], error: RecordedError | None
    ) -> None:
        line = Exchange(number, self.name, self.provider, digest(asked), asked, events, error)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")


class _Replay:
    """Answers from a file."""

    def __init__(self, path: Path, secrets: tuple[str, ...]) -> None:
        self._exchanges = _read(path)
        self.name = f"recorded:{path}"
        self.provider = self._exchanges[0].provider if self._exchanges else "recorded"
        self._secrets = secrets
        self._number = 0

    def cannot_serve(self, tool: Hosted) -> str | None:  # noqa: ARG002
        return None

    async def prepare(self, request: ModelRequest) -> None:
        """Nothing to load."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._number += 1
        exchange = self._expected(self._number, readable(request, _remover(self._secrets, request)))
        for event in exchange.events:
            yield event
        if (error := exchange.error) is not None:
            raise ModelError(
                error.kind,
                error.message,
                hint=error.hint,
                status=error.status,
                retryable=error.retryable,
                retry_after=error.retry_after,
            )

    def _expected(self, number: int, asked: dict[str, Any]) -> Exchange:
        if number > len(self._exchanges):
            raise _mismatch(
                self.name, f"it holds {len(self._exchanges)} requests, and request {number} is one too many."
            )
        exchange = self._exchanges[number - 1]
        if exchange.digest != digest(asked):
            found = next(differences(exchange.request, asked), None)
            field, recorded, now = found or ("request", _ABSENT, _ABSENT)
            raise _mismatch(self.name, f"request {number} differs in {field}: recorded {recorded}, now {now}.")
        return exchange


def _remover(secrets: tuple[str, ...], request: ModelRequest) -> Remover:
    """What is taken out of a request, and of what came back: a server may quote the token that it was given, too."""
    return Remover((*secrets, *(secret for tool in request.hosted for secret in tool.secrets)))


def readable(request: ModelRequest, remover: Remover) -> dict[str, Any]:
    """A request as it is written and compared: neutral, without secrets, and the same from run to run."""
    ids = {call.id: f"call {place}" for place, call in enumerate(_calls(request), 1)}
    written = {
        "instructions": request.instructions,
        "messages": [
            {"role": message.role, "parts": [_part(part, ids) for part in message.parts]}
            for message in request.messages
        ],
        "tools": request.tools,
        "tool_choice": request.tool_choice,
        "tools_off": request.tools_off,
        "note": None if request.note is None else re.sub(r"\d+(?:[.,]\d+)?", "…", request.note),
        "settings": request.settings,
        "returns": request.returns,
        **({"hosted": [tool.shown for tool in request.hosted]} if request.hosted else {}),
    }
    return cast("dict[str, Any]", remover.value(_named(msgspec.to_builtins(written, builtin_types=(bytes,)))))


def digest(request: Mapping[str, Any]) -> str:
    """The hash of a request in the form of `readable`."""
    return hashlib.sha256(msgspec.json.encode(request, order="deterministic")).hexdigest()


def differences(recorded: Any, now: Any, field: str = "") -> Iterator[tuple[str, str, str]]:
    """Where two JSON values differ: the field, and what stands there in each, shortened."""
    before, after = _inside(recorded), _inside(now)
    if before is None or after is None or type(recorded) is not type(now):
        if type(recorded) is not type(now) or recorded != now:
            yield field, _shown(recorded), _shown(now)
        return
    for key in dict.fromkeys((*before, *after)):
        place = f"{field}/{key}" if field else key
        if key in before and key in after:
            yield from differences(before[key], after[key], place)
        elif key in before:
            yield place, _shown(before[key]), _ABSENT
        else:
            yield place, _ABSENT, _shown(after[key])


def _inside(value: Any) -> dict[str, Any] | None:
    """The fields of an object, the items of an array; None for anything else."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if isinstance(value, list):
        return {str(place): item for place, item in enumerate(cast("list[Any]", value))}
    return None


def _calls(request: ModelRequest) -> Iterator[ToolCall]:
    for message in request.messages:
        yield from message.calls


def _part(part: Any, ids: Mapping[str, str]) -> Any:
    """A part with our ids counted: they are made of the turn's name, which is another each time."""
    if isinstance(part, ToolCall):
        return msgspec.structs.replace(part, id=ids[part.id])
    if isinstance(part, ToolResult):
        return msgspec.structs.replace(part, call_id=ids.get(part.call_id, "no call"))
    return part


def _named(value: Any) -> Any:
    """A value with its bytes named by their hash."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes, SHA-256 {hashlib.sha256(value).hexdigest()}"
    if isinstance(value, dict):
        return {key: _named(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_named(one) for one in cast("Sequence[Any]", value)]
    return value


def _recorded(fault: ModelError, remover: Remover) -> RecordedError:
    hint = None if fault.hint is None else remover.text(fault.hint)
    return RecordedError(
        fault.kind, remover.text(fault.message), hint, fault.status, fault.retryable, fault.retry_after
    )


def _read(path: Path) -> list[Exchange]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigurationError(f"cannot read the recording {str(path)!r}: {error.strerror}") from error
    found: list[Exchange] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            exchange = msgspec.json.decode(line, type=Exchange)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{path}, line {number}: not a recorded request: {error}") from error
        if exchange.digest != digest(exchange.request):
            raise ConfigurationError(
                f"{path}, line {number}: its request was changed after it was recorded (the digest does not fit); "
                "record it again"
            )
        found.append(exchange)
    return sorted(found, key=lambda exchange: exchange.number)


def _mismatch(name: str, text: str) -> ModelError:
    return ModelError("bad_request", f"{name}: {text}", hint="Record it again, or ask what was recorded.")


def _shown(value: Any, most: int = 120) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= most else f"{text[:most]}…"
