"""The rows of a matrix that are nearest to a vector, exactly. All are unit vectors, so that nearness is a dot product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tukang.retrieval.quietly import quietly

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix


def nearest(matrix: Matrix, vector: Matrix, count: int, rows: Sequence[int] | None = None) -> dict[int, float]:
    """Row → nearness, the nearest first.

    Args:
        matrix: unit rows.
        vector: one of them.
        count: how many at most.
        rows: only these; None for all.
    """
    chosen = None if rows is None else np.asarray(rows, dtype=np.intp)
    with quietly():
        scores = (matrix if chosen is None else matrix[chosen]) @ vector
    best = top(scores, count)
    return {int(at if chosen is None else chosen[at]): float(scores[at]) for at in best}


def top(scores: Matrix, count: int) -> Sequence[int]:
    """Where the highest scores are, the highest first."""
    if count >= len(scores):
        return [int(at) for at in np.argsort(-scores, kind="stable")]
    best = np.argpartition(-scores, count)[:count]
    return [int(at) for at in best[np.argsort(-scores[best], kind="stable")]]
