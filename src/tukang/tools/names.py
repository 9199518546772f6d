"""Names that are nearly the same: for a model or a developer who wrote one a little wrong. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_NOISE = re.compile(r"[\W_]+")


LONGEST = 100
"""Characters of a name that are compared; a model may send anything, and comparing takes time."""


def plain(name: str) -> str:
    """A name without case and separators: `cekHarga`, `cek_harga` and `Cek-Harga` are one."""
    return _NOISE.sub("", name.casefold())


def nearest(name: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Known names like this one, the likeliest first: those that differ in case and separators only, then similar ones."""
    by_plain: dict[str, list[str]] = {}
    for candidate in known:
        by_plain.setdefault(plain(candidate), []).append(candidate)
    wanted = plain(name[:LONGEST])
    same = by_plain.pop(wanted, [])
    similar = difflib.get_close_matches(wanted, by_plain, n=most, cutoff=0.6)
    return tuple((same + [candidate for close in similar for candidate in by_plain[close]])[:most])
