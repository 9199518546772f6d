"""`tukang tools`: an assistant's tools, as the model sees them, and how each of them may run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tukang.agent import Agent
from tukang.cli import served
from tukang.cli.document import written
from tukang.cli.policies import notes, reasons
from tukang.cli.texts import Texts
from tukang.tools.tool import Tool
from tukang.tools.toolbox import Toolbox


def as_document(agent: Agent, texts: Texts) -> str:
    """A JSON array: name, description and parameters (JSON Schema) of each tool; its policy, value by value; its notes."""
    own = [_as_data(tool, agent.toolbox, texts) for tool in agent.toolbox]
    return written([*own, *(served.as_data(tool, texts.language) for tool in agent.hosted)])


def _as_data(tool: Tool, toolbox: Toolbox, texts: Texts) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.contract.description,
        "parameters": dict(tool.contract.parameters),
        "policy": {
            reason.name: {"value": reason.value, "declared": reason.declared, "why": reason.why}
            for reason in reasons(tool, toolbox, texts.language)
        },
        "notes": notes(tool, toolbox, texts.language),
    }


def as_text(agent: Agent, texts: Texts) -> str:
    """For reading."""
    own = [_shown(tool, agent.toolbox, texts) for tool in agent.toolbox]
    return "\n\n".join([*own, *(served.as_text(tool, texts.language) for tool in agent.hosted)]) or texts.no_tools


def _shown(tool: Tool, toolbox: Toolbox, texts: Texts) -> str:
    contract, policy = tool.contract, tool.policy
    schema = contract.parameters
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    needed = cast("Sequence[str]", schema.get("required") or ())
    lines = [f"{contract.name}  [{policy.effect}]", *(f"  {line}" for line in contract.description.splitlines())]
    for name, member in properties.items():
        about = f"  {member['description']}" if member.get("description") else ""
        lines.append(f"    {name}: {_kind(member)}, {texts.required if name in needed else texts.optional}{about}")
    for reason in reasons(tool, toolbox, texts.language):
        lines.append(f"  · {reason.name} = {_value(reason.value)}: {reason.why}")
    lines += [f"  ! {note}" for note in notes(tool, toolbox, texts.language)]
    return "\n".join(lines)


def _value(value: object) -> str:
    """A value of a policy as it stands in `@tool`."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _kind(schema: Mapping[str, Any]) -> str:
    """The type in a word, with its bounds: `integer ≥ 1`. What is more complicated is in the JSON."""
    if options := schema.get("anyOf"):
        return " | ".join(_kind(option) for option in cast("Sequence[Mapping[str, Any]]", options))
    kind = schema.get("type", "…")
    words = " | ".join(map(str, cast("Sequence[object]", kind))) if isinstance(kind, list) else str(kind)
    bounds = [f" {sign} {schema[name]}" for name, sign in (("minimum", "≥"), ("maximum", "≤")) if name in schema]
    return words + "".join(bounds)
