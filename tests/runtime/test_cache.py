"""`cache`: the result of a read, given again in later turns for as long as its author said."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tukang import Agent, CallContext, tool
from tukang.conversation import Text
from tukang.errors import ToolDefinitionError
from tukang.loop import events
from tukang.models.scripted import Scripted, call
from tukang.runtime.cache import ResultCache
from tukang.tools.adopting import as_tool
from tukang.tools.outcome import Outcome


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def outcome(text: str) -> Outcome:
    return Outcome((Text(text),))


def kept(cache: ResultCache, digest: str) -> str | None:
    found = cache.get(digest)
    return found.outcome.text if found else None


# ── the cache ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_result_holds_for_so_many_seconds_from_the_beginning_of_its_call() -> None:
    clock = Clock()
    cache = ResultCache(clock)
    reading = cache.reading()
    clock.now += 4
    cache.put("d", outcome("a"), "t-1-0", 10, reading)
    clock.now += 5.9
    assert kept(cache, "d") == "a"
    clock.now += 0.1
    assert kept(cache, "d") is None


def test_anything_that_may_change_something_empties_it() -> None:
    cache = ResultCache(Clock())
    cache.put("d", outcome("a"), "t-1-0", 10, cache.reading())
    with cache.writing():
        assert kept(cache, "d") is None


def test_what_was_read_beside_a_write_is_not_kept() -> None:
    cache = ResultCache(Clock())
    before = cache.reading()
    with cache.writing():
        during = cache.reading()
        cache.put("before", outcome("old"), "t-1-0", 10, before)
        cache.put("during", outcome("old"), "t-1-1", 10, during)
        assert kept(cache, "during") is None
    cache.put("before", outcome("old"), "t-1-0", 10, before)
    cache.put("during", outcome("old"), "t-1-1", 10, during)
    cache.put("after", outcome("new"), "t-1-2", 10, cache.reading())
    assert [kept(cache, digest) for digest in ("before", "during", "after")] == [None, None, "new"]


def test_the_oldest_make_room() -> None:
    cache = ResultCache(Clock(), most=2)
    for digest in "abac":
        cache.put(digest, outcome(digest), "t-1-0", 10, cache.reading())
    assert [kept(cache, digest) for digest in "abc"] == ["a", None, "c"]


# ── in turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def counter(**policy: Any) -> tuple[Any, list[int]]:
    ran: list[int] = []

    @tool(effect="read", **policy)
    def kurs(mata_uang: str) -> dict[str, int]:
        """Kurs."""
        ran.append(len(mata_uang) - 2)
        return {"kurs": len(ran)}

    return kurs, ran


def test_an_equal_read_of_a_later_turn_gets_the_result_again_and_the_step_says_so() -> None:
    kurs, ran = counter(cache=3600)
    asks = call("kurs", mata_uang="USD")
    agent = Agent(Scripted([[asks], "a", [asks], "b", [call("kurs", mata_uang="EUR")], "c"]), tools=[kurs])
    first, again, other = (agent.run("berapa").steps[0] for _ in range(3))
    assert ran == [1, 1]
    assert (first.reused, first.source) == (False, None)
    assert (again.reused, again.source, again.result) == (True, first.call_id, '{"kurs":1}')
    assert again.seconds is None
    assert other.result == '{"kurs":2}'


def test_in_the_same_turn_it_is_one_more_reused_result() -> None:
    """The first call is answered from an earlier turn, the second from the first; neither runs."""
    kurs, ran = counter(cache=3600)
    asks = call("kurs", mata_uang="USD")
    agent = Agent(Scripted([[asks], "a", [asks], [asks], "b"]), tools=[kurs])
    first = agent.run("berapa").steps[0]
    answer = agent.run("berapa")
    assert ran == [1]
    assert [step.source for step in answer.steps] == [first.call_id, answer.steps[0].call_id]
    assert [result.text for result in answer.messages[2].results] == ['{"kurs":1}']  # no note: nothing to wonder about
    finished = [event for event in answer.events if isinstance(event, events.CallFinished)]
    assert [event.source for event in finished] == [first.call_id]


@pytest.mark.parametrize("effect", ["write", "unknown", "idempotent"])
def test_a_write_of_the_same_agent_makes_it_run_again(effect: Any) -> None:
    kurs, ran = counter(cache=3600)

    @tool(effect=effect, approval="never")
    def ubah() -> str:
        """Ubah."""
        return "ok"

    asks = call("kurs", mata_uang="USD")
    script = Scripted([[asks], "a", [call("ubah")], "b", [asks], "c"])
    agent = Agent(script, tools=[kurs, ubah])
    for _ in range(3):
        agent.run("ya")
    assert ran == [1, 1]


def test_without_it_every_turn_runs_its_own_reads() -> None:
    kurs, ran = counter()
    asks = call("kurs", mata_uang="USD")
    agent = Agent(Scripted([[asks], "a", [asks], "b"]), tools=[kurs])
    agent.run("berapa")
    agent.run("berapa")
    assert ran == [1, 1]


def test_failures_and_cut_results_are_not_kept() -> None:
    ran: list[str] = []

    @tool(effect="read", cache=3600)
    def gagal() -> str:
        """Gagal."""
        ran.append("gagal")
        raise ValueError("x")

    @tool(effect="read", cache=3600, max_output=10)
    def panjang() -> str:
        """Panjang."""
        ran.append("panjang")
        return "x" * 11

    asks = [call("gagal"), call("panjang")]
    agent = Agent(Scripted([asks, "a", asks, "b"]), tools=[gagal, panjang])
    agent.run("ya")
    agent.run("ya")
    assert sorted(ran) == ["gagal", "gagal", "panjang", "panjang"]


def test_the_plain_answer_counts_a_kept_result_among_what_is_known() -> None:
    kurs, _ = counter(cache=3600)
    asks = call("kurs", mata_uang="USD")
    agent = Agent(Scripted([[asks], "a", [asks]]), tools=[kurs])
    agent.run("ya")
    assert '{"kurs":1}' in agent.run("ya").text  # the script is at its end: no model can be had


def test_a_turn_that_was_ended_meanwhile_keeps_its_own_end() -> None:
    kurs, ran = counter(cache=3600)

    async def play() -> list[str]:
        agent = Agent(Scripted([[call("kurs", mata_uang="USD")]] * 8, repeat=True), tools=[kurs])
        answers = await asyncio.gather(*(agent.arun("ya") for _ in range(3)))
        return [answer.steps[0].result for answer in answers]

    assert len(asyncio.run(play())) == 3
    assert 1 <= len(ran) <= 3


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"effect": "write", "cache": 5}, "cache is for reads, and the effect is 'write'"),
        ({"cache": 5}, "cache is for reads, and the effect is 'unknown'"),
        ({"effect": "read", "cache": 5, "repeatable": True}, "cache and repeatable contradict"),
        ({"effect": "read", "cache": 0}, "cache must be a number of seconds more than 0"),
        ({"effect": "read", "cache": float("nan")}, "cache must be a number of seconds more than 0"),
        ({"effect": "read", "cache": True}, "cache must be a number of seconds more than 0"),
    ],
)
def test_where_it_cannot_be_right_it_is_refused(policy: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        tool(**policy)


def test_a_function_that_knows_its_caller_is_not_cached_for_the_next() -> None:
    @tool(effect="read", cache=5)
    def profil(context: CallContext) -> str:
        """Profil."""
        return str(context.session)

    with pytest.raises(ToolDefinitionError, match=r"'profil': cache gives one caller's result to the next"):
        as_tool(profil)
