"""An index in memory: both rankings, their fusion, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.models.embeddings.base import Kind, unit_rows
from tukang.retrieval.codes import Codes, packed
from tukang.retrieval.fusing import fused, places
from tukang.retrieval.hybrid import HybridIndex
from tukang.retrieval.vectors import nearest

TEXTS = [
    ("01", "Pertanian jagung"),
    ("02", "Penjualan eceran jagung"),
    ("03", "Reparasi sepeda motor"),
    ("04", "Penyewaan mobil"),
]
MEANT = {"bengkel": 2, "rental": 3}


class Meaning:
    """An embedder that knows what two words mean, and which text each row is of."""

    name = "meaning"
    dimensions = 4

    async def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        return self.vectors(texts, kind)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Any:
        rows = np.full((len(texts), 4), 0.01)
        for at, text in enumerate(texts):
            found = at if kind == "passage" else next((row for word, row in MEANT.items() if word in text), None)
            if found is not None:
                rows[at, found] = 1
        return unit_rows(rows)


def test_full_text_alone_finds_other_forms_of_a_word() -> None:
    index = HybridIndex(TEXTS)
    assert [one.id for one in index.search("menjual jagung eceran")] == ["02", "01"]
    assert index.search("menyewakan")[0].id == "04"
    assert index.search("bengkel") == []
    assert index.search("  ") == []


def test_vectors_find_what_shares_no_word_and_both_say_where_they_have_it() -> None:
    index = HybridIndex(TEXTS, Meaning())
    found = index.search("bengkel")[0]
    assert (found.id, found.text_place, found.vector_place) == ("03", None, 1)
    assert found.nearness == pytest.approx(1, abs=0.01)
    both = index.search("rental mobil")[0]
    assert (both.id, both.text_place, both.vector_place) == ("04", 1, 1)
    assert [one.id for one in index.search("rental jagung", by="text")] == ["01", "02"]
    assert index.search("rental jagung", 1, by="vectors")[0].id == "04"


def test_an_exact_id_is_always_first_and_a_limit_and_a_choice_are_kept() -> None:
    index = HybridIndex(TEXTS, Meaning())
    assert index.search("jagung", 1, among={"01"})[0].id == "01"
    assert {one.id for one in index.search("jagung rental", among={"02", "04"})} == {"02", "04"}
    assert len(index.search("jagung", 2)) == 2
    assert len(HybridIndex([], Meaning()).search("apa saja")) == 0
    named = HybridIndex([("jagung", "lain"), ("x", "jagung jagung")])
    assert named.search("jagung")[0].id == "jagung" or named.search("lain")[0].id == "jagung"


def test_two_texts_with_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="'01'"):
        HybridIndex([("01", "a"), ("01", "b")])


@given(st.lists(st.permutations(list("abcdef")), min_size=1, max_size=4))
def test_what_is_first_everywhere_is_first_and_all_are_there(rankings: list[list[str]]) -> None:
    ranked = fused([(1.0, ranking) for ranking in rankings])
    assert {one for one, _ in ranked} == set("abcdef")
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    if len({ranking[0] for ranking in rankings}) == 1:
        assert ranked[0][0] == rankings[0][0]
    assert places(rankings[0])[rankings[0][2]] == 3


def _vectors(count: int, seed: int, dimensions: int = 100) -> Any:
    chance = np.random.default_rng(seed)
    centers = chance.standard_normal((40, dimensions))
    return unit_rows(centers[chance.integers(0, 40, count)] + 0.7 * chance.standard_normal((count, dimensions)))


@pytest.mark.parametrize("count", [0, 1, 10, 9_000])
def test_packed_vectors_find_what_whole_ones_do(count: int) -> None:
    vectors, questions = np.split(_vectors(count + 5, 1, 300), [count])
    numbers = np.arange(count, dtype=np.int64)
    rows, scales = packed(vectors)
    codes = Codes(numbers, numbers % 3, rows, scales)
    assert len(codes) == count
    for question in questions:
        exact = nearest(vectors, question, 10) if count else {}
        found = codes.nearest(question, 10)
        assert len(found) == min(count, 10)
        assert len(set(found) & set(exact)) >= 0.9 * len(exact)
        assert all(abs(found[key] - exact[key]) < 0.02 for key in set(found) & set(exact))
        assert all(key % 3 == 1 for key in codes.nearest(question, 10, (1,)))
        assert codes.nearest(question, 10, (7,)) == {}
