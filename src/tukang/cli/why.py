"""`tukang tools why`: what would become of a call of one tool, for one caller, and by which rule. Explains; decides nothing.

What it goes through is what `tukang.runtime.checks` goes through, in the same order. Where a rule depends on what is not
known yet (an argument, what was read before), it says so and goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tukang.agent import Agent
from tukang.assistants import ASSISTANTS
from tukang.cli.asker import near, read
from tukang.cli.screen import one_line
from tukang.cli.target import open_target
from tukang.errors import ConfigurationError
from tukang.loop.events import Language
from tukang.loop.permissions import Case, Principal, Rule, Where, fits, missing
from tukang.models.scripted import Scripted
from tukang.tools.tool import Tool


class Asked(msgspec.Struct, frozen=True):
    """What is asked: about a caller, with these arguments (None: not known), and after untrusted content or not."""

    principal: Principal | None = None
    arguments: Mapping[str, Any] | None = None
    untrusted: bool = False


def as_text(
    words: Sequence[str],
    caller: str | None,
    scopes: Sequence[str],
    given: Sequence[str],
    language: Language,
    *,
    untrusted: bool = False,
) -> str:
    """The explanation, from the words of the command line.

    Raises:
        ConfigurationError: there is no such tool, or it does not take one of the arguments.
    """
    agent, tool = find_tool(words)
    if scopes and caller is None:
        raise ConfigurationError("--scope says what a caller was granted: say who with --as")
    principal = None if caller is None else Principal(caller, scopes)
    return explained(agent, tool, Asked(principal, arguments_of(given, tool), untrusted), language)


def find_tool(words: Sequence[str]) -> tuple[Agent, Tool]:
    """The tool that is meant: by an assistant (or `module:name`) and its name, or by its name alone, where one shipped
    assistant has it.

    Raises:
        ConfigurationError: there is none, or it has to be said whose.
    """
    names = [words[0]] if len(words) == 2 else [*ASSISTANTS]
    agents = {name: open_target(name, model=Scripted([])).agent for name in names}
    found = [(agent, tool) for agent in agents.values() if (tool := agent.toolbox.get(words[-1])) is not None]
    if len(found) == 1:
        return found[0]
    known = [tool.name for agent in agents.values() for tool in agent.toolbox]
    if not found:
        raise ConfigurationError(
            f"{', '.join(names)}: no tool {words[-1]!r}{near(words[-1], known)}; say tukang tools why ASSISTANT TOOL"
        )
    raise ConfigurationError(f"several assistants have {words[-1]!r}: say tukang tools why ASSISTANT {words[-1]}")


def arguments_of(pairs: Sequence[str], tool: Tool) -> dict[str, Any] | None:
    """Arguments from the command line, as `name=value`; None where nothing was said."""
    known: Mapping[str, Mapping[str, Any]] = tool.contract.parameters.get("properties", {})
    given: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in known:
            raise ConfigurationError(
                f"--with {pair}: expected name=value; {tool.name} takes {', '.join(known) or 'nothing'}"
            )
        given[name] = read(value, "" if known[name].get("type") == "string" else None)
    return given or None


def explained(agent: Agent, tool: Tool, asked: Asked, language: Language) -> str:
    """What would become of the call, line by line."""
    texts = _TEXTS[language]
    caller = asked.principal.id if asked.principal else texts["nobody"]
    scopes = ", ".join(asked.principal.scopes) if asked.principal and asked.principal.scopes else texts["no scopes"]
    lines = [f"{tool.name}  [{tool.policy.effect}]  {texts['as'].format(caller=one_line(caller, 60), scopes=scopes)}"]
    if lacking := missing(tool.policy.needs, asked.principal):
        return "\n".join([*lines, "  " + texts["lacking"].format(scopes=", ".join(lacking))])
    if tool.policy.needs:
        lines.append("  " + texts["granted"].format(scopes=", ".join(tool.policy.needs)))
    return "\n".join([*lines, *(f"  {line}" for line in _by_rule(agent.rules, tool, asked, texts))])


def _by_rule(rules: Sequence[Rule], tool: Tool, asked: Asked, texts: Mapping[str, str]) -> Iterator[str]:
    effect = tool.policy.effect_of(asked.arguments or {})
    approving = tool.policy.approving_of(effect)
    case = Case(tool.name, effect, asked.principal, asked.arguments, asked.untrusted)
    for number, rule in enumerate(rules, 1):
        name = f"{number}. {_said(rule)}"
        if _depends(rule, case):
            yield f"{name}: {texts['if'].format(then=texts[rule.do])}"
        elif fits(rule, case):
            yield f"{name}: {texts[rule.do]}" + (f" ({one_line(rule.why, 200)})" if rule.why else "")
            return
        else:
            yield f"{name}: {texts['not']}"
    own = f"own {approving}"
    declared = texts["declared"] if "approval" in tool.said else texts["default"].format(effect=effect)
    yield f"{texts['rules' if rules else 'no rules']}: approval = {approving} ({declared}): {texts[own]}"


def _depends(rule: Rule, case: Case) -> bool:
    """Whether a rule would fit, but for what is not known yet."""
    unknown = (bool(rule.where) and case.arguments is None) or (rule.after_untrusted and not case.untrusted)
    if not unknown:
        return False
    where: Mapping[str, Where] = {} if case.arguments is None else rule.where
    return fits(msgspec.structs.replace(rule, where=where, after_untrusted=False), case)


def _said(rule: Rule) -> str:
    """A rule as it would be written."""
    pieces = [repr(rule.do)]
    pieces += [
        f"{name}={value!r}" for name, value in (("tool", rule.tool), ("principal", rule.principal)) if value != "*"
    ]
    pieces += [
        f"{name}={value!r}" for name, value in (("effect", rule.effect), ("scope", rule.scope)) if value is not None
    ]
    pieces += [f"{name} {_condition(where)}" for name, where in rule.where.items()]
    return f"Rule({', '.join([*pieces, *(['after_untrusted'] if rule.after_untrusted else [])])})"


def _condition(where: Where) -> str:
    said = [f"> {where.above:g}"] if where.above is not None else []
    said += [f"< {where.below:g}"] if where.below is not None else []
    said += [f"like {where.like!r}"] if where.like is not None else []
    said += [f"in {msgspec.json.encode(where.one_of).decode()}"] if where.one_of else []
    return " and ".join(said)


_TEXTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "nobody": "nobody",
        "no scopes": "nothing granted",
        "as": "as {caller} ({scopes})",
        "lacking": "needs {scopes}, which was not granted: it is not offered, and refused when it is named anyway",
        "granted": "needs {scopes}: granted",
        "if": "if that is so: {then}",
        "not": "is not about this",
        "allow": "it runs, nobody is asked",
        "ask": "somebody is asked",
        "deny": "it is refused",
        "rules": "no rule decides",
        "no rules": "there are no rules",
        "declared": "declared",
        "default": "nothing was declared; its effect is {effect}",
        "own ask": "somebody is asked",
        "own never": "it runs, nobody is asked",
        "own function": "a function of its author's says whether somebody is asked",
    },
    "id": {
        "nobody": "tanpa pemanggil",
        "no scopes": "tanpa izin",
        "as": "sebagai {caller} ({scopes})",
        "lacking": "butuh {scopes}, yang tidak dimiliki: tidak ditawarkan, dan ditolak kalau tetap dipanggil",
        "granted": "butuh {scopes}: dimiliki",
        "if": "kalau begitu: {then}",
        "not": "bukan tentang ini",
        "allow": "dijalankan, tidak ada yang ditanya",
        "ask": "seseorang ditanya",
        "deny": "ditolak",
        "rules": "tidak ada aturan yang menentukan",
        "no rules": "tidak ada aturan",
        "declared": "dinyatakan",
        "default": "tidak dinyatakan; akibatnya {effect}",
        "own ask": "seseorang ditanya",
        "own never": "dijalankan, tidak ada yang ditanya",
        "own function": "fungsi pembuatnya menentukan apakah seseorang ditanya",
    },
}
