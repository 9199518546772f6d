"""What a caller may have done: who they are, what the host's rules say about a call, and why. Data, and a pure function over
it.

Rules are asked in their order, and the first that fits decides; where none does, the tool's own `approval` holds. A rule
about an
argument that is not there, or is not of the kind it speaks of, is closed: an `allow` does not fit then, an `ask` or a `deny`
does.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from tukang.tools.json_text import canonical
from tukang.tools.policy import ToolEffect

Do = Literal["allow", "ask", "deny"]
"""What a rule says: run it without asking, ask somebody, or not at all."""


class Principal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who a turn is for.

    Args:
        id: as the host knows them.
        scopes: what they were granted, such as `orders:write`: a tool that `needs` more is not offered to the model, and
            refused when it is named anyway.

    Raises:
        ValueError: the id is empty, or the scopes are one text instead of several.
    """

    id: str
    scopes: Collection[str] = ()

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a Principal needs an id")
        if isinstance(self.scopes, str):
            raise ValueError(f"Principal.scopes is a collection of texts, not one text: say scopes=[{self.scopes!r}]")
        msgspec.structs.force_setattr(self, "scopes", tuple(sorted(set(self.scopes))))


class Where(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an argument has to be; all that is said has to hold.

    Args:
        one_of: one of these values, as JSON has them; () for any.
        above, below: a number more than, less than this.
        like: a text in which `*` stands for anything.

    Raises:
        ValueError: nothing is said.
    """

    one_of: tuple[Any, ...] = ()
    above: float | None = None
    below: float | None = None
    like: str | None = None

    def __post_init__(self) -> None:
        if not self.one_of and self.above is None and self.below is None and self.like is None:
            raise ValueError("a Where says something: one_of, above, below or like")

    def holds(self, value: Any) -> bool | None:
        """Whether a value is so; None when it is of a kind that this does not speak of."""
        if self.above is not None or self.below is not None:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return None
            if (self.above is not None and not value > self.above) or (
                self.below is not None and not value < self.below
            ):
                return False
        if self.like is not None:
            if not isinstance(value, str):
                return None
            if not _like(self.like, value):
                return False
        return not self.one_of or any(canonical(value) == canonical(one) for one in self.one_of)


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule of the host's. It fits a call when all that it says holds.

    Args:
        do: see `Do`.
        tool: its name; `*` stands for anything.
        effect: only of tools with this effect.
        principal: only for callers with this id; `*` stands for anything, also for nobody.
        scope: only for callers who were granted this.
        where: argument → what it has to be.
        after_untrusted: only once a result of this turn held what comes from outside; see `tukang.tools.untrusted`.
        why: in a sentence; the model reads it where the call is denied, and whoever decides where it asks.

    Raises:
        ValueError: `do` is no such word, or `where` holds something else than a `Where`.
    """

    do: Do
    tool: str = "*"
    effect: ToolEffect | None = None
    principal: str = "*"
    scope: str | None = None
    where: Mapping[str, Where] = {}
    after_untrusted: bool = False
    why: str = ""

    def __post_init__(self) -> None:
        if self.do not in ("allow", "ask", "deny"):
            raise ValueError(f"a Rule's do is 'allow', 'ask' or 'deny', not {self.do!r}")
        for name, where in cast("Mapping[str, object]", self.where).items():
            if not isinstance(where, Where):
                raise ValueError(
                    f"a Rule's where[{name!r}] is a Where, such as Where(one_of=({where!r},)), not {where!r}"
                )


class Case(msgspec.Struct, frozen=True):
    """A call, as rules look at it. `arguments` is None when nothing is known of them."""

    tool: str
    effect: ToolEffect
    principal: Principal | None = None
    arguments: Mapping[str, Any] | None = None
    untrusted: bool = False


def missing(needs: Sequence[str], principal: Principal | None) -> tuple[str, ...]:
    """The scopes that a tool needs and the caller was not granted. Nobody was granted anything."""
    granted = () if principal is None else principal.scopes
    return tuple([need for need in needs if need not in granted])


def judged(rules: Sequence[Rule], case: Case) -> Rule | None:
    """The rule that decides about a call, if one does."""
    return next((rule for rule in rules if fits(rule, case)), None)


def fits(rule: Rule, case: Case) -> bool:
    """Whether a rule is about this call."""
    caller, granted = ("", ()) if case.principal is None else (case.principal.id, case.principal.scopes)
    return (
        _like(rule.tool, case.tool)
        and rule.effect in (None, case.effect)
        and _like(rule.principal, caller)
        and (rule.scope is None or rule.scope in granted)
        and (case.untrusted or not rule.after_untrusted)
        and all(_holds(rule, name, where, case.arguments) for name, where in rule.where.items())
    )


def _holds(rule: Rule, name: str, where: Where, arguments: Mapping[str, Any] | None) -> bool:
    known = None if arguments is None or name not in arguments else where.holds(arguments[name])
    return rule.do != "allow" if known is None else known


def _like(pattern: str, text: str) -> bool:
    return pattern == "*" or (text == pattern if "*" not in pattern else _compiled(pattern).fullmatch(text) is not None)


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
