"""How much of something is looked at: a sample each day, all of it where there is time.

A property is looked at with a quarter of its examples by `make test`, with all of them by `make test-long`. Nothing else is
decided here; what is long by nature is marked `long` where it stands.
"""

from __future__ import annotations

import os

ALL = "TUKANG_ALL_EXAMPLES" in os.environ


def examples(number: int) -> int:
    """How many of this number of examples are made in this run."""
    return number if ALL else max(number // 4, 15)
