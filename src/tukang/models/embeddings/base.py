"""What an embedder is: it makes unit vectors of texts, so that a dot product says how near two texts are.

A question and a passage may be embedded differently (some models were trained with a prefix for each), so both have a method
of their own. Vectors of embedders with different names do not compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    """Rows of length 1."""

Kind = Literal["query", "passage"]

Progress = Callable[[int, int], None]
"""Called with how many are done and how many there are."""


class Embedder(Protocol):
    """Makes vectors of texts.

    It may also have an attribute `unrelated`: the nearness below which a question and a passage have nothing to do with each
    other. Where it is not known, only greetings and sums are strange to the documents (`tukang.knowledge.fitting`).

    Attributes:
        name: which embedder; it is kept beside its vectors.
    """

    name: str

    async def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """A row for each text, in order; each of length 1.

        Raises:
            ModelError: the vectors cannot be had.
        """
        ...


@runtime_checkable
class LocalEmbedder(Protocol):
    """An embedder on this machine: it can be asked without an event loop. It blocks, and may be called from any thread.

    Attributes:
        name: which embedder.
        dimensions: how long its vectors are.
    """

    name: str
    dimensions: int

    async def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """As `Embedder.embed`, in a thread."""
        ...

    def vectors(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """As `embed`, here and now."""
        ...


def unit_rows(rows: Any) -> Matrix:
    """Vectors as rows of length 1; a row of zeros stays one."""
    import numpy as np

    matrix = np.atleast_2d(np.asarray(rows, dtype=np.float32))
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.ascontiguousarray(matrix / np.where(lengths > 0, lengths, 1), dtype=np.float32)
