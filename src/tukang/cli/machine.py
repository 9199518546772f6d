"""`--tool KIND[:PLACE]`: tools that work on this machine, beside an assistant's own, for as long as the command runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tukang.cli.machine_texts import MACHINE_TEXTS
from tukang.cli.target import Target
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.tools.tool import Tool


def with_machine(target: Target, given: Sequence[str] | None, texts: Texts) -> Target:
    """The target, with these tools among its agent's.

    Raises:
        ConfigurationError: there is no such tool, it is not said where, or it cannot work here.
    """
    if not given:
        return target
    return replace(target, agent=target.agent.with_tools(*[_tool(one, texts) for one in given]))


def _tool(given: str, texts: Texts) -> Tool:
    from tukang.machine import bash, computer, editor, memory  # only where they are wanted

    said = MACHINE_TEXTS[texts.language]
    name, _, place = given.partition(":")
    match name:
        case "bash":
            return bash(place or ".")
        case "editor":
            return editor(place or ".")
        case "memory" if place:
            return memory(place)
        case "computer" if place:
            return computer(place)
        case "memory" | "computer":
            example = {"memory": "memory:catatan", "computer": "computer::99"}[name]
            raise ConfigurationError(said.needs_place.format(given=given, example=example))
        case _:
            raise ConfigurationError(said.unknown.format(given=given, name=name))
