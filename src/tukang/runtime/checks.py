"""Checking one call before it may run: the arguments, the caller's permissions, the host's rules, the tool's own policy.

Performs `CheckCalls`. User code decides nothing inside the loop: what a function or a schema says comes back as an event.
What governs a check stands in the record of the turn; only the functions are today's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from tukang.errors import ConfigurationError
from tukang.loop.events import CallChecked
from tukang.loop.permissions import Case, Rule, judged, missing
from tukang.loop.state import Call, State
from tukang.runtime.calls import context_of
from tukang.runtime.turn import Turn
from tukang.tools.aside import aside
from tukang.tools.checking import check, digest
from tukang.tools.failure import words
from tukang.tools.hosted import Hosted
from tukang.tools.json_text import Unreadable, canonical, decode
from tukang.tools.names import nearest
from tukang.tools.outcome import Fault
from tukang.tools.policy import Predicate, ToolEffect
from tukang.tools.toolbox import Toolbox


def check_call(turn: Turn, state: State, call: Call, at: float) -> CallChecked | None:
    """Check a call. None when it is left to a function of its author's whether it needs permission, which takes its time:
    then see `check_with_function`."""
    checked = _checked(turn, call, at)
    if checked.fault is not None:
        return checked
    rule = _rule(turn, state, call, checked) if turn.started.rules else None
    if rule is None:
        asks = call.policy.approving_of(_effect(call, checked))
        if asks == "never":
            return checked
        return None if asks == "function" else replace(checked, needs_approval=True)
    match rule.do:
        case "allow":
            return checked
        case "ask":
            return replace(checked, needs_approval=True, why=rule.why)
        case "deny":
            return replace(checked, arguments=None, fault=_denied(call, rule.why))


async def check_with_function(turn: Turn, call: Call, seconds: float | None, clock: Callable[[], float]) -> CallChecked:
    """Check a call, with the tool's own function asked. What it does not say clearly, and what it cannot say, is yes."""
    checked = _checked(turn, call, 0.0)
    needs, why = True, ""
    asks = _function(turn, call)
    if asks is not None and checked.arguments is not None:
        context = context_of(turn, call, call.id, seconds)
        try:
            said = cast("object", await aside(asks, decode(checked.arguments), context))
        except Exception as error:
            why = f"its approval function failed: {words(error)}"
        else:
            needs, why = _read(said)
    return replace(checked, at=clock(), needs_approval=needs and checked.fault is None, why=why)


def _function(turn: Turn, call: Call) -> Predicate | None:
    """What says whether this call needs permission."""
    if call.permission:
        return next((tool.approval for tool in turn.hosted if tool.name == call.name), None)
    tool = turn.toolbox.get(call.name)
    return None if tool is None else tool.approval


def _checked(turn: Turn, call: Call, at: float) -> CallChecked:
    """What the arguments are, if the caller may use the tool at all."""
    if call.policy.needs and (lacking := missing(call.policy.needs, turn.started.principal)):
        fault = _denied(call, f"it needs {', '.join(lacking)}, which this caller was not granted")
        return CallChecked(at=at, call=call.id, digest=digest(call.name, call.text), fault=fault)
    if call.permission:
        return _permission(turn, call, at)
    checked = check(turn.toolbox, call.name, call.text, offered=turn.offered_names)
    by_arguments = checked.arguments is not None and bool(call.policy.reads_when)
    return CallChecked(
        at=at,
        call=call.id,
        digest=checked.digest,
        arguments=checked.arguments,
        repaired=checked.repaired,
        fault=checked.fault,
        reads=by_arguments and call.policy.effect_of(decode(checked.arguments or "{}")) == "read",
    )


def _permission(turn: Turn, call: Call, at: float) -> CallChecked:
    """What the provider asks to be allowed to do itself. It would do what it asked for, so nobody can edit it."""
    try:
        text = canonical(decode(call.text))
    except Unreadable:
        text = None
    hashed = digest(call.name, text or call.text)
    why = ""
    if text is None:
        why = "what it would be called with cannot be read"
    elif all(tool.name != call.name for tool in turn.hosted):
        why = "it is not on offer here"
    elif call.edited:
        why = "the provider calls it with what the model wrote, which cannot be edited"
    if why:
        return CallChecked(at=at, call=call.id, digest=hashed, fault=_denied(call, why))
    return CallChecked(at=at, call=call.id, digest=hashed, arguments=text)


def _effect(call: Call, checked: CallChecked) -> ToolEffect:
    """What the call does, by its arguments."""
    return "read" if checked.reads else call.policy.effect


def _rule(turn: Turn, state: State, call: Call, checked: CallChecked) -> Rule | None:
    arguments = decode(checked.arguments or "{}")
    case = Case(call.name, _effect(call, checked), turn.started.principal, arguments, state.untrusted)
    return judged(turn.started.rules, case)


def _denied(call: Call, why: str) -> Fault:
    told = f"{call.name} may not be called here" + (f": {why}" if why else "")
    return Fault("refused", told, "Do without it, or tell the user that it is not permitted.")


def _read(said: object) -> tuple[bool, str]:
    """What an approval function said: whether permission is needed, and why."""
    if isinstance(said, bool):
        return said, ""
    if isinstance(said, str):
        return True, said
    return True, f"its approval function returned {type(said).__name__}, which is neither a bool nor a text"


def must_be_about(rules: Sequence[Rule], toolbox: Toolbox) -> None:
    """Hold an agent's rules against its tools: one that is about nothing protects nothing.

    Raises:
        ConfigurationError: a rule names a tool that there is not, or an argument that the tool it names does not take.
    """
    for rule in rules:
        if "*" in rule.tool:
            continue
        if hosted := next((one for one in toolbox.hosted if one.name == rule.tool), None):
            _must_be_about_hosted(rule, hosted)
            continue
        tool = toolbox.get(rule.tool)
        if tool is None:
            raise ConfigurationError(
                f"a rule is about {rule.tool!r}, which is no tool of this agent{_near(rule.tool, toolbox.policies)}"
            )
        known = cast("Mapping[str, object]", tool.contract.parameters.get("properties", {}))
        for name in rule.where:
            if name not in known and not tool.signature.takes_any:
                raise ConfigurationError(
                    f"a rule is about {rule.tool}'s {name!r}, which it does not take{_near(name, known)}"
                )


def _must_be_about_hosted(rule: Rule, tool: Hosted) -> None:
    for name in rule.where:
        if tool.kind != "mcp" or name not in ("tool", "arguments"):
            raise ConfigurationError(
                f"a rule is about {rule.tool}'s {name!r}: of what the provider runs, only an MCP server asks before a call, "
                "and a rule about that says where={'tool': …} or {'arguments': …}"
            )


def _near(name: str, known: Iterable[str]) -> str:
    close = nearest(name, tuple(known), most=1)
    return f"; did you mean {close[0]!r}?" if close else ""
