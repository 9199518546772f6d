"""What a search over documents costs, at two sizes, and what the quick comparison of vectors loses.

    python -m bench.knowledge [--sizes 1000,100000] [--store postgresql://…]

Passages are made of Indonesian root words, drawn as words are in texts (Zipf); their vectors of real ones: the
embedder is asked for some hundreds of phrases, and each passage has a mixture of a few of them. So nothing waits for
hours of embedding, and what is measured is the search: the question's own vector is made by the real embedder, each
time. Printed are medians over so many questions, in milliseconds, in one process that uses as many threads as it
likes.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from tukang.knowledge import searching
from tukang.knowledge.knowledge import Knowledge
from tukang.knowledge.shelf import Scope, Shelf
from tukang.models.embeddings.packaged import use
from tukang.retrieval.codes import Codes, packed
from tukang.retrieval.words import question_words

PER_DOCUMENT = 100
QUESTIONS = 60


class Mixed:
    """An embedder that answers passages with mixtures of real vectors, and questions with real ones."""

    name = "use"

    def __init__(self, phrases: Sequence[str]) -> None:
        self._bases: Any = use().vectors(phrases, "passage")
        self._chance = np.random.default_rng(7)

    async def embed(self, texts: Sequence[str], kind: Any) -> Any:
        if kind == "query":
            return await use().embed(texts, kind)
        return self.mixtures(len(texts))

    def mixtures(self, count: int) -> Any:
        """So many unit vectors, each of a few phrases and some noise."""
        chosen = self._chance.integers(0, len(self._bases), (count, 3))
        rows: Any = self._bases[chosen].sum(axis=1)
        rows += self._chance.standard_normal(rows.shape, dtype=np.float32) * 0.02
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def texts(count: int, words: Sequence[str], chance: random.Random) -> list[str]:
    """So many passages of some sixty words."""
    weights = [1 / (place + 3) for place in range(len(words))]
    drawn = chance.choices(words, weights, k=60 * count)
    return [" ".join(drawn[60 * at : 60 * at + 60]) for at in range(count)]


def timed(work: Callable[[], Any]) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


async def measured(size: int, words: Sequence[str], mixed: Mixed, store: str) -> None:
    """Fill a collection, search it, print what that cost."""
    chance = random.Random(size)
    knowledge = Knowledge(store, f"bench{size}", embedder=mixed)
    await knowledge.aupgrade()
    passages = texts(size, words, chance)
    start = time.perf_counter()
    for at in range(0, size, PER_DOCUMENT):
        several = [f"# Bagian {at + one}\n\n{text}" for one, text in enumerate(passages[at : at + PER_DOCUMENT])]
        await knowledge.aadd_text(f"dokumen-{at}", "\n\n".join(several))
    filled = time.perf_counter() - start
    first = await _ms(knowledge.asearch("cuti melahirkan"))
    whole: list[float] = []
    embedding: list[float] = []
    text: list[float] = []
    vectors: list[float] = []
    cpu: list[float] = []
    for _ in range(QUESTIONS):
        source = chance.choice(passages).split()
        question = " ".join(chance.sample(source, chance.randint(4, 8)))
        spent = time.process_time()
        whole.append(await _ms(knowledge.asearch(question)))
        cpu.append((time.process_time() - spent) * 1000)
        embedding.append(timed(lambda question=question: use().vectors([question], "query")))
        lane = knowledge._lane  # pyright: ignore[reportPrivateUsage]
        parts = await lane.run(lambda shelf, question=question: _parts(knowledge, shelf, question))
        text.append(parts[0])
        vectors.append(parts[1])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{size:>8,} passages   search {median(whole):6.1f} ms "
        f"(95 %: {quantiles(whole, n=20)[-1]:.1f}; CPU {median(cpu):.1f})   "
        f"question's vector {median(embedding):.1f}   full text {median(text):.1f}   vectors {median(vectors):.1f}   "
        f"first search {first:.0f}   filled in {filled:.0f} s   process {memory:.0f} MB"
    )
    await knowledge.aclose()


def _parts(knowledge: Knowledge, shelf: Shelf, question: str) -> tuple[float, float]:
    name, nearby = knowledge.name, knowledge._nearby  # pyright: ignore[reportPrivateUsage]
    with shelf.transaction(write=False):
        row = shelf.one("SELECT key, revision FROM tukang_collections WHERE name = :name", name=name)
        assert row is not None
        scope = Scope(row[0], alone=True)
        vector = use().vectors([question], "query")[0]
        text = timed(lambda: shelf.by_words(scope, question_words(question), searching.DEPTH))
        near = timed(lambda: searching._near(shelf, nearby, scope, row[1], vector, searching.DEPTH))  # pyright: ignore[reportPrivateUsage]
    return text, near


async def _ms(work: Any) -> float:
    start = time.perf_counter()
    await work
    return (time.perf_counter() - start) * 1000


def lost(size: int, mixed: Mixed) -> None:
    """How many of the nearest ten by the whole vectors are among the ten that are found, over so many vectors."""
    vectors = mixed.mixtures(size)
    rows, scales = packed(vectors)
    numbers = np.arange(size, dtype=np.int64)
    codes = Codes(numbers, numbers, rows, scales)
    found = 0
    for question in mixed.mixtures(QUESTIONS):
        exact = np.argsort(-(vectors @ question))[:10]
        found += len(set(codes.nearest(question, 10)) & {int(at) for at in exact})
    print(f"{size:>8,} vectors    of the nearest ten, {found / QUESTIONS * 10:.1f} % are found")


def main() -> None:
    """Measure, and print."""
    asked = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    asked.add_argument("--sizes", default="1000,100000")
    asked.add_argument("--store", help="where to make them; without, an SQLite file that is deleted afterwards")
    options = asked.parse_args()
    factory: Any = importlib.import_module("Sastrawi.Stemmer.StemmerFactory").StemmerFactory()
    words = [word for word in factory.get_words() if len(word) > 3]
    random.Random(3).shuffle(words)
    mixed = Mixed([" ".join(words[at : at + 4]) for at in range(0, 3200, 4)])
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measured(size, words, mixed, options.store or f"sqlite:///{Path(folder, 'bench.db')}"))
        lost(size, mixed)


if __name__ == "__main__":
    main()
