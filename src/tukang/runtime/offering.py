"""Which of the tools that the provider runs are offered in a turn, and about which it is to ask before each call.

Nothing of such a tool can be stopped here once it is on offer, unless the provider asks first. So what would be decided call
by call is decided before: a tool that a rule may deny or ask about is offered only if the provider asks, and otherwise not at
all to whom the rule may concern. A rule that asks about a tool which never asks is refused when the agent is built.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tukang.errors import ConfigurationError
from tukang.loop.permissions import Case, Principal, Rule, judged, missing
from tukang.models.base import Model
from tukang.tools.hosted import Hosted

_ASKABLE = frozenset({"mcp"})
"""Kinds that a provider can be told to ask about."""


def as_ruled(hosted: Sequence[Hosted], rules: Sequence[Rule]) -> tuple[Hosted, ...]:
    """The tools, with `asks` where a rule may want a say in each call.

    Raises:
        ConfigurationError: a rule asks about a tool, and nobody can.
    """
    return tuple([_ruled(tool, rules) for tool in hosted])


def _ruled(tool: Hosted, rules: Sequence[Rule]) -> Hosted:
    concerned = [rule for rule in rules if rule.do != "allow" and _may_concern(rule, tool)]
    if not concerned:
        return tool
    if tool.kind in _ASKABLE:
        return replace(tool, asks=True)
    asking = next((rule for rule in concerned if rule.do == "ask" and judged(rules, _worst(tool)) is rule), None)
    if asking is not None:
        raise ConfigurationError(
            f"a rule asks about calls of {tool.name!r} ({asking.tool!r}), but the provider runs them without asking: put "
            f"Rule('allow', tool={tool.name!r}) before it, or leave the tool out"
        )
    return tool


def offered(hosted: Sequence[Hosted], rules: Sequence[Rule], principal: Principal | None) -> tuple[Hosted, ...]:
    """What of it is offered to this caller."""
    return tuple(
        [
            tool
            for tool in hosted
            if not missing(tool.policy.needs, principal) and (tool.kind in _ASKABLE or _free(tool, rules, principal))
        ]
    )


def _free(tool: Hosted, rules: Sequence[Rule], principal: Principal | None) -> bool:
    """Whether no rule stops a call of it, whatever its arguments, now or later in the turn."""
    cases = [_worst(tool, principal, untrusted=untrusted) for untrusted in (False, True)]
    return all((rule := judged(rules, case)) is None or rule.do == "allow" for case in cases)


def _worst(tool: Hosted, principal: Principal | None = None, *, untrusted: bool = True) -> Case:
    return Case(tool.name, tool.policy.effect, principal, None, untrusted)


def _may_concern(rule: Rule, tool: Hosted) -> bool:
    """Whether a rule may fit a call of it, for some caller, at some time."""
    anyone = replace(rule, principal="*", scope=None, after_untrusted=False, where={})
    return judged([anyone], _worst(tool)) is not None


def must_serve(model: Model, hosted: Sequence[Hosted]) -> None:
    """Refuse a model whose provider does not run these tools as they are declared.

    Raises:
        ConfigurationError: names the first that it does not, and why.
    """
    refuse = getattr(model, "cannot_serve", None)
    for tool in hosted:
        why = "its provider runs no tools, or not over this protocol" if refuse is None else refuse(tool)
        if why is not None:
            raise ConfigurationError(f"{tool!r} is run by the model's provider, and {model.name} does not: {why}")
