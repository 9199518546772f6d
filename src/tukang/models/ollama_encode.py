"""A neutral request as the body of Ollama's `/api/chat`. The rules it follows stand at the top of `ollama`.

Pure: no I/O and no provider's state. The bytes of a message are kept in the message's own dictionary, so a request costs a
join of what is there and the encoding of what is new.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.conversation import File, Image, Message, Part, Text, Thinking, ToolResult
from tukang.errors import ConfigurationError
from tukang.models.adapting import answered, arguments_object, json_bytes, legal_name
from tukang.models.base import ModelRequest, Settings
from tukang.models.schemas import Keywords, narrowed
from tukang.tools.contract import Contract

SPELLING = "ollama"
"""The name under which encoded messages are kept."""

KEYWORDS = Keywords()
"""What Ollama's server reads of a tool's schema; the rest it drops without a word (`ToolProperty` in its `api/types.go`)."""

_TEXTUAL = ("text/", "application/json", "application/xml", "application/yaml")

_encode = json_bytes


def encode_request(model: str, request: ModelRequest, stream: bool) -> bytes:
    """The whole body.

    Args:
        model: the model's name on the server.
        request: what to send.
        stream: whether to ask for a stream.

    Raises:
        ConfigurationError: `tool_choice` names a tool that is not on offer.
    """
    tools = offered(request)
    wanted = forced(request)
    body: dict[str, Any] = {"model": model, "stream": stream}
    body["messages"] = _array(_messages(request, tools, wanted))
    if tools:
        body["tools"] = _array([_tool(contract) for contract in tools])
    if wanted:
        body["format"] = _call_schema(wanted)
    elif request.returns is not None and not tools:
        body["format"] = request.returns
    _add_settings(body, request.settings)
    return _encode(body)


def encode_load(model: str, settings: Settings) -> bytes:
    """The body that has the model loaded, with the same options as later: others would load it a second time.

    Source: https://docs.ollama.com/faq, "How can I preload a model into Ollama".
    """
    body: dict[str, Any] = {"model": model, "stream": False}
    _add_settings(body, settings)
    return _encode({name: body[name] for name in ("model", "stream", "options", "keep_alive") if name in body})


def offered(request: ModelRequest) -> tuple[Contract, ...]:
    """The tools that are listed: none where no call may come back, which is all this protocol has for it."""
    return () if request.tools_off or request.tool_choice == "none" else request.tools


def forced(request: ModelRequest) -> tuple[Contract, ...]:
    """The tools one of which must be called; empty where none must.

    Raises:
        ConfigurationError: `tool_choice` names a tool that is not on offer.
    """
    tools, choice = offered(request), request.tool_choice
    if not tools or choice == "auto":
        return ()
    wanted = tools if choice == "required" else tuple(tool for tool in tools if tool.name == choice)
    if not wanted:
        raise ConfigurationError(
            f"tool_choice {choice!r} names no tool on offer; there are: {', '.join(tool.name for tool in tools)}"
        )
    return wanted


def _add_settings(body: dict[str, Any], settings: Settings) -> None:
    if settings.think is not None:
        body["think"] = settings.think
    options: dict[str, Any] = {}
    if settings.temperature is not None:
        options["temperature"] = settings.temperature
    if settings.max_tokens is not None:
        options["num_predict"] = settings.max_tokens
    if settings.top_p is not None:
        options["top_p"] = settings.top_p
    if settings.stop:
        options["stop"] = settings.stop
    if settings.seed is not None:
        options["seed"] = settings.seed
    extra = dict(settings.extra)
    own = extra.pop("options", None)
    if isinstance(own, Mapping):
        options.update(cast("Mapping[str, Any]", own))
    if options:
        body["options"] = options
    body.update(extra)


# ── what has no field, said in words ─────────────────────────────────────────────────────────────────────────────────


def _call_schema(wanted: Sequence[Contract]) -> dict[str, Any]:
    """A JSON Schema of one call of one of these tools: the server makes a grammar of it."""
    choices: list[dict[str, Any]] = [
        {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": [tool.name]}, "arguments": _parameters(tool)},
            "required": ["name", "arguments"],
        }
        for tool in wanted
    ]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _instructions(request: ModelRequest, tools: Sequence[Contract]) -> str:
    said = [request.instructions] if request.instructions else []
    if tools and request.settings.parallel_calls is False:
        said.append("Call at most one tool in each reply.")
    if tools and request.returns is not None:
        schema = _encode(request.returns).decode()
        said.append(f"When you answer, answer with JSON alone, following this JSON Schema:\n{schema}")
    return "\n\n".join(said)


def _closing(request: ModelRequest, wanted: Sequence[Contract]) -> str:
    """What is said after the conversation, for this request only."""
    said = [request.note] if request.note else []
    if wanted:
        names = " or ".join(tool.name for tool in wanted)
        said.append(f'Call a tool now: {names}. Write {{"name": …, "arguments": {{…}}}} and nothing else.')
    return "\n\n".join(said)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Asked(msgspec.Struct, frozen=True):
    """One call of the assistant message before: our id, the provider's where there is one, and the tool's name."""

    id: str
    wire_id: str | None
    name: str


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of an encoded message. `asked` is what an assistant message asks, and what a tool message answers."""

    chunks: tuple[bytes, ...]
    asked: tuple[_Asked, ...] = ()


def _messages(request: ModelRequest, tools: Sequence[Contract], wanted: Sequence[Contract]) -> list[bytes]:
    chunks: list[bytes] = []
    instructions = _instructions(request, tools)
    if instructions:
        chunks.append(_encode({"role": "system", "content": instructions}))
    open_calls: tuple[_Asked, ...] = ()
    answers: list[Message] = []
    ends_with: Message | None = None  # a user's message whose chunk is the last one
    for message in request.messages:
        if message.role == "tool":
            answers.append(message)
            continue
        chunks += _answers(answers, open_calls)
        answers.clear()
        kept: _Kept | None = vars(message).get(SPELLING)
        if kept is None:
            kept = _assistant(message) if message.role == "assistant" else _user(message)
            vars(message)[SPELLING] = kept
        open_calls = kept.asked
        chunks += kept.chunks
        ends_with = message if message.role == "user" and kept.chunks else None
    chunks += _answers(answers, open_calls)
    closing = _closing(request, wanted)
    if closing and ends_with is not None:
        # After a user's message it joins that one: some chat templates insist that roles alternate.
        chunks[-1:] = _user(Message("user", (*ends_with.parts, Text(closing)))).chunks
    elif closing or not chunks:
        # Without any message the server would only load the model.
        chunks.append(_encode({"role": "user", "content": closing}))
    return chunks


def _answers(messages: list[Message], asked: tuple[_Asked, ...]) -> Sequence[bytes]:
    """The results of the calls before, one for each, in the order asked."""
    if not asked:
        return ()
    if len(messages) == 1:
        kept: _Kept | None = vars(messages[0]).get(SPELLING)
        if kept is None or (kept.asked is not asked and kept.asked != asked):
            kept = _Kept(tuple(_results(messages[0].results, asked)), asked)
            vars(messages[0])[SPELLING] = kept
        return kept.chunks
    return tuple(_results([result for message in messages for result in message.results], asked))


def _results(results: Sequence[ToolResult], asked: tuple[_Asked, ...]) -> Iterator[bytes]:
    pictures: list[Part] = []
    for call, result in zip(asked, answered(results, asked), strict=True):
        media = [part for part in result.content if isinstance(part, Image) and part.data]
        text = "\n".join(filter(None, map(_readable, result.content)))
        if media:
            # Chat templates place pictures in users' messages only; they follow once all calls are answered.
            pictures += [Text(f"Attached by {call.name}:"), *media]
            text = text or "(see the picture below)"
        body: dict[str, Any] = {"role": "tool", "content": text, "tool_name": call.name}
        if call.wire_id is not None:
            body["tool_call_id"] = call.wire_id
        yield _encode(body)
    if pictures:
        yield from _user(Message("user", tuple(pictures))).chunks


def _user(message: Message) -> _Kept:
    text = "\n\n".join(filter(None, map(_readable, message.parts)))
    images = [base64.b64encode(part.data).decode() for part in message.parts if isinstance(part, Image) and part.data]
    if not text and not images:
        return _Kept(())
    body: dict[str, Any] = {"role": "user", "content": text}
    if images:
        body["images"] = images
    return _Kept((_encode(body),))


def _assistant(message: Message) -> _Kept:
    text = "".join(map(_said, message.parts))
    calls = message.calls
    if not calls:
        # Nothing to say back (it only thought, or was cut off before its first word): it would read as an empty reply.
        return _Kept((_encode({"role": "assistant", "content": text}),) if text else ())
    given = [call.wire_id for call in calls]
    asked = tuple(
        _Asked(
            call.id, call.wire_id if call.wire_id and given.count(call.wire_id) == 1 else None, legal_name(call.name)
        )
        for call in calls
    )
    body: dict[str, Any] = {"role": "assistant", "content": text}
    if thinking := "".join(map(_thought, message.parts)):
        body["thinking"] = thinking
    body["tool_calls"] = [
        ({} if one.wire_id is None else {"id": one.wire_id})
        | {"function": {"name": one.name, "arguments": arguments_object(call.arguments)}}
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


def _thought(part: Part) -> str:
    """Reasoning that is words and nobody's secret: signed or redacted thinking is for its own provider only."""
    if isinstance(part, Thinking) and part.signature is None and not part.redacted:
        return part.text if part.provider in (None, "ollama") else ""
    return ""


def _readable(part: Part) -> str:
    """A part as words. Pictures with data go beside them; anything else that is not text is named."""
    match part:
        case Text(text):
            return text
        case Image(url=url) if not part.data:
            return f"(picture: {url or 'no longer here'})"
        case File(media_type=kind, data=data) if data is not None and kind.startswith(_TEXTUAL):
            return f"{part.name or 'document'}:\n{data.decode('utf-8', 'replace')}"
        case File():
            why = f"of type {part.media_type}, which cannot be read here" if part.data is not None else "not attached"
            return f"(document {part.name or ''} {part.url or ''}: {why})"
        case _:
            return ""


def _tool(contract: Contract) -> bytes:
    kept: bytes | None = vars(contract).get(SPELLING)
    if kept is None:
        parameters = _parameters(contract)
        function = {"name": contract.name, "description": contract.description, "parameters": parameters}
        kept = _encode({"type": "function", "function": function})
        vars(contract)[SPELLING] = kept
    return kept


def _parameters(contract: Contract) -> dict[str, Any]:
    schema = narrowed(contract.parameters, KEYWORDS)
    # The server's own type has these two and no description: what is said there goes nowhere.
    whole: dict[str, Any] = {"type": "object", "properties": {}}
    return whole | schema


def _array(chunks: Sequence[bytes]) -> msgspec.Raw:
    return msgspec.Raw(b"[" + b",".join(chunks) + b"]")
