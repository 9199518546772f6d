"""Results that are too long for the model: cut, kept whole, and read on in."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tukang import Agent, Image, Text, Toolbox, tool
from tukang.conversation import Message
from tukang.errors import ToolDefinitionError
from tukang.models.base import ModelRequest
from tukang.models.scripted import Scripted, call
from tukang.tools.policy import MAX_OUTPUT

LONG = "".join(f"{n:04d};" for n in range(1000))  # 5000 characters


@tool(effect="read", max_output=1000)
def isi_berkas() -> str:
    """Isi sebuah berkas."""
    return LONG


def script(*replies: Any) -> Scripted:
    """A script in which a reply may be a function of the request."""
    left = iter(replies)

    def reply(request: ModelRequest) -> Any:
        said = next(left)
        return said(request) if callable(said) else said

    return Scripted(reply)


def _results(messages: tuple[Message, ...]) -> list[tuple[Any, ...]]:
    return [result.content for message in messages for result in message.results]


def test_the_head_the_size_and_a_handle_and_then_the_rest() -> None:
    """A model that reads on as it is told gets every character once."""
    read: list[str] = []

    def reply(request: ModelRequest) -> Any:
        shown, note = (part.text for part in request.messages[-1].results[0].content)
        read.append(shown)
        found = re.search(r'read_more\(handle="([^"]+)", offset=(\d+)\)', note)
        return [call("read_more", handle=found[1], offset=int(found[2]))] if found else "selesai"

    agent = Agent(script([call("isi_berkas")], *[reply] * 6), tools=[isi_berkas])
    answer = agent.run("baca")
    assert answer.text == "selesai"
    assert "".join(read) == LONG
    assert [len(part) for part in read] == [1000] * 5
    first = _results(answer.messages)[0]
    assert first[1].text == (
        f'[Shown: characters 0 to 1000 of 5000. To read on: read_more(handle="{answer.steps[0].call_id}", offset=1000)]'
    )


def test_the_menu_has_read_more_from_the_start_or_never() -> None:
    @tool(effect="read")
    def pendek() -> str:
        """Pendek."""
        return "x"

    @tool(effect="read", max_output=None)
    def apa_adanya() -> str:
        """Panjang."""
        return LONG

    assert [made.name for made in Toolbox.of([isi_berkas, pendek])] == ["isi_berkas", "pendek", "read_more"]
    assert [made.name for made in Toolbox.of([pendek, apa_adanya])] == ["pendek", "apa_adanya"]
    again = Toolbox.of(Toolbox.of([isi_berkas]))
    assert [made.name for made in again] == ["isi_berkas", "read_more"]
    assert again.reads_on


def test_a_tool_of_the_authors_with_that_name_is_refused() -> None:
    def read_more() -> str:
        """Punya sendiri."""
        return ""

    with pytest.raises(ToolDefinitionError, match="two tools have the name 'read_more'"):
        Toolbox.of([isi_berkas, read_more])
    assert not Toolbox.of([read_more]).reads_on


def test_without_read_more_the_model_is_told_to_ask_for_less() -> None:
    @tool(effect="read")
    def besar() -> str:
        """Besar."""
        return "x" * (MAX_OUTPUT + 1)

    answer = Agent(Scripted([[call("besar")], "ya"]), tools=[besar]).run("baca")
    shown, note = _results(answer.messages)[0]
    assert shown.text == "x" * MAX_OUTPUT
    assert note.text == (
        f"[Shown: the first {MAX_OUTPUT} of {MAX_OUTPUT + 1} characters. The rest is left out: ask for less at a time]"
    )


def test_no_bound_is_no_bound() -> None:
    @tool(effect="read", max_output=None)
    def besar() -> str:
        """Besar."""
        return "x" * (MAX_OUTPUT * 2)

    answer = Agent(Scripted([[call("besar")], "ya"]), tools=[besar]).run("baca")
    assert len(answer.steps[0].result) == MAX_OUTPUT * 2


def test_a_terminal_result_is_the_answer_and_is_not_cut() -> None:
    @tool(terminal=True)
    def laporan() -> str:
        """Laporan."""
        return "x" * (MAX_OUTPUT * 2)

    answer = Agent(Scripted([[call("laporan")]]), tools=[laporan]).run("buat")
    assert answer.text == "x" * (MAX_OUTPUT * 2)


def test_cut_json_is_said_to_be_incomplete_and_pictures_stay() -> None:
    @tool(effect="read", max_output=20)
    def daftar() -> list[str]:
        """Daftar."""
        return ["sepuluh"] * 10

    @tool(effect="read", max_output=20)
    def gambar() -> list[Text | Image]:
        """Gambar."""
        return [Text("a" * 15), Image("image/png", b"\x89PNG\r\n\x1a\n" + b"0" * 100), Text("b" * 15)]

    answer = Agent(Scripted([[call("daftar"), call("gambar")], "ya"]), tools=[daftar, gambar]).run("baca")
    listed, pictured = _results(answer.messages)
    assert listed[0].text == '["sepuluh","sepuluh"'
    assert listed[1].text.startswith("[The JSON above is incomplete. Shown: characters 0 to 20 of 101.")
    assert pictured[0].text == "a" * 15 + "\n" + "b" * 4
    assert isinstance(pictured[2], Image)


def test_a_handle_is_good_in_the_session_that_got_it_and_nowhere_else() -> None:
    model = script(
        [call("isi_berkas")],
        "satu",
        lambda request: [call("read_more", handle=_handle(request), offset=4990)],
        "dua",
        lambda _: [call("read_more", handle=taken[0], offset=4990)],
        "tiga",
    )
    agent = Agent(model, tools=[isi_berkas])
    chat = agent.session("budi")
    taken = [chat.run("baca").steps[0].call_id]
    assert chat.run("lanjut").steps[0].result.startswith("0998;0999;")
    other = agent.session("ani").run("intip").steps[0]
    assert other.fault is not None
    assert other.fault.kind == "nothing_done"
    assert other.fault.hint == "Call the tool again that gave the result."


def _handle(request: ModelRequest) -> str:
    texts = [part.text for message in request.messages for result in message.results for part in result.content]  # type: ignore[union-attr]
    return re.findall(r'handle="([^"]+)"', " ".join(texts))[0]


def test_reading_past_the_end_is_a_fault_that_says_the_size() -> None:
    model = script(
        [call("isi_berkas")], lambda request: [call("read_more", handle=_handle(request), offset=5000)], "ya"
    )
    step = Agent(model, tools=[isi_berkas]).run("baca").steps[1]
    assert step.fault is not None
    assert step.fault.message == "the result has 5000 characters: there is nothing at 5000"


def test_a_huge_result_is_in_no_event_and_in_no_message() -> None:
    @tool(effect="read", max_output=1000)
    def raksasa() -> list[int]:
        """Raksasa."""
        return list(range(1_000_000))

    answer = Agent(Scripted([[call("raksasa")], "ya"]), tools=[raksasa]).run("baca")
    assert len(repr(answer.events)) < 10_000
    assert sum(len(part.text) for part in _results(answer.messages)[0]) < 1_300
    size = json.dumps(list(range(1_000_000)), separators=(",", ":"))
    assert f"of {len(size)}." in answer.steps[0].result
