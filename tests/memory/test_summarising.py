"""A summary is asked of a model: of the one before and the turns since, no more than goes into one request, in its time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tukang.conversation import Image, Message, Text, Thinking, ToolCall, ToolResult, assistant, user
from tukang.errors import ModelError
from tukang.memory.past import PastTurn
from tukang.memory.summarising import AT_ONCE, Summariser
from tukang.memory.window import Digest, Summary
from tukang.models.scripted import Fails, Line, Says, Scripted, call


def turn(number: int, *messages: Message) -> PastTurn:
    return PastTurn(f"t{number}", number, 0.0, messages or (user(f"tanya {number}"), assistant(f"jawab {number}")))


def added(
    model: Scripted, turns: Sequence[PastTurn], before: Digest | None = None, policy: Summary | None = None
) -> Digest:
    return asyncio.run(Summariser(model, policy or Summary()).added(before, turns))


def test_the_turns_since_are_added_to_the_summary_before() -> None:
    model = Scripted([" Budi mencari SSD. "])
    made = added(model, [turn(6), turn(7)], Digest(5, "Lima giliran."), Summary(tokens=300))
    assert made == Digest(7, "Budi mencari SSD.")
    (request,) = model.requests
    (message,) = request.messages
    assert message.text == (
        "<summary>\nLima giliran.\n</summary>\n\n<turns>\n\nturn 6\nuser: tanya 6\nassistant: jawab 6\n\n"
        "turn 7\nuser: tanya 7\nassistant: jawab 7\n\n</turns>"
    )
    assert "at most 150 words" in request.instructions
    assert request.settings.max_tokens == 300
    assert (request.tools, request.tool_choice) == ((), "auto")


def test_a_turn_is_told_as_what_was_said_and_done() -> None:
    model = Scripted(["Ya."])
    messages = (
        user("Ini fotonya.", Image("image/png", b"x")),
        assistant(Thinking("rahasia"), "Sebentar.", ToolCall("t1-1-0", "baca", '{"a":1}')),
        Message("tool", (ToolResult("t1-1-0", "baca", (Text("h" * 9_000),)),)),
        assistant("Selesai."),
    )
    added(model, [turn(1, *messages)])
    text = model.requests[0].messages[0].text
    assert 'user: Ini fotonya.\nuser: [image/png]\nassistant: Sebentar.\ncall: baca({"a":1})\n' in text
    assert "result of baca: " + "h" * 500 + " … [handle t1-1-0]\nassistant: Selesai." in text
    assert "rahasia" not in text


def test_no_more_is_summed_up_than_goes_into_one_request() -> None:
    long = "kata " * 800
    turns = [turn(number, user(long), assistant(long)) for number in range(1, 60)]
    model = Scripted(["Ya."])
    made = added(model, turns)
    assert 5 < made.upto < 20
    assert model.requests[0].messages[0].text.count("\nuser: ") == made.upto
    assert added(Scripted(["Ya."]), [turn(1, user("x" * 9 * AT_ONCE))]).upto == 1, "one turn always goes in"


@pytest.mark.parametrize(
    "reply",
    [
        "  ",
        call("baca"),
        Says(text="Tidak.", finish="refused"),
        Says(text="Tidak.", finish="filtered"),
        Says(text="Setengah", fails=Fails("overloaded")),
    ],
    ids=["empty", "a call", "refused", "filtered", "broken off"],
)
def test_what_is_no_summary_is_an_error(reply: Line) -> None:
    with pytest.raises(ModelError):
        added(Scripted([reply]), [turn(1)])


def test_a_model_that_says_nothing_has_its_time() -> None:
    with pytest.raises(TimeoutError):
        added(Scripted([Says(text="Bu", silent=True)]), [turn(1)], policy=Summary(seconds=0.01))


def test_a_summary_that_was_cut_at_its_length_is_one() -> None:
    assert added(Scripted([Says(text="Budi mencari", finish="length")]), [turn(1)]).text == "Budi mencari"


def test_it_is_asked_for_in_the_agents_language() -> None:
    model = Scripted(["Ya."])
    asyncio.run(Summariser(model, Summary(), "id").added(None, [turn(1)]))
    assert "paling banyak 500 kata" in model.requests[0].instructions
