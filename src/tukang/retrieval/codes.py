"""Some hundred thousand vectors in memory, and the nearest of them in a few milliseconds.

A vector is kept as one signed byte for each dimension and a scale: a quarter of its size, and a dot product that is
off by half a percent at most. Up to a few thousand vectors all are compared in full. Of more, all are compared first
in the directions in which they differ most (their principal components), and only the best of these in full. How often
the first comparison loses one of the nearest is measured in bench/knowledge.py, and stands in docs/results.md.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tukang.retrieval.quietly import quietly
from tukang.retrieval.vectors import top

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tukang.models.embeddings.base import Matrix

_SMALL = 4_000
"""Vectors that are compared in full."""

_DIRECTIONS = 192
"""In how many directions vectors are compared first."""

_SHARE = 0.02
"""The part of all vectors that is compared in full, and at least `_LEAST`."""

_LEAST = 1_000

_SAMPLE = 5_000
"""Vectors that the directions are found by."""

_CHUNK = 16_384


def packed(vectors: Matrix) -> tuple[NDArray[np.int8], Matrix]:
    """Vectors as bytes, and the scale of each."""
    scales = np.abs(vectors).max(axis=1, initial=0.0) / 127
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


class Codes:
    """Vectors under keys, each with the group it belongs to.

    Args:
        keys: yours.
        groups: of each; a search may be for some groups only.
        vectors: a row of signed bytes for each.
        scales: what the rows are to be multiplied with.
    """

    def __init__(
        self, keys: NDArray[np.int64], groups: NDArray[np.int64], vectors: NDArray[np.int8], scales: Matrix
    ) -> None:
        self._keys = keys
        self._groups = groups
        self._vectors = vectors
        self._scales = scales

    def __len__(self) -> int:
        return len(self._keys)

    def nearest(self, vector: Matrix, count: int, groups: tuple[int, ...] | None = None) -> dict[int, float]:
        """Key → nearness, the nearest first.

        Args:
            vector: a unit vector.
            count: how many at most.
            groups: only what belongs to these.
        """
        rows: NDArray[np.intp] | None = None
        if groups is not None:
            rows = np.flatnonzero(np.isin(self._groups, np.asarray(groups, dtype=np.int64)))
        size = len(self._keys) if rows is None else len(rows)
        if not size:
            return {}
        if size > _SMALL:
            rows = self._likely(vector, max(_LEAST, int(_SHARE * size), count), rows)
        elif rows is None:
            rows = np.arange(size)
        with quietly():
            scores = (self._vectors[rows].astype(np.float32) @ vector) * self._scales[rows]
        return {int(self._keys[rows[at]]): float(scores[at]) for at in top(scores, count)}

    def _likely(self, vector: Matrix, count: int, rows: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """The rows that are nearest in the first directions."""
        directions, short = self._short
        with quietly():
            sought = directions.T @ vector
            if rows is None or 4 * len(rows) > len(short):  # taking rows out costs more than comparing them
                scores = short @ sought
                scores = scores if rows is None else scores[rows]
            else:
                scores = short[rows] @ sought
        if count >= len(scores):
            return np.arange(len(scores)) if rows is None else rows
        best = np.argpartition(-scores, count)[:count]
        return best if rows is None else rows[best]

    @cached_property
    def _short(self) -> tuple[Matrix, Matrix]:
        """The directions, and each vector in them. The mean of all is left out: it is as near to every one."""
        with quietly():
            return self._shortened()

    def _shortened(self) -> tuple[Matrix, Matrix]:
        size, step = len(self._keys), max(1, len(self._keys) // _SAMPLE)
        sample = self._vectors[::step].astype(np.float32) * self._scales[::step, None]
        sample -= sample.mean(axis=0)
        _, found = np.linalg.eigh(sample.T @ sample)
        directions = np.ascontiguousarray(found[:, -_DIRECTIONS:], dtype=np.float32)
        short = np.empty((size, directions.shape[1]), dtype=np.float32)
        for start in range(0, size, _CHUNK):
            chunk = slice(start, start + _CHUNK)
            short[chunk] = self._full(chunk) @ directions
        return directions, short

    def _full(self, chunk: slice) -> Matrix:
        return self._vectors[chunk].astype(np.float32) * self._scales[chunk, None]
