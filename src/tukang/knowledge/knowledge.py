"""Documents that were taken in, and are found by question: what a user builds.

    knowledge = Knowledge("sqlite:///tukang.db")
    knowledge.add("kebijakan/")
    knowledge.search("berapa hari cuti melahirkan?")
    agent = Agent(tools=[knowledge.tool("cari_dokumen", departemen=["SDM", "Keuangan"])], grounded=True)

Every method that waits has a twin with `a` in front, for use in an event loop; it is the same method.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tukang.knowledge import adding, keeping, searching
from tukang.knowledge.errors import DocumentError
from tukang.knowledge.files import Found, content_of, files_at, legible, vanished
from tukang.knowledge.opening import lane_at
from tukang.knowledge.reading.blocks import Content
from tukang.knowledge.reading.formats import MOST_BYTES
from tukang.knowledge.reading.plain import read_markdown
from tukang.knowledge.searching import Nearby
from tukang.knowledge.shelf import Shelf
from tukang.knowledge.values import Became, Document, Hit, Outcome, Step, Where
from tukang.models.embeddings.names import embedder as named
from tukang.runtime.facade import wait_for

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Embedder, Matrix

T = TypeVar("T")

Say = Callable[[Step], None]
"""Told how far an addition is."""

About = Mapping[str, str] | Callable[[str], Mapping[str, str]]
"""What is known about documents: for all of them, or for each by its name."""


class Knowledge:
    """A collection of documents in a store.

    Args:
        store: `sqlite:///file.db` or `postgresql://…`, the sessions' own or another.
        name: of the collection; a store may hold several.
        embedder: whose vectors: a name (`use`, `e5`, `openai:text-embedding-3-small`, `ollama:nomic-embed-text`,
            `bedrock:amazon.titan-embed-text-v2:0`), an embedder of your own, or None for the one the collection was made
            with, or the packaged one for a new collection.
        most_bytes: of one file.

    Raises:
        ConfigurationError: the store's address is none, there is no such embedder, or its package is not installed.
    """

    def __init__(
        self,
        store: str,
        name: str = "default",
        *,
        embedder: str | Embedder | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.name = name
        self._lane, self.store = lane_at(store)
        self._embedder: Embedder | None = named(embedder) if isinstance(embedder, str) else embedder
        self._most_bytes = most_bytes
        self._nearby = Nearby()

    # ── taking in ────────────────────────────────────────────────────────────────────────────────────────────────────

    def add(
        self,
        *paths: str | Path,
        about: About | None = None,
        within: Path | None = None,
        encoding: str | None = None,
        prune: bool = False,
        say: Say | None = None,
    ) -> list[Outcome]:
        """Take files in, and all readable files of folders. What is there and has not changed costs next to nothing.

        Args:
            paths: files and folders.
            about: what is known about them, beside what a Markdown file says between its `---`.
            within: a folder that nothing may lie outside of.
            encoding: of text that is not UTF-8.
            prune: whether documents go whose files were in a folder that is added, and are there no more. Else they are
                left, and said to be `vanished`.
            say: told how far it is.

        Returns:
            what became of each file, also of those that could not be read: their documents stay as they were.

        Raises:
            StoreError: the database cannot do it. ModelError: the embedder cannot.
        """
        return self._wait(
            lambda: self.aadd(*paths, about=about, within=within, encoding=encoding, prune=prune, say=say)
        )

    async def aadd(
        self,
        *paths: str | Path,
        about: About | None = None,
        within: Path | None = None,
        encoding: str | None = None,
        prune: bool = False,
        say: Say | None = None,
    ) -> list[Outcome]:
        """See `add`."""
        found = await asyncio.to_thread(lambda: [one for path in paths for one in files_at(path, within)])
        outcomes: list[Outcome] = []
        for number, file in enumerate(found, 1):
            step = Step(file.name, number, len(found))
            try:
                said = _about(about, file.name)
                work = self._add_file(file, said, encoding)
                async with aclosing(work):
                    async for done, total, outcome in work:
                        _tell(say, Step(file.name, number, len(found), done, total, outcome))
                        if outcome is not None:
                            outcomes.append(outcome)
            except DocumentError as error:
                outcomes.append(Outcome(file.source, "failed", error=error))
                _tell(say, Step(step.source, number, len(found), outcome=outcomes[-1]))
        for source in await self._vanished(paths):
            became: Became = "removed" if prune and await self.aremove(source) else "vanished"
            outcomes.append(Outcome(source, became))
            _tell(say, Step(source, len(found), len(found), outcome=outcomes[-1]))
        return outcomes

    async def _vanished(self, paths: Sequence[str | Path]) -> list[str]:
        """The documents whose files were in one of these folders."""
        folders = await asyncio.to_thread(lambda: [path for path in paths if Path(path).expanduser().is_dir()])
        if not folders:
            return []
        known = await self.adocuments()
        return await asyncio.to_thread(lambda: vanished((one.source for one in known), folders))

    def add_text(self, name: str, text: str, *, about: Mapping[str, str] | None = None) -> Outcome:
        """Take in a text in Markdown that is no file, under a name of yours; what was there under this name is replaced."""
        return self._wait(lambda: self.aadd_text(name, text, about=about))

    async def aadd_text(self, name: str, text: str, *, about: Mapping[str, str] | None = None) -> Outcome:
        """See `add_text`."""
        data = text.encode("utf-8", "replace")

        def read() -> Content:
            if not text.strip():
                raise DocumentError("empty", name, "there is nothing in it.")
            return read_markdown(data, name, None)

        digest = adding.digest_of(data, about or {}, None)
        work = self._add(name, digest, lambda: adding.composed(read(), name, name, digest, about or {}))
        last: Outcome | None = None
        async with aclosing(work):
            async for _, _, outcome in work:
                last = outcome or last
        assert last is not None, "an addition ends in an outcome, or raises"
        return last

    async def _add_file(
        self, file: Found, said: Mapping[str, str], encoding: str | None
    ) -> AsyncGenerator[tuple[int, int, Outcome | None]]:
        if file.error is not None:
            raise file.error
        data = await asyncio.to_thread(content_of, file, self._most_bytes)
        digest = await asyncio.to_thread(adding.digest_of, data, said, encoding)
        source = file.source
        work = self._add(source, digest, lambda: adding.incoming(data, source, file.name, digest, said, encoding))
        async with aclosing(work):
            async for step in work:
                yield step

    async def _add(
        self, source: str, digest: str, read: Callable[[], keeping.Incoming]
    ) -> AsyncGenerator[tuple[int, int, Outcome | None]]:
        """Take one document in; yields how many of its passages have vectors, and at the end what became of it."""
        embedder = await self._whose()
        before = await self._do(lambda shelf: self._kept(shelf, source, embedder.name), write=False)
        if before is not None and before.digest == digest:
            count = sum(map(len, before.passages.values()))
            yield count, count, Outcome(source, "unchanged", count)
            return
        document = await asyncio.to_thread(read)
        wanted = adding.missing(before, document)
        vectors: dict[str, Matrix] = {}
        yield 0, len(wanted), None
        for start in range(0, len(wanted), adding.BATCH):
            vectors |= await adding.vectors_of(embedder, wanted, start)
            yield len(vectors), len(wanted), None

        def write(shelf: Shelf) -> tuple[int, int, Became]:
            collection = keeping.collection(shelf, self.name, embedder.name)
            now = keeping.kept(shelf, collection, source)
            if now is not None and now.digest == digest:  # another process was quicker
                return 0, 0, "unchanged"
            if adding.missing(now, document).keys() - vectors.keys():
                raise DocumentError("unreadable", source, "another process has changed it meanwhile.", "Add it again.")
            became: Became = "added" if now is None else "updated"
            return *keeping.write(shelf, collection, now, document, vectors), became

        new, gone, became = await self._do(write, sync=True)
        yield len(wanted), len(wanted), Outcome(source, became, len(document.passages), new, gone, document.unread)

    def _kept(self, shelf: Shelf, source: str, embedder: str) -> keeping.Kept | None:
        found = keeping.scope(shelf, self.name, embedder, None)
        return keeping.kept(shelf, found[0].collection, source) if found else None

    # ── looking, and taking out ──────────────────────────────────────────────────────────────────────────────────────

    def search(self, query: str, limit: int = 5, *, where: Where | None = None) -> list[Hit]:
        """The passages that fit a question, the best first.

        Args:
            query: in words.
            limit: how many at most.
            where: only documents of which this is known: `{"departemen": "SDM"}`, or several values.

        Raises:
            StoreError, ModelError: as for `add`.
        """
        return self._wait(lambda: self.asearch(query, limit, where=where))

    async def asearch(self, query: str, limit: int = 5, *, where: Where | None = None) -> list[Hit]:
        """See `search`."""
        query = query.encode("utf-8", "replace").decode()  # halves of characters are none
        if limit < 1 or not query.strip():
            return []
        embedder = await self._whose()
        vector = (await embedder.embed([query], "query"))[0]
        asked = searching.Asked(self.name, embedder.name, query, vector, limit, where)
        return await self._do(lambda shelf: searching.search(shelf, self._nearby, asked), write=False)

    async def aunknown(self, words: Collection[str]) -> frozenset[str]:
        """Those of some words (as `tukang.retrieval.words` gives them) that stand in no document at all."""
        if not words:
            return frozenset()
        embedder = (await self._whose()).name
        return await self._do(lambda shelf: searching.unknown(shelf, self.name, embedder, words), write=False)

    async def aunrelated(self) -> float | None:
        """The nearness below which a passage has nothing to do with a question; None where the embedder does not say."""
        return getattr(await self._whose(), "unrelated", None)

    async def aprepare(self) -> None:
        """Load what the first search would have to load."""
        await self.asearch("?", 1)

    def documents(self) -> list[Document]:
        """All documents, by name."""
        return self._wait(self.adocuments)

    async def adocuments(self) -> list[Document]:
        """See `documents`."""
        return await self._do(lambda shelf: keeping.documents(shelf, self.name), write=False)

    def remove(self, document: str | Path) -> list[str]:
        """Take a document out, with all its passages.

        Args:
            document: its name, its source, or the path of its file.

        Returns:
            the sources of what was taken out; none if there is no such document.
        """
        return self._wait(lambda: self.aremove(document))

    async def aremove(self, document: str | Path) -> list[str]:
        """See `remove`."""

        def work(shelf: Shelf) -> list[str]:
            exact = keeping.remove(shelf, self.name, legible(str(document)))
            return exact or keeping.remove(shelf, self.name, legible(os.path.realpath(Path(document).expanduser())))

        return await self._do(work, sync=True)

    # ── for agents ───────────────────────────────────────────────────────────────────────────────────────────────────

    def tool(
        self,
        name: str = "cari_dokumen",
        description: str | None = None,
        *,
        limit: int = 5,
        untrusted: bool = False,
        **filters: Sequence[str],
    ) -> Any:
        """A tool that searches here, for an agent. See `tukang.knowledge.tool`.

        Args:
            name: what the model calls it.
            description: what the model reads; a sentence in Indonesian if None.
            limit: how many passages it returns.
            untrusted: whether documents may be from people who must not direct the model: uploads, letters. Then what it
                finds counts as coming from outside, as for any tool (`Rule(after_untrusted=True)`).
            filters: what the model may narrow the search by: what is known about documents → the values it may have.
        """
        from tukang.knowledge.tool import search_tool

        return search_tool(self, name, description, limit, filters, untrusted=untrusted)

    def answer(self, question: str, **more: Any) -> Any:
        """Answer a question by one search and one request to a model. See `tukang.knowledge.answering.answer`."""
        return self._wait(lambda: self.aanswer(question, **more))

    async def aanswer(self, question: str, **more: Any) -> Any:
        """See `answer`."""
        from tukang.knowledge.answering import answer

        return await answer(self, question, **more)

    # ── the store ────────────────────────────────────────────────────────────────────────────────────────────────────

    def upgrade(self) -> tuple[int, ...]:
        """Bring the tables up to date: Postgres wants to be asked, SQLite does it by itself."""
        return self._wait(self.aupgrade)

    async def aupgrade(self) -> tuple[int, ...]:
        """See `upgrade`."""
        return await self._lane.run(lambda shelf: shelf.upgrade_knowledge())

    async def aclose(self) -> None:
        """Give connections and threads back. What is called afterwards opens them again."""
        await self._lane.close()

    async def _whose(self) -> Embedder:
        """Whose vectors there are, or are to be."""
        if self._embedder is None:
            known = await self._do(lambda shelf: keeping.embedder_of(shelf, self.name), write=False)
            self._embedder = named(known)
        return self._embedder

    async def _do(self, work: Callable[[Shelf], T], *, write: bool = True, sync: bool = False) -> T:
        def whole(shelf: Shelf) -> T:
            shelf.prepare()
            with shelf.transaction(write=write, sync=sync):
                return work(shelf)

        return await self._lane.run(whole)

    def _wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return wait_for(work, lambda: None)


def _about(about: About | None, name: str) -> Mapping[str, str]:
    return (about(name) if callable(about) else about) or {}


def _tell(say: Say | None, step: Step) -> None:
    if say is not None:
        say(step)
