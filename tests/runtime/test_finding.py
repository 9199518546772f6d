"""A toolbox that is too large to be shown whole: what a model is shown, what it finds, and what it may call all the same."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tukang import Agent, Limits, Principal, tool
from tukang.errors import ToolDefinitionError
from tukang.loop.events import CallFinished, TurnStarted
from tukang.loop.evolve import evolve
from tukang.memory.stores.addresses import store_at
from tukang.models.base import ModelRequest
from tukang.models.scripted import Scripted, call
from tukang.running import TurnLeftError
from tukang.tools.adopting import as_tool
from tukang.tools.finding import NAME, Menu
from tukang.tools.source import ToolSource
from tukang.tools.tool import Tool

SHARED = Path(__file__).parents[3] / "shared" / "data" / "mcp_tools" / "tools.jsonl"
THINGS = tuple(
    re.findall(
        r"\w+",
        "apel jeruk pisang mangga durian salak nanas pepaya jambu manggis rambutan kelapa semangka melon anggur markisa "
        "sirsak belimbing kedondong duku langsat matoa nangka sawo srikaya kesemek lengkeng leci delima kurma ceri stroberi",
    )
)


@pytest.fixture(autouse=True)
def _by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without vectors, which are tested with what they are made by."""
    monkeypatch.setattr("tukang.runtime.finding.at_hand", lambda: None)


def _fine(**_: Any) -> str:
    return "ok"


class Total(msgspec.Struct):
    """What is wanted."""

    total: int


def price_of(thing: str, **policy: Any) -> Tool:
    def look_up() -> str:
        return f"{thing}: Rp 1.000"

    return as_tool(
        tool(look_up, name=f"harga_{thing}", description=f"Harga {thing} hari ini.", effect="read", **policy)
    )


def many(**policy: Any) -> list[Tool]:
    return [price_of(thing, **policy) for thing in THINGS]


def shown(model: Scripted) -> list[list[str]]:
    """The tools that each request showed."""
    return [[contract.name for contract in request.tools] for request in model.requests]


def test_a_small_toolbox_is_shown_whole() -> None:
    model = Scripted(["Ya."])
    Agent(model, tools=many()[:30]).run("Halo.")
    assert len(shown(model)[0]) == 30
    assert NAME not in shown(model)[0]


def test_a_large_one_by_what_the_message_says() -> None:
    model = Scripted(["Ya."])
    Agent(model, tools=many(), menu=Menu(shown=3)).run("Berapa harga durian? Dan berapa harga salak?")
    assert {"harga_durian", "harga_salak", NAME} <= set(shown(model)[0])
    assert len(shown(model)[0]) <= 3 + 1


def test_what_is_found_stays_for_the_turn_and_comes_behind() -> None:
    model = Scripted([call(NAME, query="harga matoa"), call("harga_matoa"), "Rp 1.000."])
    answer = Agent(model, tools=many(), menu=Menu(shown=2)).run("Berapa harga durian?")
    first, second, third = shown(model)
    assert "harga_matoa" not in first
    assert second[: len(first)] == first
    assert "harga_matoa" in second
    assert second == third
    assert model.requests[1].tools is model.requests[2].tools
    assert [step.fault for step in answer.steps] == [None, None]
    assert json.loads(answer.steps[0].result)["tools"][0] == {
        "name": "harga_matoa",
        "description": "Harga matoa hari ini.",
    }


def test_an_exact_name_always_resolves() -> None:
    model = Scripted([call("harga_leci"), "Rp 1.000.", "Ya."])
    agent = Agent(model, tools=many(), menu=Menu(shown=2))
    answer = agent.run("Berapa harga durian?")
    assert answer.steps[0].result == "leci: Rp 1.000"
    assert "harga_leci" not in shown(model)[0]
    assert "harga_leci" in shown(model)[1]  # and is shown from then on
    agent.run("Tolong panggil harga_kurma.")
    assert "harga_kurma" in shown(model)[2]


def test_no_tool_of_the_history_is_stranded() -> None:
    model = Scripted([call("harga_leci"), "Rp 1.000.", "Ya."])
    chat = Agent(model, tools=many(), menu=Menu(shown=2)).session()
    chat.run("Berapa harga leci?")
    chat.run("Terima kasih.")
    assert "harga_leci" in shown(model)[2]


def test_a_forced_tool_and_those_of_the_agents_choice_are_shown() -> None:
    model = Scripted([call("harga_ceri"), "Ya."])
    Agent(model, tools=many(), menu=Menu(shown=2, always=("harga_sawo",))).run("Durian?", tool_choice="harga_ceri")
    assert {"harga_ceri", "harga_sawo"} <= set(shown(model)[0])


def test_only_what_the_caller_may_use_is_found() -> None:
    model = Scripted([call(NAME, query="harga matoa"), call("harga_matoa"), "Tidak."])
    secret = [price_of(thing, needs="gudang") if thing == "matoa" else price_of(thing) for thing in THINGS]
    agent = Agent(model, tools=secret, menu=Menu(shown=3))
    answer = agent.run("Berapa harga matoa?", principal=Principal("budi"))
    assert "matoa" not in json.dumps([shown(model), answer.steps[0].result])
    assert answer.steps[1].fault is not None
    assert answer.steps[1].fault.kind == "refused"


def test_an_unknown_name_is_led_to_the_search() -> None:
    model = Scripted([call("harga_durin"), "Maaf."])
    answer = Agent(model, tools=many()).run("Durian?")
    fault = answer.steps[0].fault
    assert fault is not None
    assert fault.kind == "unknown_tool"
    assert fault.hint is not None
    assert fault.hint.startswith("Did you mean harga_durian")
    assert fault.hint.endswith("Look for it with find_tools.")


def test_nothing_found_is_said() -> None:
    nobody = [*many(), price_of("emas", needs="gudang")]
    model = Scripted([call(NAME, query="emas"), "Maaf."])
    only = Agent(model, tools=[as_tool(one) for one in nobody], menu=Menu(most=1, shown=1))
    answer = only.run("Durian?")
    assert answer.steps[0].fault is None
    assert "emas" not in answer.steps[0].result


def test_its_name_is_taken_only_where_it_is_needed() -> None:
    def find_tools() -> str:
        """Find."""
        return ""

    Agent(Scripted(["Ya."]), tools=[find_tools]).run("?")
    with pytest.raises(ToolDefinitionError, match="under which a model finds tools"):
        Agent(Scripted(["Ya."]), tools=[find_tools, *many()])


def test_a_menu_has_at_least_one_tool() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Menu(shown=0)


def test_the_menu_is_journaled_and_a_replay_shows_the_same() -> None:
    model = Scripted([call(NAME, query="harga matoa"), call("harga_kurma"), "Ya."])
    answer = Agent(model, tools=many(), menu=Menu(shown=2)).run("Berapa harga durian?")
    state = None
    for event in answer.events:
        state = evolve(state, event)
    assert state is not None
    assert state.menu is not None
    assert list(state.menu) == shown(model)[2]
    started = answer.events[0]
    assert isinstance(started, TurnStarted)
    assert msgspec.json.decode(msgspec.json.encode(started.menu)) == list(started.menu or ())
    found = [event.outcome.found for event in answer.events if isinstance(event, CallFinished)]
    assert "harga_matoa" in found[0]


def test_a_turn_that_was_left_goes_on_with_the_menu_it_had(tmp_path: Path) -> None:
    async def run() -> None:
        began, hangs = asyncio.Event(), [True]

        async def look_up() -> str:
            began.set()
            if hangs.pop():
                await asyncio.Event().wait()
            return "Rp 1.000"

        slow = as_tool(tool(look_up, name="harga_emas", description="Harga emas.", effect="read", isolation="async"))
        model = Scripted([call(NAME, query="harga matoa"), call("harga_emas"), "Rp 1.000."])
        agent = Agent(model, tools=[*many(), slow], menu=Menu(shown=2))
        session = agent.session("budi", store=store_at(f"sqlite:///{tmp_path}/s.db")).session
        running = agent.start("Berapa harga durian?", turn="t-1", session=session)
        answer = asyncio.create_task(running.answer())
        await began.wait()
        running.leave()
        with pytest.raises(TurnLeftError):
            await answer
        hangs.append(False)
        anew = Agent(model, tools=[*many(), slow], menu=Menu(shown=2))  # as another process would make it
        session = anew.session("budi", store=store_at(f"sqlite:///{tmp_path}/s.db")).session
        assert (await anew.resume(session).answer()).text == "Rp 1.000."
        before, after = shown(model)[1], shown(model)[2]
        assert after[: len(before)] == before
        assert "harga_matoa" in after
        assert "harga_emas" in after

    asyncio.run(run())


def test_a_source_that_changes_is_searched_as_it_is_now() -> None:
    class Fruits(ToolSource):
        edition = 0
        names: tuple[str, ...] = THINGS

        def tools(self, taken: Collection[str] = ()) -> Sequence[Tool]:
            return [price_of(name) for name in self.names if f"harga_{name}" not in taken]

        def look(self) -> int:
            return self.edition

    source, model = Fruits(), Scripted(["Ya."] * 3)
    agent = Agent(model, tools=[source], menu=Menu(shown=2))
    agent.run("Berapa harga durian?")
    source.edition, source.names = 1, tuple(name for name in (*THINGS, "cempedak") if name != "durian")
    agent.run("Berapa harga cempedak? Atau harga_durian?")
    source.edition, source.names = 2, THINGS[:3]
    agent.run("Berapa harga apel?")
    first, second, third = shown(model)
    assert "harga_durian" in first
    assert "harga_cempedak" in second
    assert "harga_durian" not in second
    assert third == [f"harga_{name}" for name in THINGS[:3]]  # small again: shown whole


def test_data_wanted_and_long_results_keep_their_tools_on_the_menu() -> None:
    model = Scripted(['{"total": 1}'])
    long = [price_of(thing, max_output=100) for thing in THINGS]
    Agent(model, tools=long, menu=Menu(shown=2)).run("Berapa harga durian?", returns=Total)
    assert "read_more" in shown(model)[0]
    assert NAME in shown(model)[0]


def test_many_threads_make_one_index() -> None:
    agent = Agent(Scripted(["Ya."] * 8), tools=many(), menu=Menu(shown=2))
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(agent.run, "Berapa harga durian?") for _ in range(8)]
    assert [one.result().text for one in answers] == ["Ya."] * 8


@settings(max_examples=25)
@given(some.lists(some.sampled_from([*THINGS, "cari:leci", "cari:duku", "tak_ada"]), max_size=5, unique=True))
def test_a_menu_only_grows_and_every_call_is_answered(wishes: Sequence[str]) -> None:
    calls = [
        call(NAME, query=f"harga {wish[5:]}") if wish.startswith("cari:") else call(f"harga_{wish}") for wish in wishes
    ]
    model = Scripted([*calls, "Ya."])
    answer = Agent(model, tools=many(), menu=Menu(shown=2), limits=Limits(rounds=8)).run("Durian?")
    assert len(answer.steps) == len(calls)
    menus = shown(model)
    for before, after in itertools.pairwise(menus):
        assert after[: len(before)] == before
    for step in answer.steps:
        assert step.fault is None or step.tool == "harga_tak_ada"


@pytest.mark.skipif(not SHARED.is_file(), reason="the tools of real servers are in ../shared/data, which is not here")
def test_among_the_tools_of_real_servers() -> None:
    rows = [json.loads(line) for line in SHARED.read_text("utf-8").splitlines()]
    given: dict[str, Any] = {}
    for row in rows:
        schema = {
            "name": row["name"],
            "description": row.get("description") or row["name"],
            "parameters": row["inputSchema"],
        }
        given.setdefault(row["name"], (schema, _fine))
    model = Scripted(["Ya.", "Ya."])
    agent = Agent(model, tools=given.values(), menu=Menu())
    agent.run("Create a new pull request in the GitHub repository.")
    requests: list[ModelRequest] = list(model.requests)
    names = [contract.name for contract in requests[0].tools]
    assert len(names) <= 12
    assert any("pull_request" in name for name in names)
