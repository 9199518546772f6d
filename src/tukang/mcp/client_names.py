"""What other servers' tools are called here: legal for every provider, and each name of one tool only, for good. Pure.

A name does not depend on what else there is, unless two would be the same. And once given it stays: a name that somebody
permitted, or wrote a rule for, never comes to mean another server's tool because that server changed its list.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from tukang.tools.contract import LEGAL_NAME

_LONGEST = 64
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


class Names:
    """Names that were given out so far: each to one tool of one server."""

    def __init__(self) -> None:
        self._owners: dict[str, tuple[str, str]] = {}

    def of(self, server: str, prefix: str, original: str, taken: Collection[str]) -> str:
        """The name of a tool.

        Args:
            server: whose it is.
            prefix: what its name begins with.
            original: what the server calls it.
            taken: the names of tools that are not from a server.
        """
        owner = (server, original)
        plain = legal_name(prefix, original)
        name = plain
        for length in (6, 12, 24):
            if name not in taken and self._owners.get(name, owner) == owner:
                break
            name = _marked(plain, owner, length)
        self._owners[name] = owner
        return name


def legal_name(prefix: str, original: str) -> str:
    """`prefix_original` in letters that every provider takes; the prefix is not said twice."""
    beginning, rest = _cleaned(prefix), _cleaned(original)
    whole = rest if not beginning or _begins(rest, beginning) else f"{beginning}_{rest}"
    if not re.match(r"[a-zA-Z_]", whole):
        whole = f"_{whole}"
    if len(whole) > _LONGEST:
        whole = _marked(whole, (prefix, original), 6)
    assert LEGAL_NAME.fullmatch(whole), whole
    return whole


def _begins(name: str, beginning: str) -> bool:
    return name.lower().startswith((f"{beginning}_".lower(), f"{beginning}-".lower()))


def _cleaned(name: str) -> str:
    return _ILLEGAL.sub("_", name).strip("_") if _ILLEGAL.search(name) else name


def _marked(name: str, owner: tuple[str, str], length: int) -> str:
    mark = hashlib.sha256("\0".join(owner).encode()).hexdigest()[:length]
    return f"{name[: _LONGEST - length - 1]}_{mark}"
