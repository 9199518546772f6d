"""Taking a document in: read, cut, compared with what is there; vectors of what is new; written in one transaction.

All that takes its time is done before the transaction: so a process that is killed leaves each document as it was or
as it is to be, and nobody waits for an embedder behind a lock.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from tukang.knowledge.errors import DocumentError
from tukang.knowledge.keeping import Incoming, Kept
from tukang.knowledge.passages import passages_of
from tukang.knowledge.reading.blocks import Content
from tukang.knowledge.reading.formats import read

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Embedder, Matrix

_FORM = "1"
"""Of passages: what was cut by an older rule is cut anew when it is added again."""

BATCH = 32
"""Passages whose vectors are asked for at a time."""

_MOST_DATA = 64
"""Things that may be said about a document, and `_LONGEST` characters of each."""

_LONGEST = 500


def digest_of(data: bytes, said: Mapping[str, str], encoding: str | None) -> str:
    """What a document is made of, so that the same is known again."""
    about = json.dumps([_FORM, sorted(said.items()), encoding], ensure_ascii=False)
    return hashlib.sha256(about.encode() + b"\0" + data).hexdigest()


def incoming(
    data: bytes, source: str, name: str, digest: str, said: Mapping[str, str], encoding: str | None
) -> Incoming:
    """A document, read and cut. Blocks.

    Args:
        data: all of the file.
        source, name: see `Document`.
        digest: of what it is made of.
        said: what is known about it, where it says nothing itself.
        encoding: of its text.

    Raises:
        DocumentError: it cannot be taken in.
    """
    return composed(read(data, name, encoding), source, name, digest, said)


def composed(content: Content, source: str, name: str, digest: str, said: Mapping[str, str]) -> Incoming:
    """A document that was read, cut."""
    about = checked({**said, **content.data}, name)  # what a document says itself is about it alone
    title = content.title.strip() or PurePath(posixpath.basename(name)).stem
    passages = passages_of(content.blocks)
    return Incoming(source, name, title[:300], digest, content.pages, content.unread, about, passages)


def checked(data: Mapping[str, str], name: str) -> dict[str, str]:
    """What is said about a document, if it can be kept.

    Raises:
        DocumentError: `metadata`.
    """
    if len(data) > _MOST_DATA or any(len(key) > _LONGEST or len(value) > _LONGEST for key, value in data.items()):
        raise DocumentError(
            "metadata", name, f"what is said about it is more than {_MOST_DATA} things of {_LONGEST} characters."
        )
    return dict(data)


def missing(before: Kept | None, document: Incoming) -> dict[str, str]:
    """Digest → what is to be embedded, of the passages that are not there yet."""
    there: Mapping[str, Sequence[int]] = before.passages if before is not None else {}
    counted: dict[str, int] = {}
    wanted: dict[str, str] = {}
    for passage in document.passages:
        digest = passage.digest(document.title)
        counted[digest] = counted.get(digest, 0) + 1
        if counted[digest] > len(there.get(digest, ())):
            wanted[digest] = passage.whole(document.title)
    return wanted


async def vectors_of(embedder: Embedder, texts: Mapping[str, str], start: int) -> dict[str, Matrix]:
    """The vectors of one batch of texts, from the `start`-th on."""
    digests = list(texts)[start : start + BATCH]
    rows = await embedder.embed([texts[digest] for digest in digests], "passage")
    return {digest: rows[at] for at, digest in enumerate(digests)}
