"""What a form is, and how the parts that several protocols share are read.

A form reads recorded and sent requests alike, so that two of them can be compared as JSON. What it leaves out says nothing:
marks for a cache, fields that are null or empty, and two ways of writing the same (a text, and a list with that text).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import aiohttp
import msgspec

from tests.wire.steps import Ran
from tukang.conversation import File, Image, Text
from tukang.models.base import Model

Json = dict[str, Any]
Content = list[Text | Image | File]


class Result(msgspec.Struct, frozen=True):
    """What a recorded tool returned; `fault` where the protocol says that it is an error."""

    content: Content
    fault: bool = False


class Tool(msgspec.Struct, frozen=True):
    """A tool of a recorded request."""

    name: str
    description: str
    parameters: Json


class Form(msgspec.Struct, frozen=True):
    """How one protocol is read.

    Args:
        model: the adapter for a step, on a session.
        messages: the conversation of a request, in a form that can be compared.
        results: the results in a request, by the id of their call; those of a protocol without ids in order, as "0", "1", …
        tools: the tools that the caller runs.
        instructions: the system text.
        served: whether a response shows that the provider ran something itself.
        ran: the calls that a response shows the provider ran itself.
        own: what a request says of the provider's own tools, as fields of ours (`Settings.extra`).
    """

    model: Callable[[Json, aiohttp.ClientSession], Model]
    messages: Callable[[Json], list[Json]]
    results: Callable[[Json], Mapping[str, Result]]
    tools: Callable[[Json], list[Tool]]
    instructions: Callable[[Json], str]
    served: re.Pattern[str]
    own: Callable[[Json], Json] = lambda _: {}
    ran: Callable[[str], Sequence[Ran]] = lambda _: ()


KEY = "a key that nobody checks"
NOTHING: tuple[Any, ...] = (None, "", [], {})


def items(thing: Json, name: str) -> list[Json]:
    """The items of a list that may be missing, or something else."""
    found: Any = thing.get(name)
    return cast("list[Json]", found) if isinstance(found, list) else []


def listed(content: Any, key: str = "text", kind: str | None = "text") -> list[Json]:
    """A content that may be a text, as the list of parts it stands for."""
    if isinstance(content, str):
        return [{"type": kind, key: content} if kind else {key: content}] if content else []
    return list(content or ())


def without(thing: Mapping[str, Any], *names: str) -> Json:
    return {key: value for key, value in thing.items() if key not in names and value not in NOTHING}


def parsed(text: Any) -> Any:
    """Arguments as a value; what is not JSON stays a text."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def texts(parts: Sequence[Json]) -> str:
    return "\n\n".join(part["text"] for part in parts if part.get("text"))


def unread(part: Any) -> Text:
    """A part that the house has no word for, as text, so that it shows."""
    return Text(json.dumps(part, ensure_ascii=False))


def from_url(url: str, name: str | None = None, *, media_type: str = "image/*") -> Image | File:
    """A picture or a file, from a data URL or another."""
    inline = url.startswith("data:")
    media, _, data = url.removeprefix("data:").partition(";base64,") if inline else (media_type, "", "")
    content = base64.b64decode(data) if inline else None
    if media.startswith("image/"):
        return Image(media, content, None if inline else url)
    return File(media, name, content, None if inline else url)
