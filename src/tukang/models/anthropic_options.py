"""Settings, `tool_choice`, thinking and `returns` in the words of the Messages API: the tables of `anthropic`.

Pure: it fills fields of a body, and says in words what the protocol has no field for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.errors import ConfigurationError
from tukang.models.anthropic_defined import defined_betas, is_toolset
from tukang.models.anthropic_dialect import Dialect
from tukang.models.anthropic_hosted import MCP_BETA
from tukang.models.anthropic_schemas import format_schema
from tukang.models.base import ModelRequest
from tukang.models.structured import as_text, demanded

LEAST_BUDGET = 1024
BUDGETS: Mapping[bool | str, int] = {"low": LEAST_BUDGET, "medium": 4096, "high": 16384, True: 4096}
"""Tokens for thinking, for models that want a number."""

INTERLEAVED = "interleaved-thinking-2025-05-14"
BINDING = "thinking-binding-controls-2026-08-01"
_BY_TUKANG = ("betas", "tools")
"""What stands in `Settings.extra` and goes elsewhere than into the body as it is."""


def instructions(request: ModelRequest, dialect: Dialect) -> list[str]:
    """The system text, and the format of the reply where the model has no field for it."""
    texts = [request.instructions]
    if request.returns is not None and not dialect.structured:
        schema = msgspec.json.encode(request.returns).decode()
        texts.append(
            f"The text of your answer is one JSON value that follows this JSON Schema, and nothing else: {schema}"
        )
    return [text for text in texts if text.strip()]


def without_force(request: ModelRequest, dialect: Dialect) -> ModelRequest | None:
    """The request with the answer asked for as text that follows a schema, where that is better than to force its tool: the
    model takes no forced choice, or would have to do without the thinking that was asked for. None where it is not."""
    tool = demanded(request)
    thinks = dialect.thinking == "manual" and request.settings.think not in (None, False)
    if tool is None or not dialect.structured or (dialect.forced and not thinks):
        return None
    try:
        format_schema(tool.parameters)
    except ConfigurationError:  # such as a recursive schema, which a tool may have
        return None
    return as_text(request, tool)


def note_of(request: ModelRequest, dialect: Dialect) -> str | None:
    """The note, and the demand for a call where the model takes no `tool_choice` that demands one."""
    lines = [request.note] if request.note and request.note.strip() else []
    choice = _choice(request)
    if choice not in ("auto", "none") and not dialect.forced:
        lines.append("Call a tool now." if choice == "required" else f"Call the tool {choice} now.")
    return "\n".join(lines) or None


def betas(request: ModelRequest, dialect: Dialect, *, bedrock: bool = False) -> tuple[str, ...]:
    """The beta features a request needs: a header (`anthropic-beta`), or on Bedrock a field (`anthropic_beta`).

    Raises:
        ConfigurationError: `extra["betas"]` is not a list of names.
    """
    wanted: list[str] = []
    if (
        dialect.thinking == "manual"
        and request.settings.think not in (None, False)
        and (request.tools or request.hosted)
    ):
        wanted.append(INTERLEAVED)
    if any(tool.kind == "mcp" for tool in request.hosted):
        wanted.append(MCP_BETA)
    wanted += defined_betas(request.tools, dialect.forms, bedrock=bedrock)
    if dialect.drop_unbound:
        wanted.append(BINDING)
    more: Any = request.settings.extra.get("betas", ())
    if isinstance(more, str) or not all(isinstance(one, str) for one in more):
        raise ConfigurationError('extra["betas"] must be a list of names, such as ["context-1m-2025-08-07"]')
    return tuple(dict.fromkeys((*wanted, *more)))


def add_options(body: dict[str, Any], request: ModelRequest, dialect: Dialect, *, thinks: bool = True) -> None:
    """Fill in everything that is neither system text, tools nor messages.

    Args:
        body: the body, with its `tools` where there are any.
        request, dialect: what is asked of which model.
        thinks: whether the conversation lets manual thinking be on (see `anthropic`).

    Raises:
        ConfigurationError: thinking is asked of a model that has none, or with too small a `max_tokens`.
    """
    settings = request.settings
    output: dict[str, Any] = {}
    body["max_tokens"] = settings.max_tokens or dialect.max_tokens
    _add_choice(body, request, dialect)
    demands = body.get("tool_choice", {}).get("type") in ("any", "tool")
    _add_thinking(body, output, request, dialect, thinks=thinks and not demands)
    if request.returns is not None and dialect.structured:
        output["format"] = {"type": "json_schema", "schema": format_schema(request.returns)}
    _add_sampling(body, request, dialect)
    if stops := [stop for stop in settings.stop if stop.strip()]:
        body["stop_sequences"] = stops
    extra = {key: value for key, value in settings.extra.items() if key not in _BY_TUKANG}
    if output:
        body["output_config"] = output | extra.pop("output_config", {})
    body.update(extra)


def _choice(request: ModelRequest) -> str:
    return "none" if request.tools_off else request.tool_choice


def _add_choice(body: dict[str, Any], request: ModelRequest, dialect: Dialect) -> None:
    if "tools" not in body:
        return
    choice = _choice(request)
    wire: dict[str, Any] = {"type": "auto"}
    if choice == "none":
        wire = {"type": "none"}
    elif choice == "required" and dialect.forced:
        wire = {"type": "any"}
    elif choice not in ("auto", "required") and dialect.forced:
        several = is_toolset(request.tools, choice, dialect.forms)  # which of its members is the model's to say
        wire = {"type": "any"} if several else {"type": "tool", "name": choice}
    if request.settings.parallel_calls is not None and choice != "none":
        wire["disable_parallel_tool_use"] = not request.settings.parallel_calls
    if wire != {"type": "auto"}:
        body["tool_choice"] = wire


def _add_thinking(
    body: dict[str, Any], output: dict[str, Any], request: ModelRequest, dialect: Dialect, *, thinks: bool
) -> None:
    think = request.settings.think
    if think is not None and think is not False:
        if dialect.thinking == "none":
            raise ConfigurationError(
                f"think={think!r}: this model does not think; leave the setting out, or take Claude 3.7 or newer"
            )
        if dialect.thinking == "manual":
            _budget(body, request, dialect, thinks=thinks)
        else:
            body["thinking"] = {"type": "adaptive", "display": "summarized"}
            if isinstance(think, str):
                output["effort"] = think
    elif think is False and dialect.thinking == "adaptive":
        if dialect.off == "never":
            output["effort"] = "low"
        elif dialect.off != "omit":
            body["thinking"] = {"type": dialect.off}
    if dialect.drop_unbound and body.get("thinking", {}).get("type", "adaptive") == "adaptive":
        thinking = body.setdefault("thinking", {"type": "adaptive"})
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}


def _budget(body: dict[str, Any], request: ModelRequest, dialect: Dialect, *, thinks: bool) -> None:
    limit, budget = request.settings.max_tokens, BUDGETS[request.settings.think or "low"]
    if limit is not None and limit <= LEAST_BUDGET:
        raise ConfigurationError(
            f"think={request.settings.think!r} needs a max_tokens above {LEAST_BUDGET}, not {limit}: "
            "thinking counts towards it"
        )
    if limit is not None and budget >= limit:
        budget = max(LEAST_BUDGET, limit // 2)
    if thinks:
        body["thinking"] = {"type": "enabled", "budget_tokens": budget}
        body["max_tokens"] = limit or dialect.max_tokens + budget


def _add_sampling(body: dict[str, Any], request: ModelRequest, dialect: Dialect) -> None:
    """What of temperature and top_p the model takes: see the table at the top of `anthropic`."""
    temperature, top_p = request.settings.temperature, request.settings.top_p
    if dialect.sampling == "none":
        return
    if body.get("thinking", {}).get("type", "disabled") != "disabled":
        if top_p is not None and top_p >= 0.95:
            body["top_p"] = top_p
        return
    if temperature is not None:
        body["temperature"] = min(temperature, 1.0)
    if top_p is not None and (temperature is None or dialect.sampling == "both"):
        body["top_p"] = top_p
