"""Whether a turn was right: its calls, the facts in its answer, and what it quotes.

Values in, a judgement out; it runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Call = tuple[str, Mapping[str, Any]]
Probe = Mapping[str, Any]

_CHANGES = re.compile(
    r"buat|kirim|batal|pesan|order|send|create|cancel|delete|hapus|ubah|update|tambah_|transfer|bayar|pay"
)
_COMMUTES = re.compile(r"^(add|multiply|sum|tambah|jumlah|kali|plus|times)$")
_IDENTIFIER = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2,}[-_]?\d{2,}(?![A-Za-z0-9])")


@dataclass(frozen=True)
class Judged:
    """One turn, judged.

    Args:
        tool: the first call went to an acceptable tool (or none was made where none should be).
        right_but_for_misquotes: calls and facts are right.
        misquoted: identifiers of the answer that nobody gave.
        invalid: calls that the schema or the toolbox refused.
    """

    id: int
    kind: str
    prompt: str
    calls: list[Call]
    answer: str
    tool: bool
    right_but_for_misquotes: bool
    misquoted: list[str]
    invalid: int
    seconds: float

    @property
    def right(self) -> bool:
        return self.right_but_for_misquotes and not self.misquoted


def judge(
    probe: Probe,
    calls: Sequence[Call],
    answer: str,
    score: Callable[[Any, Any, str], Mapping[str, Any]] | None,
    wrong: list[str],
    invalid: int,
    seconds: float,
) -> Judged:
    """Judge one turn; `score` replaces our own judgement of calls and facts."""
    if score is not None:
        scored = score(dict(probe), list(calls), answer)
        tool, right = bool(scored["sel"]), bool(scored["success"])
    else:
        tool, right = right_tool(probe, calls), right_calls(probe, calls) and right_facts(probe, answer)
    return Judged(
        probe["id"], probe["kind"], probe["prompt"], list(calls), answer, tool, right, wrong, invalid, round(seconds, 2)
    )


def right_tool(probe: Probe, calls: Sequence[Call]) -> bool:
    """Whether the first call went to a tool that one of the accepted lists has (first, or anywhere among mere reads)."""
    first = calls[0][0] if calls else None
    accepted: set[str | None] = set()
    for wanted in probe["accept"]:
        names = [name for name, _ in wanted]
        accepted |= set(names if names and not _in_order(names) else names[:1]) or {None}
    return first in accepted


def right_calls(probe: Probe, calls: Sequence[Call]) -> bool:
    """Whether one accepted list was made, nothing forbidden was called, and nothing was changed that nobody asked for.

    Further reads do no harm, unless no call at all was wanted.
    """
    if any(name in probe.get("forbid", ()) for name, _ in calls):
        return False
    wanted = [call for accepted in probe["accept"] for call in accepted]
    if any(_CHANGES.search(name) and not any(_same(one, (name, given)) for one in wanted) for name, given in calls):
        return False
    if probe["kind"] == "none":
        return not calls
    return any(_made(accepted, calls) for accepted in probe["accept"])


def right_facts(probe: Probe, answer: str) -> bool:
    """Whether each fact's pattern is in the answer, digit grouping aside."""
    plain = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", answer)
    return all(re.search(fact, plain, re.IGNORECASE) for fact in probe["facts"])


def misquoted(answer: str, known: str) -> list[str]:
    """Identifiers (two letters or more, two digits or more) of the answer that are not in `known`, whatever their case."""
    given = {match.lower() for match in _IDENTIFIER.findall(known)}
    return [match for match in _IDENTIFIER.findall(answer) if match.lower() not in given]


def _made(wanted: Sequence[Call], calls: Sequence[Call]) -> bool:
    used: list[int] = []
    ordered = _in_order([name for name, _ in wanted])
    for want in wanted:
        begin = used[-1] + 1 if ordered and used else 0
        place = next((at for at in range(begin, len(calls)) if at not in used and _same(want, calls[at])), None)
        if place is None:
            return False
        used.append(place)
    return True


def _in_order(names: Sequence[str]) -> bool:
    """Order matters where something is changed, and in sums, where a step builds on the one before."""
    return any(_CHANGES.search(name) or _COMMUTES.match(name) for name in names)


def _same(wanted: Call, made: Call) -> bool:
    if wanted[0] != made[0]:
        return False
    if _equal(wanted[1], made[1]):
        return True
    keys = list(wanted[1])
    if not _COMMUTES.match(wanted[0]) or len(keys) != 2:
        return False
    return _equal({keys[0]: wanted[1][keys[1]], keys[1]: wanted[1][keys[0]]}, made[1])


def _equal(wanted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return all(name in given and _fits(value, given[name]) for name, value in wanted.items())


def _fits(wanted: Any, given: Any) -> bool:
    """Numbers within rounding, texts whatever their case; a text may be a pattern."""
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    if isinstance(wanted, int | float):
        return isinstance(given, int | float) and abs(wanted - given) < 1e-9
    if isinstance(wanted, str):
        if not isinstance(given, str):
            return False
        return wanted.lower() == given.strip().lower() or bool(re.search(wanted, given, re.IGNORECASE))
    return wanted == given
