"""Neutral parts as content blocks of the Messages API. The table of both stands at the top of `anthropic`.

Pure: one message in, encoded blocks out. What depends on the messages around it (order, pairing, cache marks) is the concern
of `anthropic_encode`. Every block begins with its type, so that it can be told from its first bytes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.conversation import (
    Citation,
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
from tukang.models.adapting import arguments_object, arguments_text, json_bytes, legal_name
from tukang.models.anthropic_defined import TOOLSET_NAME, member_call

PROVIDER = "anthropic"
"""Who keeps signed thinking and opaque blocks: the same on every platform that runs Claude."""

PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_THOUGHTS = (b'{"type":"thinking"', b'{"type":"redacted_thinking"')

encode = json_bytes


class Asked(msgspec.Struct, frozen=True):
    """One call of an assistant message: our id, the id it has on the wire, the tool's name there, and its toolset's."""

    id: str
    wire_id: str
    name: str
    toolset: str | None = None


class Kept(msgspec.Struct, frozen=True):
    """What is kept of an encoded message.

    Args:
        blocks: its content.
        asked: what an assistant message asks, or a tool message answers.
        server_calls, server_results: the ids of calls that the provider ran, and of their results, in this message.
        container: where the provider ran them, for the rest of the turn.
    """

    blocks: tuple[bytes, ...] = ()
    asked: tuple[Asked, ...] = ()
    server_calls: tuple[str, ...] = ()
    server_results: tuple[str, ...] = ()
    container: str | None = None


def is_thought(block: bytes) -> bool:
    """Whether a block is thinking, readable or not."""
    return block.startswith(_THOUGHTS)


def user_blocks(message: Message) -> Kept:
    """A user's message. Texts without a visible character are left out: the provider refuses them."""
    parts = [
        part for part in message.parts if isinstance(part, Image | File) or (isinstance(part, Text) and _said(part))
    ]
    return Kept(tuple([encode(_content(part)) for part in parts]))


# ── what the assistant said ──────────────────────────────────────────────────────────────────────────────────────────


def assistant_blocks(
    message: Message,
    *,
    thinking: bool = True,
    toolset: bool = False,
    without: Collection[str] = (),
    taken: Collection[str] = (),
) -> Kept:
    """An assistant's message.

    Args:
        message: what was said.
        thinking: whether signed thinking goes back.
        toolset: whether the calls of a toolset go back as such.
        without: ids of server-side calls and results to leave out, because their other half is missing.
        taken: ids that calls of earlier messages have on the wire already.
    """
    asked = _wire_ids(message.calls, taken)
    by_id = {one.id: one for one in asked}
    blocks: list[dict[str, Any]] = []
    server_calls: list[str] = []
    server_results: list[str] = []
    extras: dict[str, Any] = {}
    container: str | None = None
    for part in message.parts:
        match part:
            case ToolCall():
                if toolset and (member := _member(part, by_id[part.id], extras)):
                    block, by_id[part.id] = member
                    blocks.append(block)
                else:
                    blocks.append(_call(part, by_id[part.id], extras))
                extras = {}
            case ServerCall(id, provider=whose) if whose == PROVIDER and id not in without:
                server_calls.append(id)
                blocks += _verbatim(part.data)
            case ServerResult(id, provider=whose) if whose == PROVIDER and id not in without:
                server_results.append(id)
                blocks += _verbatim(part.data)
            case Opaque(whose, data) if whose == PROVIDER:
                fields = _fields(data)
                blocks += _verbatim(fields)
                extras |= {name: fields[name] for name in ("caller", TOOLSET_NAME) if name in fields}
                container = fields.get("container", container)
            case Citation() if blocks:
                _cite(blocks[-1], part)
            case Thinking() if thinking:
                blocks += _thought(part)
            case Text() if _said(part):
                blocks.append({"type": "text", "text": part.text})
            case Image() | File():
                blocks.append({"type": "text", "text": "(an attachment of the assistant's)"})
            case _:
                pass
    encoded = [encode(block) for block in blocks]
    while encoded and is_thought(encoded[-1]):
        encoded.pop()  # nothing came of it, and a message that ends in thinking is refused
    return Kept(tuple(encoded), tuple(by_id.values()), tuple(server_calls), tuple(server_results), container)


def _thought(part: Thinking) -> list[dict[str, Any]]:
    if part.provider != PROVIDER or not part.signature:
        return []  # another provider's, or cut off before its seal: it would be refused
    if part.redacted:
        return [{"type": "redacted_thinking", "data": part.signature}]
    return [{"type": "thinking", "thinking": part.text, "signature": part.signature}]


def _verbatim(data: Any) -> list[dict[str, Any]]:
    """A provider's own block; its type goes first, all else is as it came."""
    fields = _fields(data)
    return [{"type": fields["type"], **fields}] if isinstance(fields.get("type"), str) else []


def _cite(block: dict[str, Any], part: Citation) -> None:
    data = _fields(part.data)
    if part.provider == PROVIDER and data and block["type"] == "text":
        block.setdefault("citations", []).append(data)


def _call(call: ToolCall, asked: Asked, extras: Mapping[str, Any]) -> dict[str, Any]:
    more = {name: value for name, value in extras.items() if name != TOOLSET_NAME}
    return {"type": "tool_use", "id": asked.wire_id, "name": asked.name, "input": _input(call.arguments), **more}


def _member(call: ToolCall, asked: Asked, extras: Mapping[str, Any]) -> tuple[dict[str, Any], Asked] | None:
    """A call that came as one of a toolset's, as that; None if it is none."""
    family = extras.get(TOOLSET_NAME)
    found = member_call(arguments_object(call.arguments)) if isinstance(family, str) else None
    if found is None:
        return None
    name, given = found
    block = {"type": "tool_use", "id": asked.wire_id, "name": legal_name(name), "input": given, **extras}
    return block, replace(asked, toolset=family)


def _input(text: str) -> Any:
    """Argument text as the protocol takes it back: an object, in the model's own spelling."""
    return msgspec.Raw(arguments_text(text).encode())


def _wire_ids(calls: Sequence[ToolCall], taken: Collection[str]) -> tuple[Asked, ...]:
    """The calls with the ids they have on the wire: the provider's own where usable and unique, else made from ours."""
    given = [call.wire_id for call in calls]
    asked: list[Asked] = []
    for call in calls:
        wire_id = call.wire_id or ""
        if not _ID.fullmatch(wire_id) or given.count(wire_id) > 1 or wire_id in taken:
            wire_id = call.id
        if not _ID.fullmatch(wire_id) or wire_id in taken:
            wire_id = f"toolu_{hashlib.sha256(call.id.encode()).hexdigest()[:24]}"
        asked.append(Asked(call.id, wire_id, legal_name(call.name)))
    return tuple(asked)


# ── what its calls brought ───────────────────────────────────────────────────────────────────────────────────────────


def result_blocks(results: Sequence[tuple[Asked, ToolResult]]) -> tuple[bytes, ...]:
    """The results of one message's calls, in the order asked.

    A failed result holds text only: pictures and documents of it follow after all results.
    """
    blocks: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    for asked, result in results:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": asked.wire_id}
        parts = [part for part in result.content if not isinstance(part, Text) or _said(part)]
        if result.fault:
            media = [part for part in parts if not isinstance(part, Text)]
            if media:
                after += [{"type": "text", "text": f"Attached by {asked.name}, call {asked.wire_id}:"}]
                after += map(_content, media)
            parts = [part for part in parts if isinstance(part, Text)]
            if not parts:
                parts = [Text("(failed)")]
        if len(parts) == 1 and isinstance(parts[0], Text):
            block["content"] = parts[0].text
        elif parts:
            block["content"] = [_content(part) for part in parts]
        if result.fault:
            block["is_error"] = True
        if asked.toolset is not None:
            block[TOOLSET_NAME] = asked.toolset
        blocks.append(block)
    return tuple([encode(block) for block in (*blocks, *after)])


def _content(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media, data, url) if url or (data and media in PICTURES):
            return {"type": "image", "source": _source(media, data, url)}
        case Image(media):
            return {"type": "text", "text": f"(a picture, {media}, which cannot be shown)"}
        case File("application/pdf", name, data, url) if data or url:
            block: dict[str, Any] = {"type": "document", "source": _source("application/pdf", data, url)}
            return block | ({"title": name} if name else {})
        case File(media, name, data, url):
            return _other_document(media, name, data, url)
        case _:
            raise AssertionError(part)


def _source(media: str, data: bytes | None, url: str | None) -> dict[str, str]:
    if not data and url:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": media, "data": base64.b64encode(data or b"").decode()}


def _other_document(media: str, name: str | None, data: bytes | None, url: str | None) -> dict[str, Any]:
    """A document that is no PDF: as text where it is text, else by its name."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError:
        text = ""
    if text.strip():
        source = {"type": "text", "media_type": "text/plain", "data": text}
        return {"type": "document", "source": source} | ({"title": name} if name else {})
    return {"type": "text", "text": f"(document {name or ''}, {media}: {url or 'cannot be shown'})"}


def _fields(data: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else dict[str, Any]()


def _said(part: Text) -> bool:
    return bool(part.text.strip())
