"""A neutral request as the body of an OpenAI chat completion. The rules it follows stand at the top of `openai_chat`.

Pure: no I/O and no provider's state. The bytes of a message are kept in the message's own dictionary, one entry per
spelling (`Dialect.spelling`), so a request costs a join of what is there and the encoding of what is new.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from tukang.conversation import File, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from tukang.models.base import ModelRequest, Settings
from tukang.models.openai_settings import cache_key, output_format
from tukang.tools.contract import Contract
from tukang.tools.outcome import failed

_CALL_IDS = {
    "any": re.compile(r"[!-~]+"),
    "forty": re.compile(r"[!-~]{1,40}"),
    "nine": re.compile(r"[A-Za-z0-9]{9}"),
}
_OWN_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ONLY_NEW_LIMIT = re.compile(r"(?:.*/)?(?:o\d|gpt-[5-9]|gpt-\d\d)")

_json = msgspec.json.Encoder().encode

_INTERRUPTED = failed(
    "outcome_unknown",
    "This call was interrupted: whether it took effect is not known.",
    "Find out with another tool before you ask for it again.",
).content


class Dialect(msgspec.Struct, frozen=True):
    """Where servers that speak this protocol differ in what they accept.

    Args:
        limit_field: the name of the token limit. OpenAI's reasoning models refuse `max_tokens`, most other servers know
            nothing else.
        usage_in_stream: whether to ask for token counts in a stream (`stream_options`); without it, a server may send
            them anyway.
        call_ids: `any`, `forty` for OpenAI, which takes at most forty characters, or `nine` for Mistral, which takes
            exactly nine letters and digits. A provider's own id goes back as it came wherever that is possible.
        no_text: the content of an assistant message that only asks for calls. OpenAI sends and takes `null`; a few
            servers insist on a string.
        thinking_field: the field in which reasoning goes back beside the calls it led to; None to keep it here.
        cache_key: whether the server takes a `prompt_cache_key`; many refuse a field they do not know.
    """

    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage_in_stream: bool = True
    call_ids: Literal["any", "forty", "nine"] = "any"
    no_text: Literal["null", "empty"] = "null"
    thinking_field: Literal["reasoning_content", "reasoning"] | None = None
    cache_key: bool = False

    @property
    def spelling(self) -> str:
        """The name under which encoded messages are kept: all that changes how a message is written."""
        return f"openai_chat/{self.call_ids}/{self.no_text}/{self.thinking_field}"


def dialect_for(host: str, model: str) -> Dialect:
    """What is known beforehand of a server and a model.

    * `max_completion_tokens` for OpenAI's models from o1 and gpt-5 on, wherever they are served; `max_tokens` otherwise.
    * Mistral: ids of nine characters; token counts come without asking, and asking was long refused.
    * DeepSeek: `reasoning_content` must come back beside the calls it led to, and is ignored elsewhere.
    * OpenAI's own server takes a `prompt_cache_key`.
    """
    mistral = _served_by(host, "mistral.ai")
    openai = _served_by(host, "openai.com") or _served_by(host, "azure.com")
    return Dialect(
        limit_field="max_completion_tokens" if _ONLY_NEW_LIMIT.match(model) else "max_tokens",
        usage_in_stream=not mistral,
        call_ids="nine" if mistral else "forty" if openai else "any",
        thinking_field="reasoning_content" if _served_by(host, "deepseek.com") else None,
        cache_key=host == "api.openai.com",
    )


def learn(dialect: Dialect, complaint: str) -> Dialect:
    """What a refusal (status 400 or 422) teaches about the server: the dialect to try next, or the same one."""
    if "stream_options" in complaint:
        return msgspec.structs.replace(dialect, usage_in_stream=False)
    if "max_tokens" in complaint and "max_completion_tokens" in complaint:
        other = "max_tokens" if dialect.limit_field == "max_completion_tokens" else "max_completion_tokens"
        return msgspec.structs.replace(dialect, limit_field=other)
    if "length of 9" in complaint:
        return msgspec.structs.replace(dialect, call_ids="nine")
    if "reasoning_content" in complaint and "missing" in complaint.lower():
        return msgspec.structs.replace(dialect, thinking_field="reasoning_content")
    return dialect


def encode_request(model: str, request: ModelRequest, dialect: Dialect, stream: bool) -> bytes:
    """The whole body.

    Args:
        model: the model's name on the wire.
        request: what to send.
        dialect: see `Dialect`.
        stream: whether to ask for a stream.

    Raises:
        ConfigurationError: `returns` does not describe an object.
    """
    body: dict[str, Any] = {"model": model}
    if stream:
        body["stream"] = True
        if dialect.usage_in_stream:
            body["stream_options"] = {"include_usage": True}
    body["messages"] = _array(_messages(request, dialect))
    if request.tools:
        body["tools"] = _array([_tool(contract) for contract in request.tools])
        choice = "none" if request.tools_off else request.tool_choice
        if choice in ("none", "required"):
            body["tool_choice"] = choice
        elif choice != "auto":
            body["tool_choice"] = {"type": "function", "function": {"name": choice}}
        if request.settings.parallel_calls is not None:
            body["parallel_tool_calls"] = request.settings.parallel_calls
    if request.returns is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": output_format(request.returns)}
    if request.conversation and request.settings.cache and dialect.cache_key:
        body["prompt_cache_key"] = cache_key(request.conversation)
    _add_settings(body, request.settings, dialect)
    return _encode(body)


def _add_settings(body: dict[str, Any], settings: Settings, dialect: Dialect) -> None:
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.max_tokens is not None:
        body[dialect.limit_field] = settings.max_tokens
    if settings.top_p is not None:
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


def _messages(request: ModelRequest, dialect: Dialect) -> list[bytes]:
    chunks: list[bytes] = []
    if request.instructions:
        chunks.append(_encode({"role": "system", "content": request.instructions}))
    spelling = dialect.spelling
    open_calls: tuple[_Asked, ...] = ()
    answers: list[Message] = []
    ends_with: Message | None = None  # a user's message whose chunk is the last one
    for message in request.messages:
        if message.role == "tool":
            answers.append(message)
            continue
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
    if request.note:
        # After a user's message the note joins it: some servers insist that roles alternate.
        if ends_with is not None:
            chunks[-1:] = _user(Message("user", (*ends_with.parts, Text(request.note)))).chunks
        else:
            chunks.append(_encode({"role": "user", "content": request.note}))
    return chunks


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
    by_call: dict[str, ToolResult] = {}
    for result in results:
        by_call.setdefault(result.call_id, result)
    pictures: list[Any] = []
    for call in asked:
        result = by_call.get(call.id) or ToolResult(call.id, call.name, _INTERRUPTED, fault=True)
        text = result.text
        media = [part for part in result.content if not isinstance(part, Text)]
        if media:
            # A tool message holds text only; what can be seen follows in a user's message, once all calls are answered.
            label = f"Attached by {call.name}, call {call.wire_id}:"
            pictures += [{"type": "text", "text": label}, *map(_content_part, media)]
            text = text or "(see the attachment below)"
        yield _encode({"role": "tool", "tool_call_id": call.wire_id, "content": text})
    if pictures:
        yield _encode({"role": "user", "content": pictures})


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
    return _Kept((_encode({"role": "user", "content": content}),))


def _assistant(message: Message, dialect: Dialect) -> _Kept:
    text = "".join(map(_said, message.parts))
    calls = message.calls
    if not calls:
        # Nothing to say back (it only thought, or was cut off before its first word): an empty message is refused.
        return _Kept((_encode({"role": "assistant", "content": text}),) if text else ())
    asked = _wire_ids(calls, dialect)
    body: dict[str, Any] = {"role": "assistant", "content": text or (None if dialect.no_text == "null" else "")}
    if dialect.thinking_field:
        body[dialect.thinking_field] = "".join(part.text for part in message.parts if isinstance(part, Thinking))
    body["tool_calls"] = [
        {
            "id": one.wire_id,
            "type": "function",
            "function": {"name": one.name, "arguments": _arguments(call.arguments)},
        }
        for call, one in zip(calls, asked, strict=True)
    ]
    return _Kept((_encode(body),), asked)


def _said(part: Part) -> str:
    match part:
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
        asked.append(_Asked(call.id, wire_id, _name(call.name)))
    return tuple(asked)


def _own_wire_id(call_id: str, dialect: Dialect) -> str:
    """Our own id in letters every server takes; the same one each time."""
    if dialect.call_ids != "nine" and _OWN_ID.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode()).hexdigest()
    return digest[:9] if dialect.call_ids == "nine" else f"call_{digest[:24]}"


def _name(name: str) -> str:
    """A name as the protocol takes it back. A model may invent anything; sent as it is, it would poison the history."""
    return name if _NAME.fullmatch(name) else re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def _arguments(text: str) -> str:
    """Argument text as every server takes it back: a JSON object. Some parse it, and would refuse the history for ever."""
    if not text.strip() or text.strip() == "null":
        return "{}"
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        value = None
    return text if isinstance(value, dict) else _encode({"unreadable": text}).decode()


def _content_part(part: Text | Image | File) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image():
            return {"type": "image_url", "image_url": {"url": part.url or _data_url(part.media_type, part.data)}}
        case File() if part.data is not None:
            name = part.name or "document"
            return {"type": "file", "file": {"filename": name, "file_data": _data_url(part.media_type, part.data)}}
        case File():
            return {"type": "text", "text": f"(document {part.name or ''}: {part.url or 'no longer here'})"}


def _data_url(media_type: str, data: bytes | None) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data or b'').decode()}"


def _tool(contract: Contract) -> bytes:
    kept: bytes | None = vars(contract).get("openai_chat")
    if kept is None:
        function = {"name": contract.name, "description": contract.description, "parameters": contract.parameters}
        kept = _encode({"type": "function", "function": function})
        vars(contract)["openai_chat"] = kept
    return kept


def _encode(value: Any) -> bytes:
    try:
        return _json(value)
    except UnicodeEncodeError:
        # Half a surrogate pair, as a cut text may hold: one such character must not make a conversation unsendable.
        return json.dumps(value, ensure_ascii=False).encode(errors="replace")


def _array(chunks: Sequence[bytes]) -> msgspec.Raw:
    return msgspec.Raw(b"[" + b",".join(chunks) + b"]")


def _served_by(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)
