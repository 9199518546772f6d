"""The embedders whose weights come in packages, by name. It knows no provider, so that whatever searches may use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tukang.models.embeddings.base import LocalEmbedder, Progress
from tukang.models.embeddings.kept import Kept
from tukang.models.embeddings.packaged import Joined, Packaged, both, e5, use
from tukang.models.folders import cache_folder

DEFAULT = "use"
"""The embedder where none is named."""

PACKAGED: Mapping[str, Callable[[], Packaged | Joined]] = {"use": use, "e5": e5, "use+e5": both}


def at_hand(
    name: str | None = None, *, keep: bool | Path = True, progress: Progress | None = None
) -> LocalEmbedder | None:
    """The packaged embedder of this name, if its package is installed; the default one if None.

    Args:
        name: `use`, `e5` or `use+e5`.
        keep: whether vectors of passages are kept in the cache folder for the next start; or in which file.
        progress: told how many vectors were made that were not there yet.
    """
    embedder = PACKAGED[name or DEFAULT]()
    if not embedder.installed:
        return None
    if keep is False:
        return embedder
    return Kept(embedder, cache_folder() / "vectors.sqlite" if keep is True else keep, progress)
