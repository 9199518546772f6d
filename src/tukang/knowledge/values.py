"""What the knowledge gives and is asked for: documents, hits, what became of an addition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from tukang.knowledge.errors import DocumentError

Where = Mapping[str, str | Sequence[str]]
"""A filter: name → the value a document must have there, or one of several."""

Became = Literal["added", "updated", "unchanged", "failed", "vanished", "removed"]
"""`vanished`: its file is no more in the folder that was added, and the document was left; `removed`: it was taken out."""


class Document(msgspec.Struct, frozen=True):
    """A document as it is kept.

    Args:
        source: which one: the file's whole path, or the name it was given.
        name: how it is shown and cited.
        title: what it calls itself.
        passages: how many there are.
        pages: how many it has, where its format has them.
        unread: pages that are pictures, and were not read.
        data: what is known about it (`departemen`).
        added: seconds since the epoch.
    """

    source: str
    name: str
    title: str
    passages: int
    pages: int | None
    unread: tuple[int, ...]
    data: Mapping[str, str]
    added: float


class Hit(msgspec.Struct, frozen=True):
    """A passage that was found.

    Args:
        text: the passage.
        document: the name of its document.
        title: the document's title.
        heading: the headings above it.
        page: where it begins, from 1.
        score: of the search; higher is better, and compares within one search only.
        text_place, vector_place: at which place the two rankings have it, from 1; None where one does not.
        nearness: cosine of its vector and the question's; None without.
        data: what is known about the document.
        passage: its number in the store.
        source: the document's source.
    """

    text: str
    document: str
    title: str
    heading: str
    page: int | None
    score: float
    text_place: int | None
    vector_place: int | None
    nearness: float | None
    data: Mapping[str, str]
    passage: int
    source: str


class Outcome(msgspec.Struct, frozen=True):
    """What became of one document.

    Args:
        source: which.
        became: what.
        passages: how many it has now.
        new: how many of them are new or changed.
        gone: how many it had and has no more.
        unread: its pages that are pictures, and were not read.
        error: why it was not taken in.
    """

    source: str
    became: Became
    passages: int = 0
    new: int = 0
    gone: int = 0
    unread: tuple[int, ...] = ()
    error: DocumentError | None = None


class Step(msgspec.Struct, frozen=True):
    """How far an addition is.

    Args:
        source: the document at hand.
        documents: how many there are, and
        document: which of them this is, from 1.
        done, total: passages of it that have their vectors.
        outcome: what became of it, once that is known.
    """

    source: str
    document: int
    documents: int
    done: int = 0
    total: int = 0
    outcome: Outcome | None = None
