"""Checks one call a model asked for, before it may run: the tool exists, the arguments can be read, and they fit.

Pure, and total: whatever a model sends becomes a `Checked`, with arguments or with a fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import msgspec

from tukang.tools import finding
from tukang.tools.arguments import parse
from tukang.tools.json_text import Unreadable, canonical, with_whole_numbers
from tukang.tools.outcome import Fault
from tukang.tools.tool import Validated
from tukang.tools.toolbox import Toolbox


class Checked(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call, checked.

    Args:
        arguments: the canonical JSON (sorted keys, no spaces) of what the function will be given; None with a fault.
        digest: what makes two calls the same: SHA-256, in hex, of the tool's name and the canonical arguments, with `2.0` as
            `2`; of the name and the raw text with a fault. Defaults are not filled in: a call that leaves one out differs
            from one that spells it out.
        repaired: the arguments are not what the model wrote: their notation was mended, or a value read as another type.
        fault: why the call cannot run.
    """

    arguments: str | None
    digest: str
    repaired: bool = False
    fault: Fault | None = None


def check(toolbox: Toolbox, name: str, text: str | None, *, offered: Collection[str] | None = None) -> Checked:
    """Check a call.

    Args:
        toolbox: the tools there are.
        name: the tool the model asked for.
        text: the arguments as the model sent them.
        offered: the names that were on offer in that request; None for all of the toolbox.
    """
    tool = toolbox.get(name) if offered is None or name in offered else None
    if tool is None:
        return _faulty(name, text, _unknown(toolbox, name, offered))
    try:
        parsed = parse(text)
    except Unreadable as error:
        return _faulty(
            name, text, Fault("invalid_arguments", f"the arguments cannot be read: {error.reason}", error.hint)
        )
    result = tool.validate(parsed.arguments)
    if not isinstance(result, Validated):
        return _faulty(name, text, result)
    same = canonical(with_whole_numbers(result.arguments)) if ".0" in result.text else result.text
    return Checked(result.text, digest(name, same), parsed.repaired or result.coerced)


def digest(name: str, arguments: str) -> str:
    """SHA-256, in hex, of a tool's name and arguments. A name holds no line break, so no two calls run together."""
    return hashlib.sha256(f"{name}\n{arguments}".encode("utf-8", "surrogatepass")).hexdigest()


def _faulty(name: str, text: str | None, fault: Fault) -> Checked:
    return Checked(None, digest(name, text or ""), fault=fault)


def _unknown(toolbox: Toolbox, name: str, offered: Collection[str] | None) -> Fault:
    message = f"there is no tool {name[:64]!r}"
    if toolbox.finds:
        near = " or ".join(toolbox.near(name, offered))
        meant = f"Did you mean {near}? " if near else ""
        return Fault("unknown_tool", message, f"{meant}Look for it with {finding.NAME}.")
    if near := toolbox.near(name, offered):
        return Fault("unknown_tool", message, f"Did you mean {' or '.join(near)}?")
    known = [tool.name for tool in toolbox if offered is None or tool.name in offered]
    if not known:
        return Fault("unknown_tool", message, "There are no tools: answer without.")
    listed = ", ".join(known[:10]) + (", …" if len(known) > 10 else "")
    return Fault("unknown_tool", message, f"The tools are: {listed}.")
