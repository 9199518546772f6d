"""Output items of OpenAI's Responses protocol as neutral events: which item a piece belongs to, and what an item says.

Pure. An item is told by its id or by its place, and neither can be trusted: some servers give an item another id in every
event, some send the same place twice, some leave one out, and some send items only in the end. No item may be lost, none may
be said twice, and no two calls may become one.
"""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec
from msgspec.structs import replace

from tukang.conversation import Citation, Image, Opaque, Part, ServerCall, ServerResult, Thinking, ToolCall
from tukang.models.base import ArgumentsDelta, CallBegan, ModelEvent, PartCompleted, TextDelta, ThinkingDelta
from tukang.models.openai_responses_hosted import REQUEST, asked_arguments, declared_name, output_text, said_by

CALLS = ("function_call", "custom_tool_call")
_IMAGE_TYPES = {"jpeg": "image/jpeg", "jpg": "image/jpeg", "webp": "image/webp", "png": "image/png"}

_encode = msgspec.json.Encoder(order="deterministic").encode


class _Item:
    """An item under construction."""

    __slots__ = ("annotations", "begun", "call_id", "closed", "ids", "key", "kind", "name", "place", "shell", "text")

    def __init__(self, kind: str, place: int | None) -> None:
        self.kind = kind
        self.place = place
        self.ids: set[str] = set()
        self.key = -1
        self.name = ""
        self.call_id: str | None = None
        self.shell: dict[str, Any] = {}
        self.text = ""  # all that came as deltas: words, reasoning or arguments
        self.annotations: list[Any] = []
        self.begun = False
        self.closed = False


class OutputItems:
    """The items of one reply.

    Args:
        provider: whose they are; see `Dialect.provider`.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._items: list[_Item] = []
        self._by_id: dict[str, _Item] = {}
        self._calls = 0
        self._thinking: _Item | None = None  # whose reasoning the last event was a piece of
        self._unsealed = False
        self.requests = 0  # how often the server asks whether it may make a call of its own
        self.refusal: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def calls(self) -> int:
        """How many calls there are so far."""
        return self._calls

    def added(self, place: Any, fields: dict[str, Any], out: list[ModelEvent]) -> None:
        """An item opens."""
        item = self._open(str(fields.get("type")), place)
        self._learn(item, fields)
        if item.kind in CALLS and item.name:
            self._begin(item, out)
            if arguments := _arguments(fields):
                self._piece(item, arguments, out)

    def piece(
        self, kind: Literal["message", "reasoning", "call"], place: Any, item_id: Any, text: str, out: list[ModelEvent]
    ) -> None:
        """A piece of text of an item."""
        item = self._find(place, item_id, CALLS if kind == "call" else (kind,))
        if item is None or item.closed:
            item = self._open("function_call" if kind == "call" else kind, place)
        if isinstance(item_id, str) and item_id:
            item.ids.add(item_id)
        self._piece(item, text, out)

    def annotated(self, place: Any, item_id: Any, annotation: Any) -> None:
        """A source of a message's text."""
        item = self._find(place, item_id, ("message",))
        if item is not None and not item.closed:
            item.annotations.append(annotation)

    def done(self, place: Any, fields: dict[str, Any], out: list[ModelEvent]) -> None:
        """An item is complete: what had not come in pieces, and what does not."""
        kind = str(fields.get("type"))
        item = self._find(place, fields.get("id"), (kind,))
        if item is not None and item.closed and fields.get("id") in item.ids:
            return  # it was said before
        if item is None or item.closed:
            item = self._open(kind, place)
        self._learn(item, fields)
        self._close(item, fields, out)

    def finish(self, output: list[Any], out: list[ModelEvent]) -> None:
        """The reply is over.

        Args:
            output: all items as the end of the reply lists them; some servers list none, and some list what never came.
        """
        for place, one in enumerate(output):
            fields = as_fields(one)
            known = self._by_id.get(_string(fields.get("id")))
            item = known or self._alike(fields) or self._find(place, None, (str(fields.get("type")),))
            if item is None:
                item = self._open(str(fields.get("type")), place)
            if not item.closed:
                self._learn(item, fields)
                self._close(item, fields, out)
        for item in self._items:
            if not item.closed:
                self._close(item, {}, out)

    def _open(self, kind: str, place: Any) -> _Item:
        item = _Item(kind, place if isinstance(place, int) else None)
        self._items.append(item)
        return item

    def _find(self, place: Any, item_id: Any, kinds: tuple[str, ...]) -> _Item | None:
        if isinstance(item_id, str) and (item := self._by_id.get(item_id)) is not None and item.kind in kinds:
            return item
        for item in reversed(self._items):
            if item.kind in kinds and (
                item.place == place if isinstance(place, int) and item.place is not None else not item.closed
            ):
                return item
        return None

    def _alike(self, fields: dict[str, Any]) -> _Item | None:
        """An item that says the same under another id and in another place."""
        kind = fields.get("type")
        if kind in CALLS:
            call_id = fields.get("call_id")
            return next((one for one in self._items if one.kind == kind and call_id and one.call_id == call_id), None)
        text = _message_text(fields) if kind == "message" else _reasoning_text(fields)
        return next((one for one in self._items if one.kind == kind and text and one.text == text), None)

    def _learn(self, item: _Item, fields: dict[str, Any]) -> None:
        item_id = fields.get("id")
        if isinstance(item_id, str) and item_id:
            item.ids.add(item_id)
            self._by_id[item_id] = item
        if item.kind in CALLS:
            item.name = item.name or _string(fields.get("name"))
            item.call_id = item.call_id or _string(fields.get("call_id")) or None
            keys = ("type", "id", "call_id", "namespace", "caller")
        else:
            keys = ("type", "id", "phase")
        item.shell = item.shell or {key: fields[key] for key in keys if fields.get(key) is not None}

    def _emit(self, part: Part, out: list[ModelEvent]) -> None:
        self._thinking = None
        out.append(PartCompleted(part))

    def _begin(self, item: _Item, out: list[ModelEvent]) -> None:
        """What a text or a call came with goes before it, so that the two stay together."""
        item.begun = True
        shell = {key: value for key, value in item.shell.items() if key != "id" or not self._unsealed}
        if item.kind == "custom_tool_call" or not shell.keys() <= {"type", "call_id"}:
            self._emit(Opaque(self._provider, {**shell, "type": item.kind}), out)
        if item.kind in CALLS:
            item.key = self._calls
            self._calls += 1
            self._thinking = None
            out.append(CallBegan(item.key, item.name, item.call_id))

    def _piece(self, item: _Item, text: str, out: list[ModelEvent]) -> None:
        if not text:
            return
        before = item.text
        item.text += text
        if item.kind == "reasoning":
            self._thinking = item
            out.append(ThinkingDelta(text))
        elif item.kind == "message":
            if not item.begun:
                self._begin(item, out)
            self._thinking = None
            out.append(TextDelta(text))
        elif item.name or item.begun:
            if not item.begun:
                self._begin(item, out)
                text = before + text
            out.append(ArgumentsDelta(item.key, text))

    def _close(self, item: _Item, fields: dict[str, Any], out: list[ModelEvent]) -> None:
        item.closed = True
        if item.kind in CALLS:
            if not item.begun:
                self._begin(item, out)
                if item.text:
                    out.append(ArgumentsDelta(item.key, item.text))
            self._piece(item, _rest(_arguments(fields), item.text), out)
        elif item.kind == "message":
            self._piece(item, _rest(_message_text(fields), item.text), out)
            self.refusal += [_string(part.get("refusal")) for part in _parts(fields) if part.get("type") == "refusal"]
            listed = [note for part in _parts(fields) for note in as_list(part.get("annotations"))]
            for annotation in listed or item.annotations:
                self._emit(_citation(as_fields(annotation), self._provider), out)
        elif item.kind == "reasoning":
            self._seal(item, fields, out)
        elif fields:
            self._server_item(fields, out)

    def _seal(self, item: _Item, fields: dict[str, Any], out: list[ModelEvent]) -> None:
        """Reasoning that can go back is kept as it came; what was streamed of it is replaced."""
        self._piece(item, _rest(_reasoning_text(fields), item.text), out)
        if not fields.get("encrypted_content") and not fields.get("content"):
            # The server keeps the rest of it, or nobody does.
            self._unsealed = True
            return
        keys = ("type", "id", "summary", "content", "encrypted_content")
        sealed = {key: fields[key] for key in keys if fields.get(key) or (key == "summary" and key in fields)}
        sealed.setdefault("summary", [])
        # Text that something else came in between with is in the conversation already.
        text = item.text if self._thinking is item else ""
        self._emit(Thinking(text, _encode(sealed).decode(), self._provider), out)

    def _server_item(self, item: dict[str, Any], out: list[ModelEvent]) -> None:
        kind = str(item.get("type"))
        own_id = _string(item.get("call_id")) or _string(item.get("id"))
        if kind.endswith("_output"):
            failed = item.get("status") in ("failed", "incomplete")
            self._emit(ServerResult(own_id, self._provider, item, output_text(item), failed), out)
        elif kind.endswith("_call") or kind == "program":
            name = _string(item.get("name")) or kind
            result, fault = said_by(item)
            said = ServerCall(own_id, name, _server_arguments(item), self._provider, item)
            self._emit(replace(said, tool=declared_name(item), result=result, fault=fault), out)
        else:
            self._emit(Opaque(self._provider, item), out)
        if kind == REQUEST:
            self.requests += 1
            label = _string(item.get("server_label"))
            self._emit(ToolCall("", label, asked_arguments(item), own_id or None, permission=True), out)
        if kind == "image_generation_call" and (picture := _picture(item)) is not None:
            self._emit(picture, out)


def _rest(whole: str, came: str) -> str:
    """What of a whole text has not come in pieces. Where the two disagree, what came first was shown already and stands."""
    return whole[len(came) :] if whole.startswith(came) else ""


def _citation(annotation: dict[str, Any], provider: str) -> Citation:
    title = _string(annotation.get("title")) or _string(annotation.get("filename")) or None
    return Citation(title, _string(annotation.get("url")) or None, None, provider, annotation)


def _picture(item: dict[str, Any]) -> Image | None:
    try:
        data = msgspec.convert(item.get("result"), bytes)
    except msgspec.ValidationError:
        return None
    return Image(_IMAGE_TYPES.get(_string(item.get("output_format")), "image/png"), data) if data else None


def _server_arguments(item: dict[str, Any]) -> str:
    for key in ("arguments", "action", "queries", "code", "operation"):
        value = item.get(key)
        if key == "action" and isinstance(value, dict):  # what was found stands in it, too
            value = {name: one for name, one in cast("dict[str, Any]", value).items() if name != "sources"}
        if value is not None:
            return value if isinstance(value, str) else _encode(value).decode()
    return "{}"


def _message_text(fields: dict[str, Any]) -> str:
    return "".join(_string(part.get("text")) for part in _parts(fields) if part.get("type") != "refusal")


def _reasoning_text(fields: dict[str, Any]) -> str:
    pieces = [*as_list(fields.get("summary")), *as_list(fields.get("content"))]
    return "".join(_string(as_fields(piece).get("text")) for piece in pieces)


def _arguments(fields: dict[str, Any]) -> str:
    """The argument text. Some servers send the object itself."""
    value = fields.get("input") if fields.get("arguments") is None else fields.get("arguments")
    if isinstance(value, str):
        return value
    return "" if value is None else _encode(value).decode()


def _parts(fields: dict[str, Any]) -> list[dict[str, Any]]:
    content = fields.get("content")
    if isinstance(content, str):
        return [{"type": "output_text", "text": content}]
    return [as_fields(part) for part in as_list(content)]


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_fields(value: Any) -> dict[str, Any]:
    """An object, or an empty one for what is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A list, or an empty one for what is none."""
    return cast("list[Any]", value) if isinstance(value, list) else []
