"""A neutral request as the body of a Converse request. The rules it follows stand at the top of `bedrock_converse`.

Pure: no I/O, no signature, no provider's state. The conversation itself is written by `bedrock_converse_messages`; here are
the system text, the tools, the settings, and what the protocol has no field for and is therefore said in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.errors import ConfigurationError
from tukang.models import anthropic_options
from tukang.models.adapting import json_bytes
from tukang.models.anthropic_schemas import (
    OPTIONAL_PARAMETERS,
    STRICT_TOOLS,
    UNION_PARAMETERS,
    Weight,
    format_schema,
    strict_schema,
    tool_schema,
    weigh,
)
from tukang.models.base import ModelRequest, Settings
from tukang.models.bedrock_converse_messages import CACHE_POINT, Written, write
from tukang.models.bedrock_dialect import Dialect
from tukang.models.schemas import inlined
from tukang.models.structured import as_text, demanded
from tukang.tools.contract import Contract

HIGHEST_TEMPERATURE = 1.0
_NO_TOOLS = "No tool can be used now: answer from what is known."
_ONE_CALL = "Ask for one tool at a time."
_AS_JSON = "The text of your answer is one JSON value that follows this JSON Schema, and nothing else: "
_GONE = "(No longer on offer: do not use it.)"

_encode = json_bytes


def encode_request(request: ModelRequest, dialect: Dialect) -> bytes:
    """The whole body; the model's id stands in the address.

    Args:
        request: what to send.
        dialect: what the model takes.

    Raises:
        ConfigurationError: a setting, a tool or `returns` is something that cannot be sent to this model.
    """
    cache = request.settings.cache
    notes = [request.note] if request.note and request.note.strip() else []
    notes += _said_of_choice(request, dialect)
    note = "\n".join(notes) or None
    written = write(request.messages, dialect, note, cache=cache)
    body: dict[str, Any] = {}
    if system := _system(request, dialect, note if written.after_results else None):
        body["system"] = system
    body["messages"] = written.messages
    if config := _tool_config(request, dialect, written):
        body["toolConfig"] = config
    _add_settings(body, request, dialect, thinks=written.sealed)
    if request.returns is not None and dialect.structured:
        schema = _encode(_format(request.returns, dialect)).decode()
        structure = {"jsonSchema": {"name": "answer", "schema": schema}}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
    return _encode(_joined(body, request.settings.extra))


def without_force(request: ModelRequest, dialect: Dialect) -> ModelRequest | None:
    """The request with the answer asked for as text that follows a schema, where its tool cannot be forced, or only at the
    cost of the thinking that was asked for; None where it is forced, or where the model has no structured output."""
    if dialect.claude is not None:
        return anthropic_options.without_force(request, replace(dialect.claude, forced=dialect.one_tool))
    tool = demanded(request)
    if tool is None or not dialect.structured or dialect.one_tool or (dialect.any_tool and len(request.tools) == 1):
        return None
    return as_text(request, tool)


def _joined(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The body with the user's own fields: objects are joined, lists continued, everything else replaced."""
    for key, value in extra.items():
        known = body.get(key)
        if isinstance(known, dict) and isinstance(value, Mapping):
            body[key] = _joined(cast("dict[str, Any]", known), cast("Mapping[str, Any]", value))
        elif isinstance(known, list) and isinstance(value, list):
            body[key] = [*cast("list[Any]", known), *cast("list[Any]", value)]
        else:
            body[key] = value
    return body


# ── system text, and what is said in words ───────────────────────────────────────────────────────────────────────────


def _system(request: ModelRequest, dialect: Dialect, note: str | None) -> list[Any]:
    texts = [request.instructions]
    if request.returns is not None and not dialect.structured:
        texts.append(_AS_JSON + _encode(request.returns).decode())
    if request.settings.parallel_calls is False and request.tools:
        texts.append(_ONE_CALL)
    blocks: list[Any] = [{"text": text} for text in texts if text.strip()]
    if blocks and request.settings.cache and dialect.cache != "none":
        blocks.append(msgspec.Raw(CACHE_POINT))
    return [*blocks, {"text": note}] if note else blocks


def _said_of_choice(request: ModelRequest, dialect: Dialect) -> list[str]:
    """What of `tool_choice` has to be said in words."""
    choice = _choice(request)
    if choice == "none":
        # The loop says why no tool can be used; without its note, somebody must say that none can.
        return [] if request.note or not request.tools else [_NO_TOOLS]
    if choice == "auto" or not request.tools or _native(choice, dialect):
        return []
    return ["Call a tool now." if choice == "required" else f"Call the tool {choice} now."]


def _choice(request: ModelRequest) -> str:
    return "none" if request.tools_off else request.tool_choice


def _native(choice: str, dialect: Dialect) -> bool:
    return dialect.any_tool if choice == "required" else dialect.one_tool


def _format(schema: Mapping[str, Any], dialect: Dialect) -> Mapping[str, Any]:
    return format_schema(schema) if dialect.claude is not None else inlined(schema)


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tool_config(request: ModelRequest, dialect: Dialect, written: Written) -> dict[str, Any] | None:
    """The tools on offer; None where there is nothing to offer and nothing in the conversation that needs them listed."""
    choice = _choice(request)
    tools: list[Any]
    if request.tools and (choice != "none" or written.tools):
        tools = _tools(request, dialect)
    elif written.tools:
        tools = [_gone(name) for name in written.tools]
    else:
        return None
    if request.settings.cache and dialect.cache == "all":
        tools.append(msgspec.Raw(CACHE_POINT))
    config: dict[str, Any] = {"tools": tools}
    if request.tools and choice not in ("none", "auto"):
        if choice != "required" and dialect.one_tool:
            config["toolChoice"] = {"tool": {"name": choice}}
        elif dialect.any_tool:
            config["toolChoice"] = {"any": {}}
    return config


def _gone(name: str) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "description": _GONE, "inputSchema": {"json": {"type": "object"}}}}


class _Tool(msgspec.Struct, frozen=True):
    """A contract, encoded. `strict` is None where strict mode would lose something of its schema."""

    plain: msgspec.Raw
    strict: msgspec.Raw | None
    weight: Weight


def _tools(request: ModelRequest, dialect: Dialect) -> list[Any]:
    """Every tool, strict where that loses nothing and there is room for it: one that has none is sent as an ordinary one."""
    claude = dialect.claude
    strict_allowed = claude is not None and claude.structured and claude.strict
    room = Weight()
    if strict_allowed and request.returns is not None:
        room = weigh(_format(request.returns, dialect))  # the reply's format is of the same grammar
    count = 0
    out: list[Any] = []
    for contract in request.tools:
        tool = _tool(contract, dialect)
        total = room + tool.weight
        fits = count < STRICT_TOOLS and total.optional <= OPTIONAL_PARAMETERS and total.unions <= UNION_PARAMETERS
        if strict_allowed and fits and tool.strict is not None:
            count, room = count + 1, total
            out.append(tool.strict)
        else:
            out.append(tool.plain)
    return out


def _tool(contract: Contract, dialect: Dialect) -> _Tool:
    key = f"bedrock/converse/{'claude' if dialect.claude is not None else 'others'}"
    tool: _Tool | None = vars(contract).get(key)
    if tool is None:
        if dialect.claude is None:
            schema, strict = inlined(contract.parameters), None
            schema.pop("$schema", None)
        else:
            schema, strict = tool_schema(contract.name, contract.parameters), strict_schema(contract.parameters)
        tool = _Tool(
            _spec(contract, schema),
            None if strict is None else _spec(contract, strict, strict=True),
            Weight() if strict is None else weigh(strict),
        )
        vars(contract)[key] = tool
    return tool


def _spec(contract: Contract, schema: Mapping[str, Any], *, strict: bool = False) -> msgspec.Raw:
    spec: dict[str, Any] = {"name": contract.name}
    if contract.description:
        spec["description"] = contract.description
    spec["inputSchema"] = {"json": schema}
    if strict:
        spec["strict"] = True
    return msgspec.Raw(_encode({"toolSpec": spec}))


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_settings(body: dict[str, Any], request: ModelRequest, dialect: Dialect, *, thinks: bool) -> None:
    settings = request.settings
    if settings.temperature is not None and settings.temperature > HIGHEST_TEMPERATURE:
        raise ConfigurationError(f"temperature: Amazon Bedrock takes 0 to 1, not {settings.temperature}")
    more: dict[str, Any] = {}
    if dialect.claude is not None:
        inference: dict[str, Any] = _for_claude(more, request, dialect, thinks=thinks)
    else:
        inference = {"temperature": settings.temperature, "topP": settings.top_p, "maxTokens": settings.max_tokens}
        _add_thinking(more, inference, settings, dialect)
    if stops := [stop for stop in settings.stop if stop.strip()]:
        inference["stopSequences"] = stops
    inference = {name: value for name, value in inference.items() if value is not None}
    if inference:
        body["inferenceConfig"] = inference
    if more:
        body["additionalModelRequestFields"] = more


def _for_claude(more: dict[str, Any], request: ModelRequest, dialect: Dialect, *, thinks: bool) -> dict[str, Any]:
    """Claude's own rules for thinking and sampling, which hold behind Converse too."""
    assert dialect.claude is not None
    settings, choice = request.settings, _choice(request)
    demands = bool(request.tools) and choice not in ("auto", "none") and _native(choice, dialect)
    bare = replace(request, tools=(), returns=None, settings=replace(settings, extra={}))
    own: dict[str, Any] = {}
    anthropic_options.add_options(own, bare, dialect.claude, thinks=thinks and not demands)
    more.update({name: own[name] for name in ("thinking", "output_config") if name in own})
    betas = anthropic_options.betas(replace(bare, tools=request.tools), dialect.claude)
    wanted = [
        beta for beta in betas if beta != anthropic_options.INTERLEAVED or (dialect.interleaved and "thinking" in own)
    ]
    if wanted:
        more["anthropic_beta"] = wanted
    # Where nobody sets a limit, Bedrock takes the model's own, which is the highest there is.
    limit = own["max_tokens"] if settings.max_tokens is not None else None
    return {"temperature": own.get("temperature"), "topP": own.get("top_p"), "maxTokens": limit}


def _add_thinking(more: dict[str, Any], inference: dict[str, Any], settings: Settings, dialect: Dialect) -> None:
    think = settings.think
    if think is None:
        return
    effort = think if isinstance(think, str) else "medium"
    match dialect.thinking:
        case "nova" if think is not False:
            more["reasoningConfig"] = {"type": "enabled", "maxReasoningEffort": effort}
            if effort == "high":
                inference.clear()  # refused beside the highest effort
        case "nova":
            more["reasoningConfig"] = {"type": "disabled"}
        case "effort":
            more["reasoning_effort"] = effort if think is not False else "low"
        case "config" if think is not False:
            more["reasoning_config"] = effort
        case _:
            if think is not False and dialect.thinking == "none":
                raise ConfigurationError(
                    f"think={think!r}: Bedrock has no switch for the reasoning of this model; leave the setting out, or put "
                    "the model's own field into extra['additionalModelRequestFields']"
                )
