"""The words of a text as they are searched."""

from __future__ import annotations

from tukang.conversation import Image, Message, Text, Thinking, ToolCall, ToolResult, assistant, user
from tukang.memory.stores.words import excerpt, words_of, words_of_turn


def test_words_have_no_case_and_no_accents() -> None:
    assert words_of("Café_CRÈME, naïve; PRD-002: Rp1.200.000 ﬁne Straße 日本") == [
        *("cafe", "creme", "naive", "prd", "002", "rp1", "200", "000", "fine", "strasse", "日本"),
    ]
    assert words_of("x" * 500) == ["x" * 60]
    assert words_of("\"'*:^-+|&!()") == []


def test_what_was_said_and_returned_is_searched_and_nothing_else() -> None:
    turn = (
        user("Tanya", Image("image/png", b"gambar")),
        assistant(Thinking("pikiran"), "Sebentar", ToolCall("c", "cek", '{"kode":"argumen"}')),
        Message("tool", (ToolResult("c", "cek", (Text("Hasil"),)),)),
        assistant("Jawab"),
    )
    assert words_of_turn(turn) == ["tanya", "sebentar", "hasil", "jawab"]
    assert len(words_of_turn([user("kata " * 50_000)])) == 20_000


def test_the_excerpt_is_the_place_with_most_of_the_words() -> None:
    long = "awal " * 200 + "harga SSD di sini " + "akhir " * 200
    found = excerpt([user("SSD"), assistant(long)], ["ssd", "harga"])
    assert "harga SSD di sini" in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(found) <= 310
    assert excerpt([], ["x"]) == ""
    assert excerpt([user("a\n\n b")], ["x"]) == "a b"
