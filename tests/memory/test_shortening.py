"""Old long results are shortened to their beginning and their handle; everything else stays the same object."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tukang.conversation import File, Image, Message, Text, Thinking, ToolCall, ToolResult, assistant, user
from tukang.memory.measuring import message_tokens, part_tokens
from tukang.memory.shortening import HEAD, LONG, cut_down, short


def results(*contents: object) -> Message:
    """A message with a result for each content: a text, or parts."""
    return Message(
        "tool",
        tuple(
            ToolResult(f"t-1-{place}", "baca", (Text(content),) if isinstance(content, str) else content)  # type: ignore[arg-type]
            for place, content in enumerate(contents)
        ),
    )


def test_a_long_result_keeps_its_beginning_and_its_handle() -> None:
    made = short(results("pendek", "0123456789" * 1_000), reads_on=True)
    first, second = made.results
    assert first.text == "pendek"
    assert second.content[0] == Text("0123456789" * (HEAD // 10))
    assert second.content[1] == Text(
        f"[Shortened to save space. Shown: characters 0 to {HEAD} of 10000. "
        f'To read on: read_more(handle="t-1-1", offset={HEAD})]'
    )
    assert (second.call_id, second.name, second.fault) == ("t-1-1", "baca", False)


def test_without_the_means_to_read_on_there_is_no_handle() -> None:
    text = short(results("x" * (LONG + 1)), reads_on=False).results[0].text
    assert text == "x" * HEAD + f"\n[Shortened to save space. Shown: the first {HEAD} of {LONG + 1} characters.]"


def test_what_is_not_long_stays_the_same_object() -> None:
    for message in (user("x" * 9_000), assistant("x" * 9_000, ToolCall("a", "b", "{}")), results("x" * LONG)):
        assert short(message, reads_on=True) is message
    mixed = results("x" * (LONG + 1), "pendek")
    assert short(mixed, reads_on=True).parts[1] is mixed.parts[1]


def test_it_is_made_once() -> None:
    message = results("x" * 9_000)
    assert short(message, reads_on=True) is short(message, reads_on=True)
    assert short(message, reads_on=True) != short(message, reads_on=False)


def test_pictures_and_documents_are_named() -> None:
    message = results(
        (Text("Layar:"), Image("image/png", b"x")), (File("application/pdf", "nota.pdf", b"x"), Text("y" * 9_000))
    )
    first, second = short(message, reads_on=False).results
    assert first.text == "Layar:\n[image/png: not shown any more]"
    assert second.text.endswith("[nota.pdf: not shown any more]")
    assert all(isinstance(part, Text) for result in (first, second) for part in result.content)


def test_a_fault_stays_one() -> None:
    message = Message("tool", (ToolResult("a", "b", (Text("x" * 9_000),), fault=True),))
    assert short(message, reads_on=True).results[0].fault


def test_large_results_are_cut_to_one_size_and_small_ones_stay() -> None:
    message = results("kecil", "a" * 60_000, "b" * 30_000, "c" * 2_000)
    cut = cut_down(message, 11_000, reads_on=True)
    kept = [len(result.content[0].text) for result in cut.results if isinstance(result.content[0], Text)]
    assert (kept[0], kept[3]) == (5, 2_000)
    assert kept[1] == kept[2]
    assert message_tokens(cut) <= 11_000
    assert message_tokens(cut) > 8_000, "what room there is is used"
    assert cut_down(message, 100_000, reads_on=True) is message


@given(st.lists(st.integers(0, 30_000), max_size=6), st.integers(0, 20_000), st.booleans())
def test_cutting_down_keeps_every_result_and_reaches_its_size_where_it_can(
    sizes: list[int], room: int, reads_on: bool
) -> None:
    message = results(*("x" * size for size in sizes))
    cut = cut_down(message, room, reads_on=reads_on)
    assert [(one.call_id, one.name) for one in cut.results] == [(one.call_id, one.name) for one in message.results]
    smallest = 300  # a beginning of HEAD characters, and the note
    assert sum(map(part_tokens, cut.results)) <= max(room, smallest * len(sizes))


def test_a_picture_gives_way_before_words_do() -> None:
    message = results((Text("x" * 600), Image("image/png", b"x")))
    (result,) = cut_down(message, 900, reads_on=True).results
    assert result.content == (Text("x" * 600), Text("[image/png: not shown any more]"))


def test_thinking_is_nobodys_result() -> None:
    message = assistant(Thinking("hm" * 9_000, "seal", "anthropic"), ToolCall("a", "b", "{}"))
    assert cut_down(message, 0, reads_on=True) is message
