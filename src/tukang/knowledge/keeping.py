"""What is written and read of documents, in statements that both databases know. Each is part of a transaction of its
caller's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from tukang.knowledge.passages import Passage
from tukang.knowledge.shelf import Scope, Shelf
from tukang.knowledge.values import Document, Where
from tukang.memory.stores.errors import StoreError
from tukang.retrieval.words import words_of

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix


class Kept(msgspec.Struct, frozen=True):
    """A document that is there: its key, the digest of what it was made of, and the passages it has: digest → keys."""

    key: int
    digest: str
    passages: Mapping[str, Sequence[int]]


class Incoming(msgspec.Struct, frozen=True):
    """A document that is to be there.

    Args:
        source, name, title, pages, unread, data: see `Document`.
        digest: of what it was made of.
        passages: all of them, in order.
    """

    source: str
    name: str
    title: str
    digest: str
    pages: int | None
    unread: tuple[int, ...]
    data: Mapping[str, str]
    passages: Sequence[Passage]


def collection(shelf: Shelf, name: str, embedder: str) -> int:
    """The key of a collection that is about to change, made when it is not there. Who changes it at the same time waits until
    this transaction is over.

    Raises:
        StoreError: it has the vectors of another embedder.
    """
    shelf.insert(
        "INSERT INTO tukang_collections (name, embedder) VALUES (:name, :embedder) "
        "ON CONFLICT (name) DO UPDATE SET revision = tukang_collections.revision + 1 RETURNING key",
        name=name,
        embedder=embedder,
    )
    found = _collection(shelf, name, embedder)
    assert found is not None, "it was made a moment ago, in the same transaction"
    return found


def embedder_of(shelf: Shelf, name: str) -> str | None:
    """The name of the embedder that a collection was made with; None when there is no such collection yet."""
    row = shelf.one("SELECT embedder FROM tukang_collections WHERE name = :name", name=name)
    return str(row[0]) if row else None


def _collection(shelf: Shelf, name: str, embedder: str) -> int | None:
    row = shelf.one("SELECT key, embedder FROM tukang_collections WHERE name = :name", name=name)
    if row is None:
        return None
    if row[1] != embedder:
        raise StoreError(
            "unexpected",
            f"the knowledge {name!r} was made with the embedder {row[1]!r}, not with {embedder!r}: they do not compare.",
            f"Name {row[1]!r}, or add the documents anew under another name.",
        )
    return int(row[0])


def scope(shelf: Shelf, name: str, embedder: str, where: Where | None) -> tuple[Scope, int] | None:
    """What is searched, and its revision; None when there is no such collection yet."""
    key = _collection(shelf, name, embedder)
    if key is None:
        return None
    row = shelf.one(
        "SELECT revision, (SELECT count(*) FROM tukang_collections) FROM tukang_collections WHERE key = :key", key=key
    )
    assert row is not None, "it was there a moment ago, in the same transaction"
    chosen: tuple[int, ...] | None = None
    if where:
        rows = shelf.all("SELECT key, data FROM tukang_documents WHERE collection = :key", key=key)
        chosen = tuple(int(one) for one, data in rows if _fits(_data(data), where))
    return Scope(key, chosen, alone=row[1] == 1), int(row[0])


def _fits(data: Mapping[str, str], where: Where) -> bool:
    return all(data.get(name) in ((wanted,) if isinstance(wanted, str) else wanted) for name, wanted in where.items())


def kept(shelf: Shelf, collection: int, source: str) -> Kept | None:
    """A document as it is there."""
    row = shelf.one(
        "SELECT key, digest FROM tukang_documents WHERE collection = :collection AND source = :source",
        collection=collection,
        source=source,
    )
    if row is None:
        return None
    passages: dict[str, list[int]] = {}
    for key, digest in shelf.all(
        "SELECT key, digest FROM tukang_passages WHERE document = :document ORDER BY number", document=row[0]
    ):
        passages.setdefault(digest, []).append(int(key))
    return Kept(int(row[0]), str(row[1]), passages)


def write(
    shelf: Shelf, collection: int, before: Kept | None, document: Incoming, vectors: Mapping[str, Matrix]
) -> tuple[int, int]:
    """Make a document what it is to be; passages that were there stay as they are, with their place brought up to date.

    Args:
        collection: its key.
        before: as it is there now.
        document: as it is to be.
        vectors: digest → vector, of each passage that is not there yet.

    Returns:
        how many passages were written, and how many deleted.
    """
    key = _head(shelf, collection, before, document)
    spare = {digest: list(keys) for digest, keys in before.passages.items()} if before else {}
    new: list[tuple[int, str, Passage]] = []
    for number, passage in enumerate(document.passages):
        digest = passage.digest(document.title)
        if spare.get(digest):
            shelf.change(
                "UPDATE tukang_passages SET number = :number, page = :page WHERE key = :key",
                number=number,
                page=passage.page,
                key=spare[digest].pop(0),
            )
        else:
            new.append((number, digest, passage))
    gone = [one for keys in spare.values() for one in keys]
    _drop_passages(shelf, gone)
    _add_passages(shelf, key, document.title, new, vectors)
    return len(new), len(gone)


def _head(shelf: Shelf, collection: int, before: Kept | None, document: Incoming) -> int:
    values: dict[str, Any] = {
        "name": document.name,
        "title": document.title,
        "digest": document.digest,
        "pages": document.pages,
        "unread": msgspec.json.encode(document.unread).decode(),
        "data": msgspec.json.encode(document.data).decode(),
        "added": shelf.now(),
    }
    if before is not None:
        shelf.change(
            "UPDATE tukang_documents SET name = :name, title = :title, digest = :digest, pages = :pages, "
            "unread = :unread, data = :data, added = :added WHERE key = :key",
            key=before.key,
            **values,
        )
        return before.key
    return shelf.insert(
        "INSERT INTO tukang_documents (collection, source, name, title, digest, pages, unread, data, added) "
        "VALUES (:collection, :source, :name, :title, :digest, :pages, :unread, :data, :added) RETURNING key",
        collection=collection,
        source=document.source,
        **values,
    )


def _add_passages(
    shelf: Shelf,
    document: int,
    title: str,
    new: Sequence[tuple[int, str, Passage]],
    vectors: Mapping[str, Matrix],
) -> None:
    keys = [
        shelf.insert(
            "INSERT INTO tukang_passages (document, number, digest, heading, page, text) "
            "VALUES (:document, :number, :digest, :heading, :page, :text) RETURNING key",
            document=document,
            number=number,
            digest=digest,
            heading=passage.heading,
            page=passage.page,
            text=passage.text,
        )
        for number, digest, passage in new
    ]
    if new:
        import numpy as np

        shelf.add_words_of([(key, words_of(one[2].whole(title))) for key, one in zip(keys, new, strict=True)])
        shelf.add_vectors(keys, np.stack([vectors[digest] for _, digest, _ in new]))


def _drop_passages(shelf: Shelf, passages: Sequence[int]) -> None:
    shelf.drop_words_of(passages)
    shelf.many("DELETE FROM tukang_passages WHERE key = :key", [{"key": one} for one in passages])


def remove(shelf: Shelf, name: str, document: str) -> list[str]:
    """Delete the documents of this source or name; returns their sources."""
    found = shelf.all(
        """
        SELECT d.key, d.source, d.collection
        FROM tukang_documents d JOIN tukang_collections c ON c.key = d.collection
        WHERE c.name = :name AND (d.source = :document OR d.name = :document)
        """,
        name=name,
        document=document,
    )
    for key, _, collection in found:
        passages = [int(one) for (one,) in shelf.all("SELECT key FROM tukang_passages WHERE document = :key", key=key)]
        _drop_passages(shelf, passages)
        shelf.change("DELETE FROM tukang_documents WHERE key = :key", key=key)
        shelf.change("UPDATE tukang_collections SET revision = revision + 1 WHERE key = :key", key=collection)
    return [str(source) for _, source, _ in found]


def documents(shelf: Shelf, name: str) -> list[Document]:
    """All documents of a collection, by name."""
    rows = shelf.all(
        """
        SELECT d.source, d.name, d.title, (SELECT count(*) FROM tukang_passages p WHERE p.document = d.key),
               d.pages, d.unread, d.data, d.added
        FROM tukang_documents d JOIN tukang_collections c ON c.key = d.collection
        WHERE c.name = :name ORDER BY d.name, d.source
        """,
        name=name,
    )
    return [
        Document(
            source=source,
            name=shown,
            title=title,
            passages=int(passages),
            pages=pages,
            unread=msgspec.json.decode(unread, type=tuple[int, ...]),
            data=_data(data),
            added=float(added),
        )
        for source, shown, title, passages, pages, unread, data, added in rows
    ]


def passages(shelf: Shelf, keys: Sequence[int]) -> dict[int, tuple[Passage, str, str, str, Mapping[str, str]]]:
    """Key → the passage, and its document's name, title, source and data."""
    found: dict[int, tuple[Passage, str, str, str, Mapping[str, str]]] = {}
    for key in keys:
        row = shelf.one(
            "SELECT p.text, p.heading, p.page, d.name, d.title, d.source, d.data FROM tukang_passages p "
            "JOIN tukang_documents d ON d.key = p.document WHERE p.key = :key",
            key=key,
        )
        if row is not None:
            found[key] = Passage(row[0], row[1], row[2]), row[3], row[4], row[5], _data(row[6])
    return found


def _data(text: str) -> dict[str, str]:
    return msgspec.json.decode(text, type=dict[str, str])
