"""A neutral conversation as the `messages` of Amazon Bedrock's Converse API. The rules stand in `bedrock_converse`.

Pure: no I/O and no provider's state. The bytes of a message's content blocks are kept in the message's own dictionary, one
entry per spelling (`Dialect.spelling`): messages of one role are joined, and cache points set, without encoding any again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from tukang.conversation import (
    File,
    Image,
    Message,
    Opaque,
    Part,
    ServerCall,
    ServerResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tukang.models.adapting import answered, arguments_object, json_bytes, legal_name
from tukang.models.bedrock_converse_media import media_block
from tukang.models.bedrock_converse_wire import as_dict
from tukang.models.bedrock_dialect import Dialect

CACHE_POINT = b'{"cachePoint":{"type":"default"}}'
MARKS = 2
"""Cache points among the messages: at the end of what is new, and where the last request had it. Two are left of the four
that a request may have, for the system text and the tools."""

_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_OPENING = b'{"text":"(The conversation begins with your own message.)"}'
_FILLER = b'{"text":"\xe2\x80\xa6"}'
_GO_ON = b'{"text":"Go on."}'

_encode = json_bytes


class Asked(msgspec.Struct, frozen=True):
    """One call of an assistant message: our id, the id it has on the wire, and the tool's name there."""

    id: str
    wire_id: str
    name: str


class _Chunk(msgspec.Struct, frozen=True):
    """Content blocks that belong together, encoded and joined by commas."""

    blocks: bytes
    kind: Literal["words", "results"] = "words"
    markable: bool = True
    """Whether a cache point may follow: not after a document that is not a PDF, nor after reasoning."""


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of an encoded message. `asked` is what an assistant message asks, and what a tool message answers."""

    chunks: tuple[_Chunk, ...]
    asked: tuple[Asked, ...] = ()
    documents: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    sealed: bool = False


class _Run(msgspec.Struct):
    """Messages of one role that follow each other: Bedrock wants them to be one."""

    role: Literal["user", "assistant"]
    chunks: list[_Chunk]
    marked: bool = False


class Written(msgspec.Struct, frozen=True):
    """An encoded conversation.

    Args:
        messages: the JSON array.
        tools: names of all tools that occur in it; Bedrock wants a `toolConfig` when there is one.
        sealed: whether the last message of this turn that asks for calls begins with sealed reasoning; true where there is
            none.
        after_results: whether the last message brings results, so that `note` could not be added to it.
    """

    messages: msgspec.Raw
    tools: tuple[str, ...]
    sealed: bool
    after_results: bool


def write(messages: Sequence[Message], dialect: Dialect, note: str | None, *, cache: bool) -> Written:
    """Encode a conversation.

    Args:
        messages: any neutral conversation; it is adapted, never refused.
        dialect: what the model takes.
        note: a sentence to be said after it, by the user.
        cache: whether to set cache points.
    """
    runs: list[_Run] = []
    tools: dict[str, None] = {}
    taken: set[str] = set()
    asked: tuple[Asked, ...] = ()
    answers: list[Message] = []
    sealed = True
    for message in messages:
        if message.role == "tool":
            answers.append(message)
            continue
        _answer(runs, answers, asked, dialect, taken)
        answers.clear()
        kept = _kept(message, dialect, taken)
        _add(runs, message.role, kept.chunks)
        tools |= dict.fromkeys(kept.tools)
        asked = kept.asked
        if message.role == "user" or asked:
            sealed = message.role == "user" or kept.sealed
    _answer(runs, answers, asked, dialect, taken)
    after_results = _finish(runs, dialect, note, cache=cache)
    return Written(_array(runs), tuple(tools), sealed, after_results)


def _finish(runs: list[_Run], dialect: Dialect, note: str | None, *, cache: bool) -> bool:
    """Order the roles, set the cache points, add the note; whether it could not be added, since results come last."""
    if runs and runs[0].role == "assistant":
        runs.insert(0, _Run("user", [_Chunk(_OPENING)]))
    if not dialect.beside_results:
        runs[:] = [part for run in runs for part in _apart(run)]
    if cache and dialect.cache != "none":
        for run in [run for run in runs if run.role == "user"][-MARKS:]:
            run.marked = run.chunks[-1].markable
    if runs and runs[-1].role == "user":
        if note and runs[-1].chunks[-1].kind == "results" and not dialect.beside_results:
            return True
        said = _Chunk(_encode({"text": note})) if note else None
    else:
        said = _Chunk(_encode({"text": note}) if note else _GO_ON)
        runs.append(_Run("user", []))
    if said is not None:
        last = runs[-1]
        if last.marked:
            last.chunks.append(_Chunk(CACHE_POINT))
            last.marked = False
        last.chunks.append(said)
    return False


def _apart(run: _Run) -> Iterable[_Run]:
    """A run as runs in which results stand alone, with a word of the assistant's between them."""
    results = [chunk for chunk in run.chunks if chunk.kind == "results"]
    words = [chunk for chunk in run.chunks if chunk.kind == "words"]
    if not results or not words:
        return (run,)
    return _Run("user", results), _Run("assistant", [_Chunk(_FILLER)]), _Run("user", words)


def _add(runs: list[_Run], role: Literal["user", "assistant"], chunks: Sequence[_Chunk]) -> None:
    if not chunks:
        return
    if runs and runs[-1].role == role:
        runs[-1].chunks += chunks
    else:
        runs.append(_Run(role, list(chunks)))


def _array(runs: Sequence[_Run]) -> msgspec.Raw:
    written: list[bytes] = []
    for run in runs:
        blocks = [chunk.blocks for chunk in run.chunks]
        if run.marked:
            blocks.append(CACHE_POINT)
        written.append(b'{"role":"%b","content":[%b]}' % (run.role.encode(), b",".join(blocks)))
    return msgspec.Raw(b"[%b]" % b",".join(written))


# ── one message ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _kept(message: Message, dialect: Dialect, taken: set[str]) -> _Kept:
    """The message, encoded now or before. The names of its documents join `taken`: none may occur twice in a request."""
    kept: _Kept | None = vars(message).get(dialect.spelling)
    if kept is None or not taken.isdisjoint(kept.documents):
        kept = _assistant(message, dialect) if message.role == "assistant" else _user(message, dialect, taken)
        vars(message)[dialect.spelling] = kept
    taken.update(kept.documents)
    return kept


def _user(message: Message, dialect: Dialect, taken: set[str]) -> _Kept:
    names = set(taken)
    blocks: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Text):
            if part.text.strip():
                blocks.append({"text": part.text})
        elif isinstance(part, Image | File):
            blocks.append(media_block(part, dialect, names))
    if not blocks:
        return _Kept(())
    documents = _documents(blocks)
    if documents and not any("text" in block for block in blocks):
        blocks.insert(0, {"text": "(a document)"})  # Bedrock refuses a document without a word beside it
    return _Kept((_chunk(blocks),), documents=documents)


def _assistant(message: Message, dialect: Dialect) -> _Kept:
    asked = iter(all_asked := _wire_ids(message.calls))
    paired = _paired(message.parts)
    blocks: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case ToolCall():
                call = next(asked)
                block = {"toolUseId": call.wire_id, "name": call.name, "input": arguments_object(part.arguments)}
                blocks.append({"toolUse": block})
            case ServerCall(id=one) | ServerResult(call_id=one):
                if one in paired and part.provider == dialect.provider and (data := as_dict(part.data)):
                    blocks.append(data)
            case Opaque():
                if part.provider == dialect.provider and (data := as_dict(part.data)):
                    blocks.append(data)
            case _:
                block = _spoken(part, dialect)
                blocks += [block] if block else []
    while blocks and "reasoningContent" in blocks[-1]:
        blocks.pop()  # a message may not end in reasoning
    if not blocks:
        return _Kept(())
    tools = [block["toolUse"]["name"] for block in blocks if "toolUse" in block]
    return _Kept((_chunk(blocks),), all_asked, tools=tuple(tools), sealed="reasoningContent" in blocks[0])


def _spoken(part: Part, dialect: Dialect) -> dict[str, Any] | None:
    """Words and reasoning of the assistant's; None for what is not said back."""
    match part:
        case Text(text):
            return {"text": text} if text.strip() else None
        case Thinking(signature=str(seal), provider=dialect.provider) if dialect.thinking_back:
            if part.redacted:
                return {"reasoningContent": {"redactedContent": seal}}
            return {"reasoningContent": {"reasoningText": {"text": part.text, "signature": seal}}}
        case Image() | File():
            return {"text": "(an attachment of the assistant's)"}  # Bedrock takes none from it
        case _:
            return None


def _paired(parts: Sequence[Part]) -> set[str]:
    """Calls of the provider's own tools that have their result beside them."""
    calls = {part.id for part in parts if isinstance(part, ServerCall)}
    return calls & {part.call_id for part in parts if isinstance(part, ServerResult)}


def _wire_ids(calls: Sequence[ToolCall]) -> tuple[Asked, ...]:
    """The calls with the ids they have on the wire: the provider's own where usable and unique, else made from ours."""
    given = [call.wire_id for call in calls]
    asked: list[Asked] = []
    for call in calls:
        wire_id = call.wire_id or ""
        if not _ID.fullmatch(wire_id) or given.count(wire_id) > 1:
            wire_id = call.id if _ID.fullmatch(call.id) else f"call_{hashlib.sha256(call.id.encode()).hexdigest()[:32]}"
        asked.append(Asked(call.id, wire_id, legal_name(call.name)))
    return tuple(asked)


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _answer(
    runs: list[_Run], messages: Sequence[Message], asked: tuple[Asked, ...], dialect: Dialect, taken: set[str]
) -> None:
    """Add the results of the calls before, one for each, in the order asked."""
    if not asked:
        return
    kept: _Kept | None = vars(messages[0]).get(dialect.spelling) if len(messages) == 1 else None
    if kept is None or kept.asked != asked or not taken.isdisjoint(kept.documents):
        kept = _results([result for message in messages for result in message.results], asked, dialect, taken)
        if len(messages) == 1:
            vars(messages[0])[dialect.spelling] = kept
    taken.update(kept.documents)
    _add(runs, "user", kept.chunks)


def _results(results: Sequence[ToolResult], asked: tuple[Asked, ...], dialect: Dialect, taken: set[str]) -> _Kept:
    names = set(taken)
    written: list[dict[str, Any]] = []
    outside: list[dict[str, Any]] = []
    documents: list[str] = []
    for call, result in zip(asked, answered(results, asked), strict=True):
        inside: list[dict[str, Any]] = []
        apart: list[dict[str, Any]] = []
        for part in result.content:
            if isinstance(part, Text):
                if part.text.strip():
                    inside.append({"text": part.text})
                continue
            block = media_block(part, dialect, names)
            fits = dialect.documents_in_results if "document" in block else dialect.images_in_results
            (inside if fits or "text" in block else apart).append(block)
        if apart:
            outside += [{"text": f"Attached by {call.name}, call {call.wire_id}:"}, *apart]
            inside = inside or [{"text": "(see the attachment below)"}]
        body: dict[str, Any] = {"toolUseId": call.wire_id, "content": inside or [{"text": "(no content)"}]}
        if dialect.status:
            body["status"] = "error" if result.fault else "success"
        written.append({"toolResult": body})
        documents += _documents([*inside, *apart])
    chunks = [_chunk(written, "results")] + ([_chunk(outside)] if outside else [])
    return _Kept(tuple(chunks), asked, tuple(documents))


def _documents(blocks: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(block["document"]["name"] for block in blocks if "document" in block)


def _chunk(blocks: Sequence[dict[str, Any]], kind: Literal["words", "results"] = "words") -> _Chunk:
    document = blocks[-1].get("document")
    markable = document is None or document.get("format") == "pdf"
    return _Chunk(b",".join(map(_encode, blocks)), kind, markable)
