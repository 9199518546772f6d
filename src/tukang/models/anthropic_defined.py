"""The tools whose form Anthropic defines and whose calls run here: which form each of them has on the wire, for which model.

Pure: a table, and what follows from it. Claude was trained on these forms, so a tool that says it is one of them
(`Contract.defined`) is sent in place of its contract, in the newest form its model takes; to a model that takes none it is
sent as any tool is. A form that a server refuses by its name is not used again, and the next older one is
(`Dialect.forms`).

The newest form of the computer tool is a *toolset*: one entry without a name, whose members are called by theirs
(`left_click`) in blocks that carry `toolset_name`. Here it is one tool with an `action`, as in its older forms; what it
looked like stands in an opaque part before the call.

Sources: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference and the pages of the four tools beside
it; for Bedrock: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-tool-use.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.tools.contract import Contract, Defined

Version = tuple[int, int]

TOOLSET = "computer_toolset_20260801"
TOOLSET_NAME = "toolset_name"

_NEVER: Version = (99, 0)


class Form(msgspec.Struct, frozen=True):
    """One form of one tool.

    Args:
        kind: as in `Contract.defined`.
        type: on the wire.
        name: which the tool must have; empty for a toolset, whose members have names.
        since: the version of Claude that took it first.
        opus: the version of Claude Opus, where that was earlier.
        beta: the feature to ask for with it.
        bedrock: the feature to ask for on Bedrock; None where Bedrock does not have the form.
    """

    kind: str
    type: str
    name: str
    since: Version
    opus: Version = _NEVER
    beta: str | None = None
    bedrock: str | None = None


_COMPUTER_USE = "computer-use-2025-01-24"
_ZOOMING = "computer-use-2025-11-24"
FORMS: tuple[Form, ...] = (  # of each kind the newest first
    Form("bash", "bash_20250124", "bash", (3, 7), bedrock=_COMPUTER_USE),
    Form("editor", "text_editor_20250728", "str_replace_based_edit_tool", (4, 0), bedrock=_COMPUTER_USE),
    Form("memory", "memory_20250818", "memory", (4, 0), bedrock="context-management-2025-06-27"),
    Form("computer", TOOLSET, "", (4, 8)),
    Form("computer", "computer_20251124", "computer", (4, 6), (4, 5), beta=_ZOOMING, bedrock=_ZOOMING),
    Form("computer", "computer_20250124", "computer", (3, 7), beta=_COMPUTER_USE, bedrock=_COMPUTER_USE),
)


def forms_of(family: str, version: Version) -> tuple[str, ...]:
    """The forms that a model takes."""
    return tuple(one.type for one in FORMS if version >= one.since or (family == "opus" and version >= one.opus))


def on_bedrock(forms: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the forms that Bedrock has."""
    return tuple(one.type for one in FORMS if one.type in forms and one.bedrock is not None)


def refused(forms: tuple[str, ...], complaint: str) -> tuple[str, ...]:
    """The forms that are left when one was refused by its name, or what had to be asked for with it was."""
    if "invalid beta flag" in complaint:
        return ()
    if TOOLSET_NAME in complaint:
        complaint += TOOLSET
    return tuple(one for one in forms if one not in complaint)


def form_of(contract: Contract, forms: tuple[str, ...]) -> Form | None:
    """The form that a tool is sent in; None for that of any tool."""
    kind = None if contract.defined is None else contract.defined.kind
    fits = (one for one in FORMS if one.kind == kind and one.type in forms and one.name in ("", contract.name))
    return next(fits, None)


def is_toolset(tools: tuple[Contract, ...], name: str, forms: tuple[str, ...]) -> bool:
    """Whether a tool is sent as a toolset, of which there is no one name."""
    named = next((tool for tool in tools if tool.name == name), None)
    form = None if named is None else form_of(named, forms)
    return form is not None and not form.name


def defined_tool(contract: Contract, forms: tuple[str, ...]) -> dict[str, Any] | None:
    """The entry of a tool in a request; None for that of any tool."""
    form = form_of(contract, forms)
    if form is None:
        return None
    entry: dict[str, Any] = {"type": form.type} | ({"name": form.name} if form.name else {})
    defined = contract.defined or Defined(form.kind)
    if form.kind == "computer" and form.name:
        entry |= {"display_width_px": defined.options["width"], "display_height_px": defined.options["height"]}
        if form.type == "computer_20251124":
            entry["enable_zoom"] = True
    return entry


def defined_betas(tools: tuple[Contract, ...], forms: tuple[str, ...], *, bedrock: bool = False) -> list[str]:
    """What to ask for with the forms that these tools are sent in."""
    found = [form for tool in tools if (form := form_of(tool, forms))]
    wanted = [form.bedrock if bedrock else form.beta for form in found]
    return list(dict.fromkeys(one for one in wanted if one is not None))


class MemberInput:
    """A member's input on its way to being the arguments of the one tool: `{"coordinate": …}` with an `action` before.

    Args:
        member: its name.
    """

    def __init__(self, member: str) -> None:
        self._head = msgspec.json.encode({"action": member}).decode()[:-1]
        self._held = ""
        self._opened = False

    def feed(self, text: str) -> str:
        """More of the input; what of the arguments is known by now."""
        if self._opened:
            return text
        self._held += text
        inside = self._held.lstrip()
        if inside and inside[0] != "{":  # no object: let it be seen as what it is
            self._opened = True
            return self._held
        inside = inside[1:].lstrip()
        if not inside:
            return ""
        self._opened = True
        return self._head + ("" if inside[0] == "}" else ",") + inside


def member_call(arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """A member and its input, from the arguments of the one tool; None where they name none."""
    action = arguments.get("action")
    if not isinstance(action, str) or not action:
        return None
    return action, {name: value for name, value in arguments.items() if name != "action"}
