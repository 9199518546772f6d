"""How many tokens a message takes, estimated. Pure; no tokenizer, and no provider.

An estimate that is too low ends in a refused request, one that is too high in a shorter window, so it is made to be high. Of
UTF-8 it counts

    lower-case letters and spaces       1/3 of a token each
    digits and capitals                 1
    other ASCII                         2/3
    each byte of anything else          1/2

Against the vocabularies `cl100k` and `o200k` that is 1.1 to 1.9 times the tokens of English, Indonesian, JSON, code, tables
of figures and ids, and 1.2 to 4 times those of Chinese, Japanese, Korean, Arabic, Cyrillic, Thai and Hindi. It is too
low, by up to a half, for scripts that a vocabulary does not know and for rows of emoji; the window's default leaves as
much room (see `window`).

A picture counts 2,000 and a document a token for each ten bytes, at least 3,000: what these cost, the bytes do not say.
A provider's own data, which is sealed or encoded, counts a token for each four bytes.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import Any, NamedTuple

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
from tukang.models.adapting import json_bytes

PICTURE = 2_000
DOCUMENT = 3_000

_LIGHT = (string.ascii_lowercase + " ").encode()
_HEAVY = (string.digits + string.ascii_uppercase).encode()
_ASCII = bytes(range(128))
_FRAME = 8
"""What stands around a message, a call, a result: role, name, id, brackets."""


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    data = text.encode("utf-8", "replace")
    not_light = data.translate(None, _LIGHT)
    not_heavy = not_light.translate(None, _HEAVY)
    foreign = len(not_heavy.translate(None, _ASCII))
    light, heavy = len(data) - len(not_light), len(not_light) - len(not_heavy)
    return (2 * light + 6 * heavy + 4 * (len(not_heavy) - foreign) + 3 * foreign + 5) // 6


def message_tokens(message: Message) -> int:
    """Tokens of a message. It is measured once; the size stays with it."""
    known = vars(message)
    size: int | None = known.get("tokens")
    if size is None:
        known["tokens"] = size = _FRAME + sum(map(part_tokens, message.parts))
    return size


def tokens(messages: Iterable[Message]) -> int:
    """Tokens of several messages."""
    return sum(map(message_tokens, messages))


def part_tokens(part: Part) -> int:
    """Tokens of a part of a message."""
    match part:
        case Text(text):
            return text_tokens(text)
        case ToolCall():
            return _FRAME + text_tokens(part.name) + text_tokens(part.arguments)
        case ToolResult():
            return _FRAME + sum(map(part_tokens, part.content))
        case Image():
            return PICTURE
        case File():
            return _document(part)
        case Thinking():
            return text_tokens(part.text) + len(part.signature or "") // 4
        case ServerCall():
            return _FRAME + text_tokens(part.arguments) + _sealed(part.data)
        case Citation():
            return text_tokens(part.quote or "") + _sealed(part.data)
        case ServerResult() | Opaque():
            return _sealed(part.data)


def _document(file: File) -> int:
    data = file.data or b""
    if file.media_type.startswith("text/"):
        return _FRAME + text_tokens(data.decode(errors="replace"))
    return max(DOCUMENT, len(data) // 10)


def _sealed(data: Any) -> int:
    return 0 if data is None else len(json_bytes(data)) // 4


class Size(NamedTuple):
    """Tokens of a unit of a conversation: as it was, and with its long results shortened."""

    whole: int
    short: int
