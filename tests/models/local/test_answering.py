"""An answer streams, and never shows a figure or an identifier that nobody gave."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.local.engines import Says, Scripted
from tests.models.local.gbnf import Gbnf
from tukang.conversation import Message, Text, ToolCall, ToolResult, user
from tukang.models.base import ModelRequest, Settings
from tukang.models.local.answering import answer, figures_grammar
from tukang.models.local.engine import Completed, Job, Slot
from tukang.models.local.grounding import Sources, written
from tukang.models.local.view import view_of

ORDERED = {"order_id": "ORD7781", "total": 2400000, "suhu": 24.5}


def conversation(result: object | None = ORDERED) -> list[Message]:
    messages = [user("Pesan 2 unit PRD003, terima kasih")]
    if result is not None:
        call = ToolCall("c1", "order", "{}")
        content = (Text(json.dumps(result, ensure_ascii=False)),)
        messages += [Message("assistant", (call,)), Message("tool", (ToolResult("c1", "order", content),))]
    return messages


def said(
    says: list[Says], messages: list[Message] | None = None, chosen: Settings | None = None, size: int = 3
) -> tuple[list[str], Scripted, Completed]:
    engine = Scripted(answer=says, size=size)
    view = view_of(ModelRequest("", conversation() if messages is None else messages))

    async def run() -> tuple[list[str], list[Completed]]:
        words: list[str] = []
        ends: list[Completed] = []
        async for item in answer(engine, view, Sources(view.said), chosen or Settings()):
            (ends if isinstance(item, Completed) else words).append(item)  # type: ignore[arg-type]
        return words, ends

    words, ends = asyncio.run(run())
    assert len(ends) == 1
    return words, engine, ends[0]


def test_words_come_one_by_one_and_nothing_is_lost() -> None:
    text = "Pesanan ORD7781 berhasil.\n\nTotalnya Rp 2.400.000 untuk 2 unit PRD003."
    words, _, _ = said([text])
    assert "".join(words) == text
    assert len(words) > 5


@settings(deadline=None)
@given(st.integers(1, 9))
def test_how_the_engine_cuts_its_pieces_changes_nothing(size: int) -> None:
    text = "1. Nomor ORD7781, suhu 24,5 derajat\n2. Rp2,400,000 "
    assert "".join(said([text], size=size)[0]) == text


def test_a_misquoted_identifier_is_never_shown_but_put_right() -> None:
    words, engine, _ = said(["Nomornya ORDER7781 ya", ", sudah dibuat."])
    text = "".join(words)
    assert "ORDER7781" not in text
    assert text == "Nomornya ORD7781, sudah dibuat."
    assert engine.asked(Slot.ANSWER)[1].prompt.endswith("Nomornya ORD7781")


def test_a_torn_identifier_is_put_right() -> None:
    words, _, _ = said(["Pesanan dengan ID ORDER 2400000 dibuat", " sudah dibuat."])
    assert "".join(words) == "Pesanan dengan ID ORD7781 sudah dibuat."


def test_an_unknown_figure_is_never_shown_and_the_answer_goes_on_within_the_grammar() -> None:
    words, engine, _ = said(["Totalnya 999 rupiah", "2.400.000 rupiah."])
    text = "".join(words)
    assert text.startswith("Totalnya 2.400.000 rupiah.")
    assert "ORD7781" in text, "a result's own identifier is not left out"
    again = engine.asked(Slot.ANSWER)[1]
    assert again.prompt.endswith("Totalnya ")
    assert again.grammar is not None


def test_when_even_that_fails_the_results_are_shown() -> None:
    words, _, _ = said(["Totalnya 999.", "888.", "777."])
    text = "".join(words)
    assert "ORD7781" in text
    assert "2400000" in text
    assert not any(wrong in text for wrong in ("999", "888", "777"))


@pytest.mark.parametrize(
    "refusal", ["Maaf, saya tidak dapat membantu dengan hal ini.", "I'm sorry, but I can't assist with that."]
)
def test_a_refusal_beside_good_results_gives_way_to_them(refusal: str) -> None:
    text = "".join(said([refusal])[0])
    assert "tidak dapat" not in text
    assert "can't" not in text
    assert "ORD7781" in text


def test_an_apology_that_says_something_stays() -> None:
    apology = "Maaf, pesanan dengan order_id ORD7781 tidak dapat diantar."
    assert "".join(said([apology])[0]) == apology


@pytest.mark.parametrize("empty", ["Sorry for the wait.", "Maaf", "Dokumen itu sudah ada di bagian teknik."])
def test_words_that_tell_nothing_of_the_results_are_followed_by_them(empty: str) -> None:
    text = "".join(said([empty])[0])
    assert text.startswith(empty)
    assert "ORD7781" in text


def test_a_refusal_over_a_fault_stays() -> None:
    refusal = "Maaf, saya tidak bisa melakukannya."
    assert "".join(said([refusal], conversation({"error": "produk tidak ditemukan"}))[0]) == refusal


def test_with_results_the_first_text_is_within_the_grammar_already() -> None:
    _, engine, _ = said(["Ya."])
    grammar = engine.asked(Slot.ANSWER)[0].grammar
    assert grammar is not None
    assert Gbnf(grammar).allows("Nomor ORD7781, total 2.400.000.")
    assert not Gbnf(grammar).allows("Nomor ORDER7781.")


@pytest.mark.parametrize("text", ["Sisa 3 pisang.", "Indonesia merdeka tahun 1945.", "Air adalah H2O.", "Paris."])
def test_plain_answers_are_free(text: str) -> None:
    words, engine, _ = said([text], [user("pertanyaan")])
    assert "".join(words) == text
    assert engine.asked(Slot.ANSWER)[0].grammar is None


def test_an_invented_order_number_is_stopped_in_a_plain_answer_too() -> None:
    words, _, _ = said(["Pesanan ORD1234 sudah dibuat.", "Anda belum dibuat."], conversation(None))
    assert "".join(words) == "Pesanan Anda belum dibuat."


def test_settings_reach_the_engine() -> None:
    shape = Settings(temperature=0.7, top_p=0.9, seed=5, max_tokens=50, stop=("STOP",), extra={"min_p": 0.1})
    job: Job = said(["Ya."], chosen=shape)[1].asked(Slot.ANSWER)[0]
    assert (job.temperature, job.top_p, job.seed, job.max_tokens, job.extra) == (0.7, 0.9, 5, 50, {"min_p": 0.1})
    assert "STOP" in job.stop


def test_an_answer_cut_at_the_limit_says_so() -> None:
    _, _, end = said(["satu kata " * 40], chosen=Settings(max_tokens=10))
    assert end.finish == "length"


def test_a_note_is_passed_on() -> None:
    engine = Scripted(answer=["Ya."])
    view = view_of(ModelRequest("", conversation()))

    async def run() -> None:
        async for _ in answer(engine, view, Sources(view.said), Settings(), note="Answer now."):
            pass

    asyncio.run(run())
    assert "Answer now." in engine.asked(Slot.ANSWER)[0].prompt


KNOWN = Sources(["PRD001 seharga 1200000, suhu 24, jam 21:00, 1.5 dan 12"])
FIGURES = Gbnf(figures_grammar(written(KNOWN.tokens)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Harga PRD001 adalah Rp1.200.000.",
        "Rp 1,200,000 (24°C)",
        "24C",
        "Jam 21:00, ya.",
        "1. satu\n2. dua",
        "\n3) tiga",
        "1.5 + 12",
    ],
)
def test_the_grammar_of_figures_allows_what_is_known(text: str) -> None:
    assert FIGURES.allows(text)


@pytest.mark.parametrize("text", ["25", "PRD002", "PRODUK001", "xPRD001", "1200001", "12.24", "24.1200000", "124"])
def test_the_grammar_of_figures_allows_nothing_else(text: str) -> None:
    assert not FIGURES.allows(f"Nilai {text}.")


@settings(deadline=None)
@given(st.text(st.sampled_from("PRD0124.,: x\n"), max_size=12))
def test_what_the_grammar_allows_is_known(text: str) -> None:
    if FIGURES.allows(text):
        marks = {"1.", "2.", "4."}
        unknown = [token for token in KNOWN.unknown(text) if f"{token}." not in marks]
        assert not unknown


def test_a_request_that_is_only_said_again_becomes_a_question() -> None:
    words, _, _ = said(["Saya mau memesan produk."], [user("Saya mau memesan produk.")])
    assert words == ["Tentu. Bisa sebutkan rinciannya?"]


@pytest.mark.parametrize(
    ("request_text", "reply"),
    [("Halo!", "Halo!"), ("Saya mau memesan produk.", "Saya mau membantu. Produk apa?"), ("a b c d", "a b")],
)
def test_an_answer_that_begins_like_the_request_is_left_alone(request_text: str, reply: str) -> None:
    words, _, _ = said([reply], [user(request_text)])
    assert "".join(words) == reply


def test_a_result_that_a_later_call_was_given_need_not_be_told() -> None:
    first, second = ToolCall("c1", "add", '{"a": 25, "b": 17}'), ToolCall("c2", "multiply", '{"a": 42, "b": 3}')
    messages = [
        user("Berapa (25 + 17) dikali 3?"),
        Message("assistant", (first,)),
        Message("tool", (ToolResult("c1", "add", (Text('{"result": 42}'),)),)),
        Message("assistant", (second,)),
        Message("tool", (ToolResult("c2", "multiply", (Text('{"result": 126}'),)),)),
    ]
    assert "".join(said(["Hasilnya adalah 126."], messages)[0]) == "Hasilnya adalah 126."


def test_an_answer_that_goes_round_in_circles_is_stopped() -> None:
    words, _, end = said(["Pesanan ORD7781 dibuat: " + "2 " * 200])
    assert "".join(words).startswith("Pesanan ORD7781 dibuat: 2")
    assert "".join(words).count("2") <= 6
    assert end.finish == "stop"
