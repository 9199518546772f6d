"""A neutral request as the body of an OpenAI response. The rules it follows stand at the top of `openai_responses`.

Pure: no I/O and no provider's state. What a message is written as is `openai_responses_items`; here stand the order and the
pairing of messages, the tools, the choice among them, and the settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.conversation import Message, Text
from tukang.errors import ConfigurationError
from tukang.models.adapting import json_bytes
from tukang.models.base import ModelRequest, Settings
from tukang.models.openai_responses_dialect import Dialect
from tukang.models.openai_responses_hosted import hosted_tools, included
from tukang.models.openai_responses_items import Asked, Kept, assistant_items, decision_items, result_items, user_item
from tukang.models.openai_settings import cache_key, check_tools, output_format
from tukang.models.openai_strict import goes_strict, tool_form
from tukang.tools.contract import Contract

_NOTHING_SAID = json_bytes({"role": "user", "content": "(nothing was said)"})


def check(request: ModelRequest, dialect: Dialect) -> None:
    """Refuse what this protocol cannot do, before anything is sent.

    Raises:
        ConfigurationError: `stop` is set, a background response is asked for, there are more tools than the server takes,
            or `returns` does not describe an object.
    """
    if request.settings.stop:
        raise ConfigurationError(
            "Settings(stop=…): the Responses protocol has no stop texts. Leave it out, or use the same model as openai:…"
        )
    if request.settings.extra.get("background"):
        raise ConfigurationError(
            "Settings(extra={'background': …}): a background response has to be polled for, which a turn does not do."
        )
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
    extra = dict(request.settings.extra)
    body: dict[str, Any] = {"model": model}
    if stream:
        body["stream"] = True
    if dialect.takes_store:
        body["store"] = False
    sealed = ["reasoning.encrypted_content"] if dialect.sealed else []
    include = [*sealed, *included(request, dialect), *extra.pop("include", ())]
    if include:
        body["include"] = list(dict.fromkeys(include))
    if request.instructions:
        body["instructions"] = request.instructions
    hosted = [*hosted_tools(request, dialect), *extra.pop("tools", ())]
    tools = [*(_tool(contract, dialect) for contract in request.tools), *map(json_bytes, hosted)]
    if tools:
        body["tools"] = _array(tools)
        _add_choice(body, request)
    body["input"] = _array(_items(request, dialect) or [_NOTHING_SAID])
    if request.conversation and request.settings.cache and dialect.cache_key:
        body["prompt_cache_key"] = cache_key(request.conversation)
    _add_settings(body, request.settings, dialect)
    if request.returns is not None:
        body["text"] = {"format": {"type": "json_schema", **output_format(request.returns)}}
    for field in ("reasoning", "text"):
        given = extra.get(field)
        if isinstance(given, Mapping) and field in body:
            extra[field] = {**body[field], **cast("Mapping[str, Any]", given)}
    body.update(extra)
    return json_bytes(body)


def _add_choice(body: dict[str, Any], request: ModelRequest) -> None:
    choice = "none" if request.tools_off else request.tool_choice
    if choice in ("none", "required"):
        body["tool_choice"] = choice
    elif choice != "auto":
        body["tool_choice"] = {"type": "function", "name": choice}
    if request.settings.parallel_calls is not None:
        body["parallel_tool_calls"] = request.settings.parallel_calls


def _add_settings(body: dict[str, Any], settings: Settings, dialect: Dialect) -> None:
    if settings.temperature is not None and dialect.sampling:
        body["temperature"] = settings.temperature
    if settings.top_p is not None and dialect.sampling:
        body["top_p"] = settings.top_p
    if settings.max_tokens is not None:
        body["max_output_tokens"] = settings.max_tokens
    think = settings.think
    if think is False and dialect.least_effort is not None:
        body["reasoning"] = {"effort": dialect.least_effort}
    elif think:
        body["reasoning"] = {"effort": think if isinstance(think, str) else "medium"}
        if dialect.summary:
            body["reasoning"]["summary"] = "auto"


# ── messages, in the order and pairing the protocol wants ────────────────────────────────────────────────────────────


def _items(request: ModelRequest, dialect: Dialect) -> list[bytes]:
    chunks: list[bytes] = []
    open_calls: tuple[Asked, ...] = ()
    answers: list[Message] = []
    ids: set[str] = set()
    ends_with: Message | None = None  # a user's message whose chunk is the last one
    for place, message in enumerate(request.messages):
        if message.role == "tool":
            answers.append(message)
            continue
        chunks += _answers(answers, open_calls, dialect, after=request.messages[place:])
        answers.clear()
        kept = _kept(message, dialect)
        if kept.ids:
            if not ids.isdisjoint(kept.ids):
                # The same reply stands in the conversation twice: an item id must not.
                kept = assistant_items(message, dialect, copied=True)
            ids.update(kept.ids)
        open_calls = kept.asked
        chunks += kept.chunks
        ends_with = message if message.role == "user" and kept.chunks else None
    chunks += _answers(answers, open_calls, dialect)
    if request.note:
        # After a user's message the note joins it: some servers insist that roles alternate.
        if ends_with is not None:
            chunks[-1:] = user_item(Message("user", (*ends_with.parts, Text(request.note)))).chunks
        else:
            chunks.append(json_bytes({"role": "user", "content": request.note}))
    return chunks


def _kept(message: Message, dialect: Dialect) -> Kept:
    kept: Kept | None = vars(message).get(dialect.spelling)
    if kept is None:
        kept = assistant_items(message, dialect) if message.role == "assistant" else user_item(message)
        vars(message)[dialect.spelling] = kept
    return kept


def _answers(
    messages: list[Message], asked: tuple[Asked, ...], dialect: Dialect, after: Sequence[Message] = ()
) -> Sequence[bytes]:
    """The results of the calls before, one for each, in the order asked: what is missing is made up, the rest dropped."""
    if not asked:
        return ()
    if any(one.request for one in asked):
        return tuple(
            decision_items([result for message in messages for result in message.results], asked, dialect, after)
        )
    if len(messages) == 1:
        kept: Kept | None = vars(messages[0]).get(dialect.spelling)
        if kept is None or (kept.asked is not asked and kept.asked != asked):
            kept = Kept(tuple(result_items(messages[0].results, asked, dialect)), asked)
            vars(messages[0])[dialect.spelling] = kept
        return kept.chunks
    return tuple(result_items([result for message in messages for result in message.results], asked, dialect))


def _tool(contract: Contract, dialect: Dialect) -> bytes:
    kept_as = f"openai_responses/{goes_strict(contract, dialect):d}"
    kept: bytes | None = vars(contract).get(kept_as)
    if kept is None:
        form = tool_form(contract, dialect)
        kept = json_bytes(
            {
                "type": "function",
                "name": contract.name,
                "description": contract.description,
                "parameters": form.schema,
                "strict": form.strict,
            }
        )
        vars(contract)[kept_as] = kept
    return kept


def _array(chunks: Sequence[bytes]) -> msgspec.Raw:
    return msgspec.Raw(b"[" + b",".join(chunks) + b"]")
