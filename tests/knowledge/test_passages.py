"""Passages: short enough, complete, and knowing where they stand."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tukang.knowledge.passages import MOST, passages_of
from tukang.knowledge.reading.blocks import Block

WORD = st.text("abcdefghij", min_size=1, max_size=12)
TEXT = st.lists(WORD, min_size=1, max_size=250).map(" ".join)
BLOCK = st.one_of(
    st.builds(lambda text, level: Block("heading", text, level), WORD, st.integers(1, 4)),
    st.builds(lambda text, page: Block("text", text, page=page), TEXT, st.one_of(st.none(), st.integers(1, 9))),
    st.builds(
        lambda rows: Block("table", "\n".join(f"| {row} |" for row in rows)), st.lists(TEXT, min_size=1, max_size=5)
    ),
)


@settings(max_examples=40)
@given(st.lists(BLOCK, max_size=8))
def test_no_word_is_lost_and_none_is_too_long(blocks: list[Block]) -> None:
    passages = passages_of(blocks)
    assert all(passage.text.strip() for passage in passages)
    assert all(len(passage.text) <= 2 * MOST for passage in passages)
    kept = " ".join(f"{passage.heading} {passage.text}" for passage in passages).replace("\n", " ")
    whole = "".join(kept.split())
    for block in blocks:
        for word in block.text.split():
            assert word in kept or word in whole


def test_a_passage_keeps_the_headings_above_it_and_its_page() -> None:
    blocks = [
        Block("heading", "Buku", 1, 1),
        Block("heading", "Bab satu", 2, 1),
        Block("text", "Isi.", page=1),
        Block("text", "Lanjut.", page=2),
        Block("heading", "Bab dua", 2, 3),
        Block("text", "Akhir.", page=3),
    ]
    told = [(one.heading, one.page, one.text) for one in passages_of(blocks)]
    assert told == [("Buku › Bab satu", 1, "Isi.\n\nLanjut."), ("Buku › Bab dua", 3, "Akhir.")]


def test_a_heading_with_nothing_under_it_goes_in_front_of_what_comes_next() -> None:
    blocks = [Block("heading", "Judul", 1), Block("heading", "Pengantar", 1), Block("text", "Isi.")]
    assert [(one.heading, one.text) for one in passages_of(blocks)] == [("Pengantar", "Judul\n\nIsi.")]
    assert [one.text for one in passages_of([Block("heading", "Sendirian", 1)])] == ["Sendirian"]


def test_a_long_text_is_cut_between_sentences() -> None:
    sentence = "Ini kalimat yang cukup panjang untuk dipotong dengan baik di tempat yang benar. "
    passages = passages_of([Block("text", sentence * 40)])
    assert len(passages) > 2
    assert all(one.text.endswith("benar.") for one in passages)


def test_a_cut_table_has_its_head_in_each_piece() -> None:
    rows = "\n".join(f"| A{number} | {'barang ' * 8}|" for number in range(60))
    passages = passages_of([Block("heading", "Stok", 1), Block("table", "| kode | nama |\n" + rows)])
    assert len(passages) > 3
    assert all(one.text.startswith("| kode | nama |\n") and one.heading == "Stok" for one in passages)
