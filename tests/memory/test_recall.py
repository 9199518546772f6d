"""What is not shown any more can be looked up: searched, and read on by its handle; in this session only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tukang import Agent, ToolDefinitionError, Window, tool
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.models.base import ModelRequest
from tukang.models.scripted import Line, Scripted, call

RECALL = Window(turns=1, recall=True)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def kept_in(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store | None]:
    """Where sessions are kept: None for memory."""
    if request.param == "memory":
        yield None
        return
    sqlite = request.param == "sqlite"
    store = store_at(f"sqlite:///{tmp_path}/tukang.db" if sqlite else request.getfixturevalue("postgres_url"))
    asyncio.run(store.upgrade())
    yield store
    asyncio.run(store.close())


@tool(effect="read")
def laporan(hari: str) -> str:
    """Laporan sebuah hari."""
    return f"Laporan {hari}: " + ", ".join(f"baris {number}" for number in range(600))


class Model:
    """A model that says what a test told it to say last, and then answers."""

    def __init__(self) -> None:
        self.says: list[Line] = []
        self.scripted = Scripted(self._next)

    def _next(self, _: ModelRequest) -> Line:
        return self.says.pop(0) if self.says else "Baik."


def test_older_turns_are_searched_and_read(kept_in: Store | None) -> None:
    model = Model()
    chat = Agent(model.scripted, window=RECALL).session("budi", store=kept_in)
    first = chat.run("Saya alergi kacang tanah, tolong ingat.")
    for number in range(5):
        chat.run(f"tanya {number}")
    model.says = [call("search_conversation", query="alergi apa?"), call("read_more", handle=first.turn)]
    found, read = chat.run("Saya alergi apa?").steps
    (hit,) = json.loads(found.result)
    assert (hit["turn"], hit["handle"]) == (1, first.turn)
    assert "alergi kacang tanah" in hit["excerpt"]
    assert read.result.startswith("turn 1\nuser: Saya alergi kacang tanah, tolong ingat.\nassistant: Baik.")
    request = model.scripted.requests[-1]
    assert [contract.name for contract in request.tools] == ["search_conversation", "read_more"]
    assert request.messages[0].text == (
        "[Not shown here: turn 1 to 5 of this conversation. Look up what was said in them with search_conversation.]"
    )


def test_the_tool_speaks_the_agents_language() -> None:
    model = Model()
    chat = Agent(model.scripted, language="id", window=RECALL).session("budi")
    model.says = [call("cari_percakapan", query="apa saja")]
    assert chat.run("Cari.").steps[0].result == "[]"
    contract = model.scripted.requests[0].tools[0]
    assert contract.name == "cari_percakapan"
    assert contract.description.startswith("Cari apa yang pernah dikatakan")
    assert contract.parameters["properties"]["query"]["description"].startswith("Kata-kata yang dicari")


def test_without_recall_the_menu_is_the_agents_own() -> None:
    model = Model()
    Agent(model.scripted, tools=[laporan]).session("budi").run("Halo")
    assert [contract.name for contract in model.scripted.requests[0].tools] == ["laporan"]


def test_a_tool_of_that_name_of_ones_own_is_refused() -> None:
    @tool(effect="read", name="search_conversation")
    def own() -> str:
        """Own."""
        return ""

    chat = Agent(Model().scripted, tools=[own], window=RECALL).session("budi")
    with pytest.raises(ToolDefinitionError, match="two tools have the name 'search_conversation'"):
        chat.run("Halo")


def test_an_old_result_that_was_shortened_is_read_on(kept_in: Store | None) -> None:
    model = Model()
    window = Window(tokens=6_000, recall=True)
    chat = Agent(model.scripted, tools=[laporan], window=window).session("budi", store=kept_in)
    for hari in ("senin", "selasa", "rabu"):
        model.says = [call("laporan", hari=hari)]
        chat.run(f"Baca {hari}")
    chat.run("Lalu?")
    shown = [result for message in model.scripted.requests[-1].messages for result in message.results]
    handle = shown[0].call_id
    assert shown[0].text.startswith("Laporan senin")
    assert shown[0].text.endswith(f'To read on: read_more(handle="{handle}", offset=500)]')
    model.says = [call("read_more", handle=handle, offset=500)]
    (step,) = chat.run("Apa lagi hari senin?").steps
    assert shown[0].text[:500] + step.result.splitlines()[0] == laporan("senin")


def test_an_older_result_of_the_running_turn_is_read_on(kept_in: Store | None) -> None:
    model = Model()
    chat = Agent(model.scripted, tools=[laporan], window=Window(tokens=8_000, recall=True)).session(
        "budi", store=kept_in
    )
    handles: list[str] = []

    def read(request: ModelRequest) -> Line:
        handles.append(request.messages[2].results[0].call_id)
        assert "Shortened" in request.messages[2].results[0].text
        return call("read_more", handle=handles[0], offset=500)

    model.says = [call("laporan", hari=hari) for hari in ("senin", "selasa", "rabu", "kamis")]

    def script(request: ModelRequest) -> Line:
        if model.says:
            return model.says.pop(0)
        return "Baik." if handles else read(request)

    model.scripted._script = script  # pyright: ignore[reportPrivateUsage]
    steps = chat.run("Baca semuanya").steps
    assert steps[-1].tool == "read_more"
    assert steps[-1].result.startswith(laporan("senin")[500:600])


def test_handles_of_another_session_find_nothing(kept_in: Store | None) -> None:
    model = Model()
    agent = Agent(model.scripted, tools=[laporan], window=RECALL)
    model.says = [call("laporan", hari="senin")]
    secret = agent.session("siti", store=kept_in).run("Rahasia siti")
    chat = agent.session("budi", store=kept_in)
    for handle in (secret.turn, secret.steps[0].call_id, "", "x", "a-b-c", "--"):
        model.says = [call("read_more", handle=handle)]
        (step,) = chat.run("Baca").steps
        assert step.fault is not None, handle
        assert step.fault.kind == "nothing_done"
    model.says = [call("search_conversation", query="rahasia siti laporan senin")]
    found: list[dict[str, Any]] = json.loads(chat.run("Cari").steps[0].result)
    assert all(hit["handle"] != secret.turn for hit in found)


def test_what_was_given_at_the_beginning_can_be_read_on() -> None:
    model = Model()
    model.says = [call("laporan", hari="senin")]
    agent = Agent(model.scripted, tools=[laporan], window=Window(tokens=5_000, recall=True))
    given = agent.run("Baca senin").messages
    chat = agent.session("budi", given)
    model.says = [call("laporan", hari="selasa")]
    chat.run("Baca selasa")
    model.says = [call("read_more", handle=given[1].calls[0].id, offset=500)]
    assert "baris 40" in chat.run("Lagi").steps[0].result
