"""What a function returned, as the model reads it: text as it is, everything else as JSON in UTF-8, never a repr."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from numbers import Real
from types import SimpleNamespace
from typing import Any, cast

import msgspec
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from tukang.conversation import File, Image, Text
from tukang.tools.advice import warn
from tukang.tools.failure import words
from tukang.tools.json_text import unicode
from tukang.tools.long import Task
from tukang.tools.untrusted import Untrusted

Content = tuple[Text | Image | File, ...]

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class Unwritable(Exception):
    """A result that has no form a model can read. The message names its type."""


def content(value: Any, tool: str, *, none_is_null: bool = False) -> Content:
    """The parts of a result.

    A string stays as it is. Numbers, booleans, dicts, lists, sets, dataclasses, Structs, Pydantic models, dates, Decimals,
    UUIDs, Enums and what Pydantic can write besides become JSON; NaN and Infinity become null, which is all JSON has for
    them. Bytes are an image or a PDF if they begin like one, else text if they are UTF-8; inside something else they are
    Base64. An exception inside something else is its words, under "error". `Text`, `Image` and `File` parts, or a list of
    them, are taken as they are.

    Args:
        value: what the function returned.
        tool: its name, for a warning.
        none_is_null: None is an answer of this function and written `null`; otherwise it is the lack of one, the model reads
            `{"ok": true}`, and the developer is warned.

    Raises:
        Unwritable: the value, or something in it, cannot be written.
    """
    if type(value) is dict:  # what most functions return
        return (Text(_json(value)),)
    if isinstance(value, str):
        return (Text(unicode(value)),)
    if value is None:
        if none_is_null:
            return (Text("null"),)
        _warn_of_nothing(tool)
        return (Text('{"ok":true}'),)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return (_from_bytes(bytes(cast("bytes", value))),)
    if isinstance(value, (Text, Image, File)):
        return (value,)
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(part, (Text, Image, File)) for part in cast("Any", value))
    ):
        return tuple(cast("list[Text | Image | File]", value))
    return (Text(_json(value)),)


def _json(value: Any) -> str:
    try:
        try:
            return _ENCODER.encode(value).decode()
        except RecursionError:  # that is also what a key comes to which msgspec does not know
            return _ENCODER.encode(_with_plain_keys(value)).decode()
    except Unwritable:
        raise
    except RecursionError:
        raise Unwritable(f"a {_type(value)} that contains itself, or is nested too deeply") from None
    except UnicodeEncodeError:
        raise Unwritable(f"a {_type(value)} with text that is not Unicode") from None
    except (TypeError, ValueError, OverflowError) as error:  # such as a dict whose keys are tuples
        raise Unwritable(f"a {_type(value)} ({error})") from error


def _with_plain_keys(value: Any) -> Any:
    """The value with keys that JSON has a word for: `true`, `false`, `null`."""
    if isinstance(value, Mapping):
        return {_key(key): _with_plain_keys(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_with_plain_keys(item) for item in cast("Sequence[Any]", value)]
    return value


def _key(key: Any) -> Any:
    if isinstance(key, tuple):
        raise Unwritable("a dict whose keys are tuples")
    return _WORDS[key] if key is None or isinstance(key, bool) else key


def _written(value: Any) -> Any:
    """A thing msgspec does not know, as something it does."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Task):
        raise Unwritable("a Task, which its author has to announce: annotate the function '-> Task'")
    if isinstance(value, Untrusted):
        raise Unwritable("an untrusted(…) inside something else: it has to be the whole result")
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[Any]", value))
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    if isinstance(value, BaseException):
        return {"error": words(value)}
    if isinstance(value, (Iterator, AsyncIterator, Awaitable)):
        raise Unwritable(f"a {_type(value)}")
    if isinstance(value, (KeysView, ValuesView, ItemsView)):
        return list(cast("ValuesView[Any]", value))
    if isinstance(value, SimpleNamespace):
        return vars(value)
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return value.tolist()
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError:
        if isinstance(value, Real):  # numbers of other libraries
            return float(value)
        raise Unwritable(f"a {_type(value)}") from None


def _from_bytes(data: bytes) -> Text | Image | File:
    for beginning, media_type in _IMAGES:
        if data.startswith(beginning):
            return Image(media_type, data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Image("image/webp", data)
    if data.startswith(b"%PDF-"):
        return File("application/pdf", data=data)
    try:
        return Text(data.decode())
    except UnicodeDecodeError:
        raise Unwritable("bytes that are neither an image, a PDF nor UTF-8 text") from None


def _type(value: Any) -> str:
    return type(value).__qualname__


def _warn_of_nothing(tool: str) -> None:
    warn(f'tool {tool!r} returned nothing; the model reads {{"ok":true}}. Return what it should know, or a short text')


_WORDS: Mapping[bool | None, str] = {True: "true", False: "false", None: "null"}
_ENCODER = msgspec.json.Encoder(enc_hook=_written)
