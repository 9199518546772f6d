"""A neutral request as the body of an OpenAI chat completion. The rules it follows stand at the top of `openai_chat`.

Pure: no I/O and no provider's state. The bytes of a message are kept in the message's own dictionary, one entry per
spelling (`Dialect.spelling`), and those of all that was sent in that of its last message, so a request costs the encoding of
what is new.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from tukang.conversation import File, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from tukang.models.adapting import answered, arguments_text, data_url, json_bytes, legal_name
from tukang.models.base import ModelRequest, Settings
from tukang.models.openai_chat_dialect import Dialect
from tukang.models.openai_chat_sealed import GOOGLE_UNSEALED, sealed_by
from tukang.models.openai_settings import cache_key, check_tools, output_format
from tukang.models.openai_strict import goes_strict, tool_form
from tukang.models.structured import as_text, demanded
from tukang.tools.contract import Contract

_CALL_IDS = {
    "any": re.compile(r"[!-~]+"),
    "forty": re.compile(r"[!-~]{1,40}"),
    "nine": re.compile(r"[A-Za-z0-9]{9}"),
}
_OWN_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_BETWEEN = b'{"role":"assistant","content":"OK"}'


def check(request: ModelRequest, dialect: Dialect) -> None:
    """Refuse what this protocol cannot do, before anything is sent.

    Raises:
        ConfigurationError: there are more tools than the server takes, or `returns` does not describe an object.
    """
    check_tools(request.tools, dialect.most_tools)
    if request.returns is not None:
        output_format(request.returns)


def encode_request(model: str, request: ModelRequest, dialect: Dialect, stream: bool) -> bytes:
    """The whole body.

    Args:
        model: the model's name on the wire.
        request: what to send.
        dialect: see `Dialect`.
        stream: whether to ask for a stream.

    Raises:
        ConfigurationError: see `check`.
    """
    check(request, dialect)
    body: dict[str, Any] = {"model": model}
    if stream:
        body["stream"] = True
        if dialect.usage_in_stream:
            body["stream_options"] = {"include_usage": True}
    choice = "none" if request.tools_off else request.tool_choice
    demands = bool(request.tools) and choice not in ("auto", "none")
    note = request.note or ""
    if demands and not dialect.forced:
        note = "\n".join(filter(None, (note, _demand(choice))))
    body["messages"] = _array(_messages(request, dialect, note))
    if request.tools:
        body["tools"] = _tools(request.tools, dialect)
        if choice == "none" or (choice == "required" and dialect.forced):
            body["tool_choice"] = choice
        elif demands and dialect.forced:
            body["tool_choice"] = {"type": "function", "function": {"name": choice}}
        if request.settings.parallel_calls is not None:
            body["parallel_tool_calls"] = request.settings.parallel_calls
    if request.returns is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": output_format(request.returns)}
    if request.conversation and request.settings.cache and dialect.cache_key:
        body["prompt_cache_key"] = cache_key(request.conversation)
    _add_settings(body, request.settings, dialect)
    return json_bytes(body)


def without_force(request: ModelRequest, dialect: Dialect) -> ModelRequest | None:
    """The request with the answer asked for as text that follows a schema, where the server refuses to have its tool forced;
    None where it is forced, or where the server has refused a schema, too."""
    tool = demanded(request)
    return None if tool is None or dialect.forced or not dialect.structured else as_text(request, tool)


def _demand(choice: str) -> str:
    """What `tool_choice` would say, in words."""
    return "Call a tool now." if choice == "required" else f"Call the tool {choice} now."


def _add_settings(body: dict[str, Any], settings: Settings, dialect: Dialect) -> None:
    if settings.temperature is not None and dialect.sampling:
        body["temperature"] = settings.temperature
    if settings.max_tokens is not None:
        body[dialect.limit_field] = settings.max_tokens
    if settings.top_p is not None and dialect.sampling:
        body["top_p"] = settings.top_p
    if settings.stop:
        body["stop"] = settings.stop
    if settings.seed is not None:
        body["seed"] = settings.seed
    if settings.think is not None:
        think = settings.think
        body["reasoning_effort"] = think if isinstance(think, str) else "medium" if think else "none"
    body.update(settings.extra)


# ── messages, in the order and pairing the protocol wants ────────────────────────────────────────────────────────────


class _Asked(msgspec.Struct, frozen=True):
    """One call of the assistant message before: our id, the id it has on the wire, and the tool's name."""

    id: str
    wire_id: str
    name: str


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of an encoded message. `asked` is what an assistant message asks, and what a tool message answers."""

    chunks: tuple[bytes, ...]
    asked: tuple[_Asked, ...] = ()


class _Sent(msgspec.Struct, frozen=True):
    """All messages up to one with results, as they were sent: kept with that one, and taken from it for the next request.
    `before` are those in front of it, lest another conversation be gone on with."""

    spelling: str
    instructions: str
    before: Sequence[Message]
    written: bytes


_SENT = "openai_chat/sent"


def _messages(request: ModelRequest, dialect: Dialect, note: str) -> list[bytes]:
    spelling = dialect.spelling
    messages = request.messages
    chunks, done = _sent(request, spelling) if dialect.user_after_tool else ([], 0)
    if not done and request.instructions:
        chunks.append(_system(request.instructions))
    open_calls: tuple[_Asked, ...] = ()
    answers: list[Message] = []
    ends_with: Message | None = None  # a user's message whose chunk is the last one
    for message in messages[done:]:
        if message.role == "tool":
            answers.append(message)
            continue
        if answers or open_calls:
            chunks += _answers(answers, open_calls, spelling)
            answers.clear()
        kept: _Kept | None = vars(message).get(spelling)
        if kept is None:
            kept = _assistant(message, dialect) if message.role == "assistant" else _user(message)
            vars(message)[spelling] = kept
        open_calls = kept.asked
        chunks += kept.chunks
        ends_with = message if message.role == "user" and kept.chunks else None
    chunks += _answers(answers, open_calls, spelling)
    if answers and chunks and dialect.user_after_tool:
        chunks = [b",".join(chunks)]
        _keep(request, done, spelling, chunks[0])
    if note:
        # After a user's message the note joins it: some servers insist that roles alternate.
        if ends_with is not None:
            chunks[-1:] = _user(Message("user", (*ends_with.parts, Text(note)))).chunks
        else:
            chunks.append(json_bytes({"role": "user", "content": note}))
    return chunks if dialect.user_after_tool else list(_parted(chunks))


def _sent(request: ModelRequest, spelling: str) -> tuple[list[bytes], int]:
    """What was sent of these messages before, as one chunk, and how many they are: since then came at most a round, and a
    user's message with the answer before it."""
    messages = request.messages
    most = len(messages)
    for end in (most - 2, most, most - 4):
        sent: _Sent | None = vars(messages[end - 1]).get(_SENT) if end > 0 else None
        if (
            sent is not None
            and (end == most or messages[end].role != "tool")  # else there are more results of the same calls
            and (sent.spelling, sent.instructions) == (spelling, request.instructions)
            and sent.before == messages[: end - 1]
        ):
            return [sent.written], end
    return [], 0


def _keep(request: ModelRequest, done: int, spelling: str, written: bytes) -> None:
    """Keep what is sent, once: what was kept before goes, at the end of what is `done`, or wherever in the conversation."""
    messages = request.messages
    for message in messages[done - 1 : done] if done else messages:
        vars(message).pop(_SENT, None)
    vars(messages[-1])[_SENT] = _Sent(spelling, request.instructions, messages[:-1], written)


@lru_cache(maxsize=64)
def _system(instructions: str) -> bytes:
    """The instructions as a message. They are the same from round to round and mostly from turn to turn."""
    return json_bytes({"role": "system", "content": instructions})


def _parted(chunks: Sequence[bytes]) -> Iterator[bytes]:
    """The messages with a word of the assistant's between a result and a user."""
    before = b""
    for chunk in chunks:
        if chunk.startswith(b'{"role":"user"') and before.startswith(b'{"role":"tool"'):
            yield _BETWEEN
        yield chunk
        before = chunk


def _answers(messages: list[Message], asked: tuple[_Asked, ...], spelling: str) -> Sequence[bytes]:
    """The results of the calls before, one for each, in the order asked: what is missing is made up, the rest dropped."""
    if not asked:
        return ()
    if len(messages) == 1:
        kept: _Kept | None = vars(messages[0]).get(spelling)
        if kept is None or (kept.asked is not asked and kept.asked != asked):
            kept = _Kept(tuple(_results(messages[0].results, asked)), asked)
            vars(messages[0])[spelling] = kept
        return kept.chunks
    return tuple(_results([result for message in messages for result in message.results], asked))


def _results(results: Sequence[ToolResult], asked: tuple[_Asked, ...]) -> Iterator[bytes]:
    pictures: list[Any] = []
    for call, result in zip(asked, answered(results, asked), strict=True):
        text = result.text
        media = [part for part in result.content if not isinstance(part, Text)]
        if media:
            # A tool message holds text only; what can be seen follows in a user's message, once all calls are answered.
            label = f"Attached by {call.name}, call {call.wire_id}:"
            pictures += [{"type": "text", "text": label}, *map(_content_part, media)]
            text = text or "(see the attachment below)"
        yield json_bytes({"role": "tool", "tool_call_id": call.wire_id, "content": text})
    if pictures:
        yield json_bytes({"role": "user", "content": pictures})


def _user(message: Message) -> _Kept:
    parts = [part for part in message.parts if isinstance(part, Text | Image | File)]
    if not parts:
        return _Kept(())
    content: Any
    if all(isinstance(part, Text) for part in parts):
        # A plain string: every server takes it, and many take nothing else.
        content = "\n\n".join(part.text for part in parts if isinstance(part, Text))
    else:
        content = [_content_part(part) for part in parts]
    return _Kept((json_bytes({"role": "user", "content": content}),))


def _assistant(message: Message, dialect: Dialect) -> _Kept:
    text = "".join(map(_said, message.parts))
    calls = message.calls
    if not calls and not text:
        # Nothing to say back (it only thought, or was cut off before its first word): an empty message is refused.
        return _Kept(())
    details, extras = sealed_by(message, dialect.provider if dialect.sealed_back else None)
    body: dict[str, Any] = {"role": "assistant", "content": text or (None if dialect.no_text == "null" else "")}
    if details:
        body["reasoning_details"] = details
    if not calls:
        return _Kept((json_bytes(body),))
    if dialect.google_seal and not extras:
        extras = {0: GOOGLE_UNSEALED}
    if dialect.thinking_field:
        body[dialect.thinking_field] = "".join(part.text for part in message.parts if isinstance(part, Thinking))
    asked = _wire_ids(calls, dialect)
    body["tool_calls"] = [
        _call(call, one, extras.get(place)) for place, (call, one) in enumerate(zip(calls, asked, strict=True))
    ]
    return _Kept((json_bytes(body),), asked)


def _call(call: ToolCall, asked: _Asked, extra: Any) -> dict[str, Any]:
    function = {"name": asked.name, "arguments": arguments_text(call.arguments)}
    made: dict[str, Any] = {"id": asked.wire_id, "type": "function", "function": function}
    return made if extra is None else {**made, "extra_content": extra}


def _said(part: Part) -> str:
    match part:
        case ToolCall():  # what is nearly always asked comes first: a no costs more than the rest
            return ""
        case Text(text):
            return text
        case Image() | File():
            return "(an attachment of the assistant's)"
        case _:
            return ""


def _wire_ids(calls: Sequence[ToolCall], dialect: Dialect) -> tuple[_Asked, ...]:
    """The calls with the ids they have on the wire: the provider's own where usable and unique, else made from ours."""
    given = [call.wire_id for call in calls]
    asked: list[_Asked] = []
    for call in calls:
        wire_id = call.wire_id or ""
        if not _CALL_IDS[dialect.call_ids].fullmatch(wire_id) or given.count(wire_id) > 1:
            wire_id = _own_wire_id(call.id, dialect)
        asked.append(_Asked(call.id, wire_id, legal_name(call.name)))
    return tuple(asked)


def _own_wire_id(call_id: str, dialect: Dialect) -> str:
    """Our own id in letters every server takes; the same one each time."""
    if dialect.call_ids != "nine" and _OWN_ID.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode()).hexdigest()
    return digest[:9] if dialect.call_ids == "nine" else f"call_{digest[:24]}"


def _content_part(part: Text | Image | File) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image() if part.url or part.data:
            return {"type": "image_url", "image_url": {"url": part.url or data_url(part.media_type, part.data)}}
        case File() if part.data is not None:
            name = part.name or "document"
            return {"type": "file", "file": {"filename": name, "file_data": data_url(part.media_type, part.data)}}
        case Image():
            return {"type": "text", "text": "(an attachment that is no longer here)"}
        case File():
            return {"type": "text", "text": f"(document {part.name or ''}: {part.url or 'no longer here'})"}


class _Menu(msgspec.Struct, frozen=True):
    """What is kept of encoded tools: of which, for which servers, and how they are written."""

    tools: tuple[Contract, ...]
    strict: bool
    not_strict: frozenset[str]
    written: msgspec.Raw


def _tools(tools: tuple[Contract, ...], dialect: Dialect) -> msgspec.Raw:
    """All tools. They are the same from round to round and mostly from turn to turn: kept with the first of them."""
    menu: _Menu | None = vars(tools[0]).get("openai_chat/menu")
    if (
        menu is None
        or menu.tools is not tools
        or (menu.strict, menu.not_strict) != (dialect.strict, dialect.not_strict)
    ):
        written = _array([_tool(contract, dialect) for contract in tools])
        menu = _Menu(tools, dialect.strict, dialect.not_strict, written)
        vars(tools[0])["openai_chat/menu"] = menu
    return menu.written


def _tool(contract: Contract, dialect: Dialect) -> bytes:
    kept_as = f"openai_chat/{goes_strict(contract, dialect):d}"
    kept: bytes | None = vars(contract).get(kept_as)
    if kept is None:
        form = tool_form(contract, dialect)
        function = {"name": contract.name, "description": contract.description, "parameters": form.schema}
        kept = json_bytes({"type": "function", "function": {**function, "strict": True} if form.strict else function})
        vars(contract)[kept_as] = kept
    return kept


def _array(chunks: Sequence[bytes]) -> msgspec.Raw:
    return msgspec.Raw(b"[" + b",".join(chunks) + b"]")
