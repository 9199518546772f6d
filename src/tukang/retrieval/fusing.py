"""One ranking of several, by reciprocal rank: what stands high in one of them stands high, and what stands in all, higher.

Only places count, not scores: those of a full text and of vectors do not compare. Source: Cormack, Clarke and
Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", 2009.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

I = TypeVar("I", bound=Hashable)  # noqa: E741

FLATNESS = 5.0
"""How little the first places count for more than the next. The paper's 60 is for long lists; over the first places of two
lists a smaller one measured better (docs/results.md)."""


def fused(rankings: Sequence[tuple[float, Sequence[I]]], flatness: float = FLATNESS) -> list[tuple[I, float]]:
    """Everything that stands in one of the rankings, the best first, with its score.

    Args:
        rankings: how much each counts, and what stands in it, the best first.
        flatness: see `FLATNESS`.
    """
    scores: dict[I, float] = {}
    for weight, ranking in rankings:
        for place, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + weight / (flatness + place)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def places(ranking: Sequence[I]) -> Mapping[I, int]:
    """At which place each stands, from 1."""
    return {one: place for place, one in enumerate(ranking, 1)}
