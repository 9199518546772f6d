"""From a schema and a function to a tool of this package, with the secrets it is to be given and a policy to add to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.errors import ToolDefinitionError
from tukang.tools.adopting import as_tool
from tukang.tools.policy import PolicyOptions
from tukang.tools.signature import Function
from tukang.tools.tool import Tool, tool


def made(
    contract: Mapping[str, Any],
    function: Function,
    policy: PolicyOptions,
    own: PolicyOptions,
    secrets: Sequence[tuple[str, str]] = (),
) -> Tool:
    """A tool.

    Args:
        contract: name, description and parameters.
        function: takes the arguments by name, and a secret by each parameter of `secrets`.
        policy: what holds by itself.
        own: what its author says; it wins, but a tool that may write cannot be called a read.
        secrets: (parameter, name of the secret).

    Raises:
        ToolDefinitionError: the policy is not a possible one.
    """
    if own.get("effect") == "read" and policy.get("effect") != "read":
        raise ToolDefinitionError(f"tool {contract['name']!r}: its calls may write, so its effect cannot be 'read'")
    said = cast("PolicyOptions", {**policy, **own})
    whole = as_tool(tool((dict(contract), function), **said))
    signature = msgspec.structs.replace(whole.signature, secrets=tuple(secrets))
    return dataclasses.replace(whole, signature=signature)


def whole_number(what: str, value: object, most: int) -> int:
    """A bound that somebody said.

    Raises:
        ToolDefinitionError: it is not one.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= most:
        raise ToolDefinitionError(f"{what} must be a whole number from 1 to {most}, not {value!r}")
    return value


def seconds_of(what: str, value: object) -> float:
    """A time that somebody said.

    Raises:
        ToolDefinitionError: it is not one.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 3600:
        raise ToolDefinitionError(f"{what}: seconds must be a number above 0 and up to 3600, not {value!r}")
    return float(value)
