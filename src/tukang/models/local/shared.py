"""One engine for each process and weights file.

Two copies of the weights would be two gigabytes for nothing, and two engines would fight for the same cores. So this is
the one place of the package that keeps something for the whole process: a table of loaded engines, filled on first use.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from tukang.models.local.llama import LlamaEngine
from tukang.models.local.weights import Weights, cache_folder

_Key = tuple[int, Path, str]

_loaded: dict[_Key, LlamaEngine] = {}
_loading = threading.Lock()


def shared_engine(weights: Weights, threads: int | None = None) -> LlamaEngine:
    """The engine of these weights, loaded now if nobody did. Blocks; call it in a thread.

    Whoever comes first decides the number of threads. A process that was forked loads its own: the engine's threads did not
    come along.

    Raises:
        ModelError: of kind `configuration`, as `LlamaEngine` says.
    """
    key = (os.getpid(), weights.path, weights.fingerprint)
    with _loading:
        if key not in _loaded:
            _loaded[key] = LlamaEngine(weights, threads, cache_folder() / "states")
        return _loaded[key]


def release_engines() -> None:
    """Free the memory of every engine of this process. A model that is used afterwards loads again."""
    with _loading:
        for key in [key for key in _loaded if key[0] == os.getpid()]:
            _loaded.pop(key).close()
