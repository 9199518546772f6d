"""A request's tools as the Messages API takes them, strict where that loses nothing and there is room for it.

Pure. What is kept of a contract are its two encodings and its weight; only whether it may be strict is decided per request,
because the limits count for all tools together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.errors import ConfigurationError
from tukang.models.adapting import legal_name
from tukang.models.anthropic_blocks import encode
from tukang.models.anthropic_defined import defined_tool
from tukang.models.anthropic_dialect import Dialect
from tukang.models.anthropic_hosted import hosted_tools
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
from tukang.models.base import ModelRequest
from tukang.tools.contract import Contract

_KEY = "anthropic/tool"
_GONE = "(No longer on offer: do not use it.)"


class _Kept(msgspec.Struct, frozen=True):
    """A contract, encoded. `strict` is None where strict mode would lose something of its schema."""

    plain: bytes
    strict: bytes | None
    weight: Weight


def tools(request: ModelRequest, dialect: Dialect) -> list[bytes]:
    """Every tool on offer, in the order given, then those that the provider runs, and its own from `extra["tools"]`.

    A tool for which there is no room under the limits of strict mode is sent as an ordinary one; the others stay strict.

    Raises:
        ConfigurationError: a tool's schema is one the provider refuses, or `extra["tools"]` is no list of objects.
    """
    strict_allowed = dialect.structured and dialect.strict
    if strict_allowed and request.returns is not None:
        count, room = 0, weigh(format_schema(request.returns))  # the reply's format is of the same grammar
    else:
        count, room = 0, Weight()
    out: list[bytes] = []
    for contract in request.tools:
        if defined := defined_tool(contract, dialect.forms):
            out.append(encode(defined))
            continue
        kept = _kept(contract)
        total = room + kept.weight
        fits = count < STRICT_TOOLS and total.optional <= OPTIONAL_PARAMETERS and total.unions <= UNION_PARAMETERS
        if strict_allowed and fits and kept.strict is not None:
            count, room = count + 1, total
            out.append(kept.strict)
        else:
            out.append(kept.plain)
    return out + [encode(one) for one in (*hosted_tools(request, dialect), *_own_tools(request))]


def with_tools_gone(request: ModelRequest) -> ModelRequest:
    """A request that can be sent: the provider refuses a conversation that holds calls where no tools are listed, so where
    there are none, those that were called are listed, as gone, and none may be called."""
    if request.tools or request.hosted or _own_tools(request):
        return request
    names = dict.fromkeys(legal_name(call.name) for message in request.messages for call in message.calls)
    gone = tuple(Contract(name, _GONE, {"type": "object"}) for name in names)
    return replace(request, tools=gone, tool_choice="none") if gone else request


def _own_tools(request: ModelRequest) -> list[Mapping[str, Any]]:
    given: Any = request.settings.extra.get("tools", ())
    if not isinstance(given, list | tuple):
        raise ConfigurationError('extra["tools"] must be a list of tools of Anthropic\'s own')
    own = cast("list[Mapping[str, Any]]", list(cast("Any", given)))
    if not all(isinstance(one, Mapping) for one in cast("list[Any]", own)):
        raise ConfigurationError('extra["tools"] must be a list of objects such as {"type": "web_search_20250305", …}')
    return own


def _kept(contract: Contract) -> _Kept:
    kept: _Kept | None = vars(contract).get(_KEY)
    if kept is None:
        schema = tool_schema(contract.name, contract.parameters)
        strict = strict_schema(contract.parameters)
        kept = _Kept(
            _encoded(contract, schema),
            None if strict is None else _encoded(contract, strict, strict=True),
            Weight() if strict is None else weigh(strict),
        )
        vars(contract)[_KEY] = kept
    return kept


def _encoded(contract: Contract, schema: Mapping[str, Any], *, strict: bool = False) -> bytes:
    tool: dict[str, Any] = {"name": contract.name}
    if contract.description:
        tool["description"] = contract.description
    tool["input_schema"] = schema
    if strict:
        tool["strict"] = True
    return encode(tool)
