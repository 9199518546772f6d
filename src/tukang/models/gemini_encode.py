"""A neutral request as the body of Gemini's `generateContent`. The rules it follows stand at the top of `gemini`.

Pure: no I/O and no provider's state. The bytes of a message's parts are kept in the message's own dictionary, one entry per
spelling (`Dialect.spelling`), so a request costs a join of what is there and the encoding of what is new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.conversation import Message, Opaque, Text, Thinking, ToolCall
from tukang.errors import ConfigurationError
from tukang.models.adapting import arguments_object, json_bytes, legal_name
from tukang.models.base import ModelRequest, Settings
from tukang.models.gemini_hosted import add_hosted
from tukang.models.gemini_parts import Asked, is_seal, own_part, result_parts, shown
from tukang.models.schemas import Keywords, narrowed
from tukang.tools.contract import Contract

KEYWORDS = Keywords(
    kept=frozenset(
        {"additionalProperties", "format", "maxItems", "maximum", "minItems", "minimum", "prefixItems", "title"}
    ),
    formats=frozenset({"date", "date-time", "time", "double", "float", "int32", "int64"}),
    enums=(str, int, float),
)
"""What Gemini takes of JSON Schema. Source: https://ai.google.dev/api/generate-content#FIELDS.response_json_schema"""

MOST_STOPS = 5
"""Texts that may end a reply. Source: https://ai.google.dev/api/generate-content#generationconfig"""

DEEPEST = 20
"""Levels of nesting in arguments and results: Google's servers stop reading at about a hundred, and use three for each."""

UNSEALED = "skip_thought_signature_validator"
"""What stands for the seal of a call that Gemini did not make. Source: https://ai.google.dev/gemini-api/docs/thought-signatures,
"Frequently asked questions": for a history that comes from another model."""

_BUDGETS = {"low": 1024, "medium": 8192, "high": 24576}
_GENERATION = re.compile(r"(?:.*/)?gemini-(\d+)")

_OPENING = b'{"text":"(Earlier messages are not shown.)"}'
_GO_ON = b'{"text":"Go on."}'

_encode = json_bytes


class Dialect(msgspec.Struct, frozen=True):
    """Where generations of Gemini differ.

    Args:
        levels: from Gemini 3 on, thinking is set by a level, calls must come back sealed, functions may return pictures, and
            structured output goes beside tools. Before, thinking is set by a budget of tokens.
        lowest: the least thinking there is: a level, or a budget as digits.
    """

    levels: bool = True
    lowest: str = "low"

    @property
    def spelling(self) -> str:
        """The name under which encoded messages are kept: all that changes how a message is written."""
        return f"gemini/{self.levels}"


def dialect_for(model: str) -> Dialect:
    """What is known beforehand of a model. A name without a number (`gemini-flash-latest`) is a new one.

    Source: https://ai.google.dev/gemini-api/docs/thinking: Gemini 3 cannot be told not to think; 2.5 can, except Pro.
    """
    generation = _GENERATION.match(model)
    if generation is not None and int(generation[1]) < 3:
        return Dialect(levels=False, lowest="128" if "pro" in model else "0")
    return Dialect(lowest="minimal" if "lite" in model else "low")


def encode_request(request: ModelRequest, dialect: Dialect) -> bytes:
    """The whole body. The model's name and whether to stream stand in the address, not here.

    Raises:
        ConfigurationError: `tool_choice` names a tool that is not on offer, or there are more `stop` texts than Gemini takes.
    """
    body: dict[str, Any] = {}
    if instructions := _instructions(request, dialect):
        body["systemInstruction"] = {"parts": [{"text": instructions}]}
    body["contents"] = _array(_contents(request, dialect))
    if request.tools:
        body["tools"] = [{"functionDeclarations": _array([_tool(contract) for contract in request.tools])}]
        if choice := _choice(request):
            body["toolConfig"] = {"functionCallingConfig": choice}
    if not request.tools_off and request.tool_choice != "none":  # the mode is about functions only
        add_hosted(body, request, with_functions=dialect.levels)
    config = _config(request.settings, dialect)
    if request.returns is not None and _natively(request, dialect):
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = narrowed(request.returns, KEYWORDS)
    if config:
        body["generationConfig"] = config
    _add_extra(body, request.settings.extra)
    return _encode(body)


def _choice(request: ModelRequest) -> dict[str, Any]:
    choice = "none" if request.tools_off else request.tool_choice
    match choice:
        case "auto":
            return {}
        case "none":
            return {"mode": "NONE"}
        case "required":
            return {"mode": "ANY"}
        case _ if any(tool.name == choice for tool in request.tools):
            return {"mode": "ANY", "allowedFunctionNames": [choice]}
        case _:
            offered = ", ".join(tool.name for tool in request.tools)
            raise ConfigurationError(f"tool_choice {choice!r} names no tool on offer; there are: {offered}")


def _config(settings: Settings, dialect: Dialect) -> dict[str, Any]:
    if len(settings.stop) > MOST_STOPS:
        raise ConfigurationError(f"Settings(stop=…) has {len(settings.stop)} texts; Gemini takes at most {MOST_STOPS}")
    config = {
        "temperature": settings.temperature,
        "topP": settings.top_p,
        "maxOutputTokens": settings.max_tokens,
        "stopSequences": settings.stop or None,
        "seed": settings.seed,
        "thinkingConfig": _thinking(settings, dialect),
    }
    return {name: value for name, value in config.items() if value is not None}


def _thinking(settings: Settings, dialect: Dialect) -> dict[str, Any] | None:
    match settings.think:
        case None:
            return None
        case False if dialect.levels:
            return {"thinkingLevel": dialect.lowest}
        case False:
            return {"thinkingBudget": int(dialect.lowest)}
        case True:
            return {"includeThoughts": True} | ({} if dialect.levels else {"thinkingBudget": -1})
        case level if dialect.levels:
            return {"includeThoughts": True, "thinkingLevel": level}
        case level:
            return {"includeThoughts": True, "thinkingBudget": _BUDGETS[level]}


def _natively(request: ModelRequest, dialect: Dialect) -> bool:
    """Whether a JSON Schema for the reply goes into its field: before Gemini 3 that is refused beside tools."""
    return dialect.levels or not request.tools


def _instructions(request: ModelRequest, dialect: Dialect) -> str:
    said = [request.instructions] if request.instructions else []
    if request.tools and request.settings.parallel_calls is False:
        said.append("Call at most one function in each reply.")
    if request.returns is not None and not _natively(request, dialect):
        schema = _encode(request.returns).decode()
        said.append(f"When you answer, answer with JSON alone, following this JSON Schema:\n{schema}")
    return "\n\n".join(said)


def _add_extra(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """The user's own fields: what is an object in both is merged, lists (tools) are joined, else theirs wins."""
    for name, value in extra.items():
        mine = body.get(name)
        if isinstance(mine, dict) and isinstance(value, Mapping):
            body[name] = {**cast("dict[str, Any]", mine), **cast("Mapping[str, Any]", value)}
        elif isinstance(mine, list) and isinstance(value, list):
            body[name] = [*cast("list[Any]", mine), *cast("list[Any]", value)]
        else:
            body[name] = value


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of an encoded message. `asked` is what a model's message asks, and what a tool message answers."""

    parts: tuple[bytes, ...]
    asked: tuple[Asked, ...] = ()


def _contents(request: ModelRequest, dialect: Dialect) -> list[bytes]:
    """The conversation as Gemini wants it: roles alternate, a user's comes first and last."""
    turns: list[tuple[str, list[bytes]]] = []
    open_calls: tuple[Asked, ...] = ()
    answers: list[Message] = []
    for message in request.messages:
        if message.role == "tool":
            answers.append(message)
            continue
        _join(turns, "user", _answers(answers, open_calls, dialect))
        answers.clear()
        kept: _Kept | None = vars(message).get(dialect.spelling)
        if kept is None:
            kept = _model(message, dialect) if message.role == "assistant" else _user(message)
            vars(message)[dialect.spelling] = kept
        open_calls = kept.asked
        _join(turns, "model" if message.role == "assistant" else "user", kept.parts)
    _join(turns, "user", _answers(answers, open_calls, dialect))
    if request.note:
        _join(turns, "user", [_encode({"text": request.note})])
    if not turns or turns[0][0] == "model":
        turns.insert(0, ("user", [_OPENING]))
    if turns[-1][0] == "model":
        turns.append(("user", [_GO_ON]))
    return [b'{"role":"%s","parts":[%s]}' % (role.encode(), b",".join(parts)) for role, parts in turns]


def _join(turns: list[tuple[str, list[bytes]]], role: str, parts: Sequence[bytes]) -> None:
    if parts and turns and turns[-1][0] == role:
        turns[-1][1].extend(parts)
    elif parts:
        turns.append((role, list(parts)))


def _answers(messages: list[Message], asked: tuple[Asked, ...], dialect: Dialect) -> Sequence[bytes]:
    """The results of the calls before, one for each, in the order asked."""
    if not asked:
        return ()
    if len(messages) == 1:
        kept: _Kept | None = vars(messages[0]).get(dialect.spelling)
        if kept is None or (kept.asked is not asked and kept.asked != asked):
            parts = result_parts(messages[0].results, asked, media_inside=dialect.levels, deepest=DEEPEST)
            kept = _Kept(tuple(map(_encode, parts)), asked)
            vars(messages[0])[dialect.spelling] = kept
        return kept.parts
    results = [result for message in messages for result in message.results]
    return tuple(map(_encode, result_parts(results, asked, media_inside=dialect.levels, deepest=DEEPEST)))


def _user(message: Message) -> _Kept:
    return _Kept(tuple(_encode(part) for one in message.parts if (part := shown(one)) is not None))


def _model(message: Message, dialect: Dialect) -> _Kept:
    """A reply as it came: parts in their order, each with its seal."""
    given = [call.wire_id for call in message.calls]
    asked: list[Asked] = []
    wire: list[dict[str, Any]] = []
    renamed: dict[str, Any] | None = None
    for part in message.parts:
        match part:
            case ToolCall(wire_id=wire_id):
                wire_id = wire_id if wire_id and given.count(wire_id) == 1 else None
                call = Asked(part.id, wire_id, legal_name(part.name))
                asked.append(call)
                arguments = arguments_object(part.arguments, DEEPEST)
                wire.append({"functionCall": call.labels | {"name": call.name, "args": arguments}})
                renamed = wire[-1] if call.name != part.name else renamed
            case Opaque() if renamed is not None and wire[-1] is renamed and is_seal(part):
                pass  # it seals the call as Gemini made it, and that is not the call that is sent
            case Text():
                if part.text:
                    wire.append({"text": part.text})
            case Thinking(text=text, signature=signature, provider="gemini") if signature:
                wire.append({"text": text, "thought": True, "thoughtSignature": signature})
            case _:
                own_part(part, wire)
    first = next((one for one in wire if "functionCall" in one), None)
    if first is not None and dialect.levels:
        first.setdefault("thoughtSignature", UNSEALED)
    return _Kept(tuple(map(_encode, wire)), tuple(asked))


def _tool(contract: Contract) -> bytes:
    kept: bytes | None = vars(contract).get("gemini")
    if kept is None:
        declared: dict[str, Any] = {"name": contract.name, "description": contract.description}
        schema = narrowed(contract.parameters, KEYWORDS)
        if schema.get("properties") or schema.get("additionalProperties"):
            # Without parameters the field is left out: an object without properties has been refused.
            declared["parametersJsonSchema"] = schema
        kept = _encode(declared)
        vars(contract)["gemini"] = kept
    return kept


def _array(chunks: Sequence[bytes]) -> msgspec.Raw:
    return msgspec.Raw(b"[" + b",".join(chunks) + b"]")
