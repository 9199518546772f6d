"""Neutral messages as input items of OpenAI's Responses protocol. The table stands at the top of `openai_responses`.

Pure: one message in, bytes out. What came from the same provider goes back as it came; what came from another is turned into
what this one takes, or left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

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
from tukang.models.adapting import answered, arguments_text, data_url, json_bytes, legal_name, read_json
from tukang.models.openai_responses_dialect import Dialect
from tukang.models.openai_responses_hosted import REQUEST, answer_to

SHELLS = frozenset({"message", "function_call", "custom_tool_call"})
"""Types of the `Opaque` parts that only hold what a text or a call cannot: the item's id, its phase, its namespace."""

_RUN_BY_THE_CLIENT = frozenset({"computer_call", "local_shell_call", "apply_patch_call", "shell_call"})
_CALL_ID = re.compile(r"[!-~]{1,64}")


class Asked(msgspec.Struct, frozen=True):
    """One call of the assistant message before: our id, the id it has on the wire, and how its result is to look. `request`:
    the server asks whether it may make a call of its own."""

    id: str
    wire_id: str
    name: str
    custom: bool = False
    caller: Any = None
    request: bool = False


class Kept(msgspec.Struct, frozen=True):
    """What is kept of an encoded message. `asked` is what an assistant message asks, and what a tool message answers; `ids`
    are the item ids in it."""

    chunks: tuple[bytes, ...]
    asked: tuple[Asked, ...] = ()
    ids: tuple[str, ...] = ()


def user_item(message: Message) -> Kept:
    """A user's message: words as a string, beside pictures and documents as parts. One with nothing in it is left out."""
    parts = [part for part in message.parts if isinstance(part, Text | Image | File)]
    if not parts:
        return Kept(())
    content: Any
    if all(isinstance(part, Text) for part in parts):
        content = "\n\n".join(part.text for part in parts if isinstance(part, Text))
    else:
        content = [_content_part(part) for part in parts]
    return Kept((json_bytes({"role": "user", "content": content}),))


def assistant_items(message: Message, dialect: Dialect, *, copied: bool = False) -> Kept:
    """An assistant's message as items, in the order of its parts.

    A text or a call keeps the id it came with only where all the reasoning of the message goes back: an item with an id must
    have its reasoning before it.

    Args:
        message: it.
        dialect: whose items go back, and whether reasoning may.
        copied: whether the same reply stands in the conversation before. An item id must not stand twice, so nothing goes
            that has one: no reasoning, no item of a tool the provider ran.
    """
    writer = _Writer(message, dialect, copied=copied)
    for part in message.parts:
        writer.add(part)
    return writer.close()


def result_items(results: Sequence[ToolResult], asked: Sequence[Asked], dialect: Dialect) -> Iterator[bytes]:
    """One output item for each call, in the order asked; and where results hold text only, what can be seen after them."""
    pictures: list[Any] = []
    for call, result in zip(asked, answered(results, asked), strict=True):
        media = [part for part in result.content if not isinstance(part, Text)]
        output: Any = result.text
        if media and dialect.media_in_results:
            output = [_content_part(part) for part in result.content]
        elif media:
            label = f"Attached by {call.name}, call {call.wire_id}:"
            pictures += [{"type": "input_text", "text": label}, *map(_content_part, media)]
            output = output or "(see the attachment below)"
        kind = "custom_tool_call_output" if call.custom else "function_call_output"
        item = {"type": kind, "call_id": call.wire_id, "output": output}
        yield json_bytes(item if call.caller is None else {**item, "caller": call.caller})
    if pictures:
        yield json_bytes({"role": "user", "content": pictures})


def decision_items(
    results: Sequence[ToolResult], asked: Sequence[Asked], dialect: Dialect, after: Sequence[Message]
) -> Iterator[bytes]:
    """As `result_items`, where calls of the server's own are among them: for those, what was decided.

    Args:
        results, asked, dialect: as there.
        after: what was said since. A permission counts in the request right after it; later only where its use is on record.
    """
    used = {
        _fields(part.data).get("approval_request_id")
        for message in after
        for part in message.parts
        if isinstance(part, ServerCall)
    }
    for call, result in zip(asked, answered(results, asked), strict=True):
        if not call.request:
            yield from result_items([result], [call], dialect)
        elif result.fault:
            yield json_bytes(answer_to(call.wire_id, permitted=False, why=result.text))
        else:
            known = not after or call.wire_id in used
            yield json_bytes(answer_to(call.wire_id, permitted=known, why=_NOT_KNOWN))


_NOT_KNOWN = "It was permitted before. Whether it was run then is not known, so it is not permitted again."


class _Writer:
    """The items of one assistant message, under construction."""

    def __init__(self, message: Message, dialect: Dialect, *, copied: bool) -> None:
        thoughts = [part for part in message.parts if isinstance(part, Thinking)]
        self._dialect = dialect
        self._copied = copied
        self._verbatim = dialect.reasoning_back and not copied
        self._with_ids = self._verbatim and all(_sealed(part, dialect) for part in thoughts)
        self._chunks: list[bytes] = []
        self._reasoning: list[dict[str, Any]] = []  # waits for what it led to; without that it must not be sent
        self._text: list[str] = []
        self._annotations: list[Any] = []
        self._shell: dict[str, Any] = {}  # what the next text or call came with
        self._drawn = False  # an image item has just been written
        self._asked: list[Asked] = []
        self._ids: list[str] = []
        self._given = [call.wire_id for call in message.calls]
        self._questions = {call.wire_id for call in message.calls if call.permission}
        self._called = _own_call_ids(message, dialect, ServerCall)
        self._outputs = _own_call_ids(message, dialect, ServerResult)

    def add(self, part: Part) -> None:
        drawn, self._drawn = self._drawn, False
        match part:
            case Text(text):
                self._text.append(text)
            case Citation() if part.provider == self._dialect.provider and _fields(part.data).get("type"):
                self._annotations.append(part.data)
            case Thinking() if self._verbatim and (item := _sealed(part, self._dialect)):
                self._say()
                if item.get("id") not in self._ids and item not in self._reasoning:
                    self._reasoning.append(item)
            case ToolCall(permission=True) if part.wire_id and part.wire_id in self._ids:
                self._asked.append(Asked(part.id, part.wire_id, legal_name(part.name), request=True))
            case ToolCall():
                self._say()
                self._call(part)
            case Opaque(provider, data) if provider == self._dialect.provider:
                self._say()
                self._opaque(_fields(data))
            case ServerCall() | ServerResult() if part.provider == self._dialect.provider:
                self._say()
                self._server(_fields(part.data))
            case Image() | File() if not drawn:
                self._text.append("(an attachment of the assistant's)")
            case _:
                pass

    def close(self) -> Kept:
        self._say()
        return Kept(tuple(self._chunks), tuple(self._asked), tuple(self._ids))

    def _put(self, item: dict[str, Any]) -> None:
        for one in (*self._reasoning, item):
            self._chunks.append(json_bytes(one))
            if isinstance(one.get("id"), str):
                self._ids.append(one["id"])
        self._reasoning.clear()

    def _put_verbatim(self, item: dict[str, Any]) -> None:
        """An item that is nothing without its own id: it is left out where that must not be sent, or stands already."""
        if self._copied or item.get("id") in self._ids:
            return
        self._put(item)

    def _say(self) -> None:
        """Write the text so far, if there is any."""
        text = "".join(self._text)
        self._text.clear()
        annotations, self._annotations = self._annotations, []
        if not text:
            return
        shell = self._shell_of("message")
        phase = {"phase": shell["phase"]} if shell.get("phase") else {}
        if "id" in shell:
            content = [{"type": "output_text", "text": text, "annotations": annotations}]
            head = {"type": "message", "id": shell["id"], "role": "assistant", "status": "completed"}
            self._put({**head, "content": content, **phase})
        else:
            self._put({"role": "assistant", "content": text, **phase})

    def _call(self, call: ToolCall) -> None:
        custom = self._shell.get("type") == "custom_tool_call"
        shell = self._shell_of("custom_tool_call" if custom else "function_call")
        if call.wire_id is None or shell.get("call_id") != call.wire_id:
            # The provider repeated itself, or this is another call: then the item's own id is no good either.
            shell = {key: value for key, value in shell.items() if key != "id"}
        name = legal_name(call.name)
        asked = Asked(call.id, self._wire_id(call), name, custom, shell.get("caller"))
        self._asked.append(asked)
        kind, field = ("custom_tool_call", "input") if custom else ("function_call", "arguments")
        text = call.arguments if custom else arguments_text(call.arguments)
        item = {"type": kind, "call_id": asked.wire_id, "name": name, field: text}
        self._put(item | {key: shell[key] for key in ("id", "namespace", "caller") if key in shell})

    def _wire_id(self, call: ToolCall) -> str:
        """The provider's own id where it is usable and unique, else made from ours; the same one each time."""
        wire_id = call.wire_id or ""
        if _CALL_ID.fullmatch(wire_id) and self._given.count(wire_id) == 1:
            return wire_id
        if _CALL_ID.fullmatch(call.id):
            return call.id
        return f"call_{hashlib.sha256(call.id.encode()).hexdigest()[:24]}"

    def _opaque(self, item: dict[str, Any]) -> None:
        if item.get("type") in SHELLS:
            self._shell = item
        elif item.get("type") and (item["type"] != REQUEST or item.get("id") in self._questions):
            self._put_verbatim(item)  # a question that nobody answered would be asked for its answer

    def _server(self, item: dict[str, Any]) -> None:
        """An item of a tool that the provider runs. A call that waits for an output of ours would be refused: left out."""
        kind, call_id = item.get("type"), item.get("call_id")
        if not kind:
            return
        ours = kind in _RUN_BY_THE_CLIENT or (kind == "tool_search_call" and item.get("execution") == "client")
        if ours and call_id not in self._outputs:
            return
        if kind in ("shell_call_output", "tool_search_output") and call_id and call_id not in self._called:
            return
        self._put_verbatim(item)
        self._drawn = kind == "image_generation_call"

    def _shell_of(self, kind: str) -> dict[str, Any]:
        shell, self._shell = self._shell, {}
        if shell.get("type") != kind:
            return {}
        usable = self._with_ids and isinstance(shell.get("id"), str) and shell["id"] not in self._ids
        return shell if usable else {key: value for key, value in shell.items() if key != "id"}


def _sealed(part: Thinking, dialect: Dialect) -> dict[str, Any] | None:
    """The reasoning item that a part was made of; None for another provider's, or one that cannot go back."""
    if part.provider != dialect.provider or not part.signature:
        return None
    item = _fields(read_json(part.signature))
    return item if item.get("type") == "reasoning" else None


def _own_call_ids(message: Message, dialect: Dialect, kind: type[ServerCall | ServerResult]) -> set[Any]:
    own = [part for part in message.parts if isinstance(part, kind) and part.provider == dialect.provider]
    found = [_fields(part.data).get("call_id") for part in own]
    return {one for one in found if isinstance(one, str)}


def _content_part(part: Text | Image | File) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "input_text", "text": text}
        case Image() if part.url or part.data:
            url = part.url or data_url(part.media_type, part.data)
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case File() if part.data is not None:
            name = part.name or "document"
            return {"type": "input_file", "filename": name, "file_data": data_url(part.media_type, part.data)}
        case File() if part.url:
            return {"type": "input_file", "file_url": part.url}
        case Image() | File():
            return {"type": "input_text", "text": "(an attachment that is no longer here)"}


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
