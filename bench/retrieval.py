"""How often a search finds what it should: recall among the first 1, 5 and 10, for full text, vectors and both.

    python -m bench.retrieval DIR…                      each DIR has tools.jsonl and queries.jsonl
    python -m bench.retrieval --kbli TABLE.json [DIR…]  our questions about business activities, on a whole table of codes

In `tools.jsonl` each line is `{"name", "description"}`, in `queries.jsonl` `{"query", "tools": [names that are right]}`; of
several, recall is the part that was found. `--embedder NAME` takes other vectors than the ones at hand
without a name; `--text` leaves vectors out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from tukang.assistants.kbli.cari import dicari
from tukang.assistants.kbli.impor import baca
from tukang.assistants.kbli.kata import diperluas
from tukang.models.embeddings.base import LocalEmbedder
from tukang.models.embeddings.names import at_hand
from tukang.retrieval.hybrid import By, HybridIndex
from tukang.runtime.finding import indexed

DEPTHS = (1, 5, 10)
OWN = sorted(Path(__file__).parent.glob("kbli_questions*.jsonl"))
"""Sets of questions: the first was there while words were collected for it; docs/kbli.md says what each of the others was."""


class Offered(msgspec.Struct, frozen=True):
    """What can be found."""

    name: str
    description: str = ""


class Asked(msgspec.Struct, frozen=True):
    """A question, and what is right."""

    query: str
    tools: list[str]


T = TypeVar("T")


def lines_of(path: Path, kind: type[T]) -> list[T]:
    """Each line of a file, as a value."""
    return [msgspec.json.decode(line, type=kind) for line in path.read_bytes().splitlines() if line.strip()]


def recall(found: Callable[[str], Sequence[str]], asked: Iterable[Asked]) -> dict[int, float]:
    """Recall at each depth, over all questions."""
    questions = list(asked)
    totals = dict.fromkeys(DEPTHS, 0.0)
    for question in questions:
        names, right = found(question.query), set(question.tools)
        for depth in DEPTHS:
            totals[depth] += len(right & set(names[:depth])) / len(right)
    return {depth: total / len(questions) for depth, total in totals.items()}


class Search(msgspec.Struct, frozen=True):
    """Questions, and how they are put to an index."""

    asked: list[Asked]
    expand: Callable[[str], str] = str

    def found(self, index: HybridIndex, query: str, by: By) -> list[str]:
        """What is found for one of them, the best first."""
        return [one.id for one in index.search(self.expand(query), max(DEPTHS), by=by)]


def figures(title: str, index: HybridIndex, ways: Sequence[By], sets: Mapping[str, Search]) -> None:
    """Print the figures of sets of questions; a search knows its questions."""
    print(f"{title}: {len(index)} texts")
    print(f"  {'':52}" + "".join(f"recall@{depth:<5}" for depth in DEPTHS) + "ms a question")
    for name, search in sets.items():
        for by in ways:
            begun = time.perf_counter()
            got = recall(lambda query, by=by, search=search: search.found(index, query, by), search.asked)
            spent = (time.perf_counter() - begun) / len(search.asked) * 1000
            line = f"{name} ({len(search.asked)}), {by}"
            print(f"  {line:52}" + "".join(f"{got[depth]:<12.3f}" for depth in DEPTHS) + f"{spent:.1f}", flush=True)


def of_tools(folder: Path, maker: LocalEmbedder | None, ways: Sequence[By]) -> None:
    """Tools, as an agent finds them: `both` is its way, or `text` where there are no vectors."""
    tools = lines_of(folder / "tools.jsonl", Offered)
    index = indexed([(tool.name, tool.description) for tool in tools], maker)
    figures(folder.name, index, ways, {"questions": Search(lines_of(folder / "queries.jsonl", Asked))})


def of_codes(table: Path, maker: LocalEmbedder | None, ways: Sequence[By]) -> None:
    """Codes; the assistant asks by full text, with its own words joined to the question."""
    texts = [(code.kode, dicari(code)) for code in baca(table, 2025).kode]
    sets: dict[str, Search] = {}
    for path in OWN:
        asked, name = lines_of(path, Asked), path.stem.removeprefix("kbli_").replace("_", " ")
        sets[f"{name}, as asked"] = Search(asked)
        sets[f"{name}, as the assistant asks"] = Search(asked, diperluas)
    figures("kbli 2025", HybridIndex(texts, maker), ways, sets)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--kbli", type=Path, metavar="TABLE.json", help="a whole table of the 2025 edition")
    parser.add_argument("--embedder", help="as it is called in models/embeddings/names.py")
    parser.add_argument("--text", action="store_true", help="full text alone")
    chosen = parser.parse_args()
    if not chosen.folders and not chosen.kbli:
        parser.error("name a folder with tools.jsonl and queries.jsonl, or --kbli TABLE.json")
    maker = None if chosen.text else at_hand(chosen.embedder)
    ways: tuple[By, ...] = ("text", "vectors", "both") if maker else ("text",)
    for folder in chosen.folders:
        of_tools(folder, maker, ways)
    if chosen.kbli:
        of_codes(chosen.kbli, maker, ways)


if __name__ == "__main__":
    main()
