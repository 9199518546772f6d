"""What a server returned, as parts of a conversation. It changes nothing in it, but what is larger than anybody could read.

A result may come twice, as text and as structured content; the model gets it once. Text that says something else is given
beside it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

import msgspec
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from tukang.conversation import File, Image, Text
from tukang.secrets import REMOVED
from tukang.tools.foreign import ToolError
from tukang.tools.json_schema import Validator

LARGEST = 5_000_000
"""Bytes of one picture, recording or file that is passed on: what the strictest provider takes."""

Piece = Text | Image | File


def parts_of(result: CallToolResult, promised: Validator | None = None) -> tuple[Piece, ...]:
    """The parts of a result.

    Args:
        result: as the server gave it.
        promised: the schema it said its structured content would follow. What does not is passed on with a word about it.

    Raises:
        ToolError: the server says that the call failed.
    """
    parts = [part_of(block) for block in result.content]
    structured = result.structured_content
    if result.is_error:
        said = "\n".join(part.text for part in parts if isinstance(part, Text)).strip()
        raise ToolError(said or ("the server gives no reason" if structured is None else _written(structured)))
    if structured is not None and not _wraps(structured, parts):
        if all(isinstance(part, Text) and _says(part.text, structured) for part in parts):
            parts = []
        parts.append(Text(_written(structured)))
    if promised is not None and not promised.is_valid(structured):
        parts.insert(0, Text("(The server did not keep to the schema it declares for this tool's results.)"))
    return tuple(parts) or (Text('{"ok":true}'),)


def part_of(block: Any) -> Piece:
    """One block of content: a text, a picture, a recording, a resource or a link to one. Others as they are, in JSON."""
    match block:
        case TextContent():
            return Text(block.text)
        case ImageContent():
            return _binary(block.data, block.mime_type, None)
        case AudioContent():
            return _binary(block.data, block.mime_type, None)
        case EmbeddedResource():
            return resource_part(block.resource)
        case ResourceLink():
            about = {"name": block.name, "uri": block.uri, "type": block.mime_type, "description": block.description}
            return Text(_written({"resource": {key: value for key, value in about.items() if value}}))
        case _:
            return Text(block.model_dump_json(by_alias=True, exclude_none=True))


def resource_part(contents: TextResourceContents | BlobResourceContents) -> Piece:
    """A resource: its text, or its bytes under the last part of its name."""
    if isinstance(contents, TextResourceContents):
        return Text(contents.text)
    name = str(contents.uri).rstrip("/").rpartition("/")[2] or None
    return _binary(contents.blob, contents.mime_type or "application/octet-stream", name)


def _binary(encoded: str, media_type: str, name: str | None) -> Piece:
    size = len(encoded) * 3 // 4
    if size > LARGEST:
        return Text(f"(Left out: {media_type}, {size:,} bytes; at most {LARGEST:,} are passed on.)")
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return Text(f"(Left out: {media_type}, which is not the Base64 it should be.)")
    return Image(media_type, data) if media_type.startswith("image/") else File(media_type, name, data)


def _says(text: str, structured: Any) -> bool:
    try:
        return bool(msgspec.json.decode(text) == structured)
    except msgspec.DecodeError:
        return False


def _wraps(structured: Any, parts: Sequence[Piece]) -> bool:
    """Whether it is nothing but the one text with a name to it, as `{"result": …}`."""
    if not isinstance(structured, dict) or len(parts) != 1 or not isinstance(parts[0], Text):
        return False
    return [*cast("dict[str, Any]", structured).values()] == [parts[0].text]


def _written(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def without_secrets(parts: Iterable[Piece], secrets: Collection[str]) -> tuple[Piece, ...]:
    """The parts without what the server was given as a secret, should it say it. Only these texts: what else looks like a
    secret there is the server's business, and may be what was asked for."""
    known = {*secrets} | {_written(secret)[1:-1] for secret in secrets}
    return tuple(Text(_without(part.text, known)) if isinstance(part, Text) else part for part in parts)


def _without(text: str, secrets: Collection[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, REMOVED)
    return text
