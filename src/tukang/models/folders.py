"""Where tukang keeps what can be made again: joined weights, prompts that were read, vectors."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where tukang keeps what can be made again: `TUKANG_CACHE`, `$XDG_CACHE_HOME/tukang` or `~/.cache/tukang`."""
    if own := os.environ.get("TUKANG_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".cache") / "tukang"
