"""Where two JSON values differ, and which differences are accepted: the rules of `loops_accepted.toml`.

A rule is data. It names a kind of difference, says why it is no fault of ours, and matches by protocol, by the loop, and by
what stands at the place of the difference on both sides, each a pattern that must fit the whole JSON text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

import msgspec

ABSENT = "(absent)"
"""What stands where one side has nothing."""


class Difference(msgspec.Struct, frozen=True):
    """One place where a request of ours is not the recorded one.

    Args:
        loop: the loop's id.
        request: the number of the request in the loop, from 1.
        path: the place within what the turn has added, such as `messages/1(assistant)/content/0/input/city`.
        recorded, ours: the values there, as JSON; `ABSENT` for nothing.
    """

    loop: str
    request: int
    path: str
    recorded: str
    ours: str

    def __str__(self) -> str:
        return f"{self.loop}: request {self.request}, {self.path}: recorded {_short(self.recorded)}, ours {_short(self.ours)}"


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of accepted difference.

    Args:
        kind: its name.
        reason: why it is accepted.
        protocols: where it occurs; empty for everywhere.
        loops: ids it is limited to, `*` standing for anything; empty for every loop.
        path, recorded, ours: patterns for the difference; a missing one fits everything.
    """

    kind: str
    reason: str
    protocols: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    path: str = ".*"
    recorded: str = ".*"
    ours: str = ".*"

    def fits(self, protocol: str, difference: Difference) -> bool:
        """Whether it accepts this difference."""
        return (
            (not self.protocols or protocol in self.protocols)
            and (not self.loops or any(fnmatchcase(difference.loop, loop) for loop in self.loops))
            and re.fullmatch(self.path, difference.path) is not None
            and re.fullmatch(self.recorded, difference.recorded, re.DOTALL) is not None
            and re.fullmatch(self.ours, difference.ours, re.DOTALL) is not None
        )


class _File(msgspec.Struct, forbid_unknown_fields=True):
    accepted: tuple[Rule, ...] = ()


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a file.

    Raises:
        OSError: there is no such file.
        ValueError: it does not hold rules.
    """
    return msgspec.convert(tomllib.loads(path.read_text("utf-8")), _File).accepted


def places(recorded: Any, ours: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Every place where two JSON values differ: its path, and what stands there on each side."""
    if recorded == ours and type(recorded) is type(ours):
        return
    if isinstance(recorded, dict) and isinstance(ours, dict):
        left, right = cast("dict[str, Any]", recorded), cast("dict[str, Any]", ours)
        for key in dict.fromkeys((*left, *right)):
            yield from _at(key in left, left.get(key), key in right, right.get(key), f"{path}/{key}")
    elif isinstance(recorded, list) and isinstance(ours, list):
        for one, other, place in _paired(cast("list[Any]", recorded), cast("list[Any]", ours)):
            yield from _at(*one, *other, f"{path}/{place}{_role(one[1] if one[0] else other[1])}")
    else:
        yield path, _json(recorded), _json(ours)


_Side = tuple[bool, Any]


def _paired(recorded: list[Any], ours: list[Any]) -> Iterator[tuple[_Side, _Side, int]]:
    """Which item belongs to which: equal ones first, then those of one kind; an item without a partner stands alone."""
    for _, start, end, from_, to in _blocks([_json(one) for one in recorded], [_json(one) for one in ours]):
        left, right = recorded[start:end], ours[from_:to]
        for _, first, last, begin, finish in _blocks([_label(one) for one in left], [_label(one) for one in right]):
            for offset in range(max(last - first, finish - begin)):
                a, b = first + offset, begin + offset
                one = (True, left[a]) if a < last else (False, None)
                other = (True, right[b]) if b < finish else (False, None)
                yield one, other, (start + a) if one[0] else (from_ + b)


def _blocks(recorded: Sequence[str], ours: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, recorded, ours, autojunk=False).get_opcodes()


def _label(item: Any) -> str:
    """What tells one item of a list from another, before their contents are compared."""
    if not isinstance(item, dict):
        return ""
    known = cast("dict[str, Any]", item)
    named = {key: known.get(key) for key in ("role", "type", "id", "call_id", "tool_call_id", "tool_use_id")}
    return _json([named, *(sorted(known) if named["type"] is None and named["role"] is None else ())])


def _role(item: Any) -> str:
    """The role of a message, so that a rule can ask for it."""
    role = cast("dict[str, Any]", item).get("role") if isinstance(item, dict) else None
    return f"({role})" if role else ""


def _at(in_recorded: bool, recorded: Any, in_ours: bool, ours: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if in_recorded and in_ours:
        yield from places(recorded, ours, path)
    else:
        yield path, _json(recorded) if in_recorded else ABSENT, _json(ours) if in_ours else ABSENT


def rule_for(rules: Sequence[Rule], protocol: str, difference: Difference) -> Rule | None:
    """The first rule that accepts a difference."""
    return next((rule for rule in rules if rule.fits(protocol, difference)), None)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _short(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"
