"""`tukang tools`: an assistant's tools, as the model sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tukang.agent import Agent
from tukang.cli.document import written
from tukang.cli.texts import Texts
from tukang.tools.contract import Contract


def as_document(agent: Agent) -> str:
    """A JSON array: name, description and parameters (JSON Schema) of each tool."""
    return written(
        [
            {"name": contract.name, "description": contract.description, "parameters": dict(contract.parameters)}
            for contract in agent.toolbox.contracts
        ]
    )


def as_text(agent: Agent, texts: Texts) -> str:
    """For reading."""
    tools = [_shown(tool.contract, tool.policy.effect, texts) for tool in agent.toolbox]
    return "\n\n".join(tools) or texts.no_tools


def _shown(contract: Contract, effect: str, texts: Texts) -> str:
    schema = contract.parameters
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    needed = cast("Sequence[str]", schema.get("required") or ())
    lines = [f"{contract.name}  [{effect}]", *(f"  {line}" for line in contract.description.splitlines())]
    for name, member in properties.items():
        about = f"  {member['description']}" if member.get("description") else ""
        lines.append(f"    {name}: {_kind(member)}, {texts.required if name in needed else texts.optional}{about}")
    return "\n".join(lines)


def _kind(schema: Mapping[str, Any]) -> str:
    """The type in a word, with its bounds: `integer ≥ 1`. What is more complicated is in the JSON."""
    if options := schema.get("anyOf"):
        return " | ".join(_kind(option) for option in cast("Sequence[Mapping[str, Any]]", options))
    kind = schema.get("type", "…")
    words = " | ".join(map(str, cast("Sequence[object]", kind))) if isinstance(kind, list) else str(kind)
    bounds = [f" {sign} {schema[name]}" for name, sign in (("minimum", "≥"), ("maximum", "≤")) if name in schema]
    return words + "".join(bounds)
