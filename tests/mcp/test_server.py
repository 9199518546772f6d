"""Our tools as an MCP server, spoken to by the official client in both eras of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError

from tests.mcp.shop import BUDI, ERAS, Asks, Shop, agent, client, fault, must_fit
from tukang import Agent, Limits, tool
from tukang.errors import ConfigurationError
from tukang.loop.permissions import Principal, Rule
from tukang.mcp.serving import Caller, Service
from tukang.models.scripted import Scripted, call

pytestmark = pytest.mark.parametrize("era", ERAS)

KEY = "tukang/idempotency_key"
CALLS: dict[str, dict[str, Any]] = {
    "stock": {"code": "A"},
    "order": {"code": "A", "amount": 2},
    "send": {"code": "A"},
    "steps": {},
    "fails": {},
    "late": {},
    "picture": {},
    "long": {},
    "lies": {},
    "keyed": {},
    "read_more": {"handle": "none"},
    "tanya_toko": {"message": "hai"},
}


def test_all_that_an_inspector_looks_at(era: str) -> None:
    """Every tool is listed with schemas that are schemas, can be called, and returns what it says; and there is nothing
    else."""

    async def go() -> None:
        service = Service(agent(Shop(), "halo"), approved=["order"])
        async with client(service, era) as connected:
            listed = {tool.name: tool for tool in (await connected.list_tools()).tools}
            assert set(listed) == {*CALLS, "hold"}
            for one in listed.values():
                Draft202012Validator.check_schema(one.input_schema)
            assert listed["stock"].annotations is not None
            assert listed["stock"].annotations.read_only_hint is True
            assert listed["order"].annotations is not None
            assert listed["order"].annotations.read_only_hint is False
            assert (listed["order"].meta or {}).get("tukang/asks") is True
            for name, arguments in CALLS.items():
                must_fit(listed[name], await connected.call_tool(name, arguments))
            for absent in (connected.list_prompts, connected.list_resources):
                with pytest.raises(MCPError):
                    await absent()

    asyncio.run(go())


def test_results_as_text_and_as_data(era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False), era) as connected:
            await connected.list_tools()
            stock = await connected.call_tool("stock", {"code": "A"})
            assert stock.structured_content == {"code": "A", "left": 7}
            assert json.loads(text(stock)) == stock.structured_content
            assert (await connected.call_tool("steps", {})).structured_content == {"result": [1, 2, 3]}
            picture = (await connected.call_tool("picture", {})).content[0]
            assert isinstance(picture, types.ImageContent)
            assert picture.mime_type == "image/png"

    asyncio.run(go())


def test_a_long_result_is_cut_and_read_on_with_its_handle(era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False), era) as connected:
            first = await connected.call_tool("long", {})
            assert text(first) == "abcdefghij" * 10
            note = first.content[1]
            assert isinstance(note, types.TextContent)
            handle = note.text.partition('handle="')[2].partition('"')[0]
            rest = await connected.call_tool("read_more", {"handle": handle, "offset": 100})
            assert "abcdefghij" * 10 in text(rest)

    asyncio.run(go())


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "words"),
    [
        ("stok", {"code": "A"}, "unknown_tool", "stock"),
        ("stock", {}, "invalid_arguments", "code"),
        ("stock", {"code": 5}, "invalid_arguments", "code"),
        ("stock", {"code": "none"}, "nothing_done", "Try A."),
        ("order", {"code": "A", "amount": "viele"}, "invalid_arguments", "amount"),
        ("fails", {}, "tool_failed", "wheel"),
        ("late", {}, "timed_out", "0.05"),
    ],
)
def test_what_is_wrong_with_a_call_is_data(name: str, arguments: Any, kind: str, words: str, era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False), era) as connected:
            told = fault(await connected.call_tool(name, arguments))
            assert told["kind"] == kind
            assert words in json.dumps(told)

    asyncio.run(go())


def test_a_result_that_is_not_what_its_tool_says(era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False), era) as connected:
            result = await connected.call_tool("lies", {})
            assert result.is_error
            assert "ended well" in text(result)

    with pytest.warns(UserWarning, match="return type"):
        asyncio.run(go())


def test_arguments_are_coerced_as_the_schema_says(era: str) -> None:
    shop = Shop()

    async def go() -> None:
        async with client(Service(agent(shop), approved=["order"], ask=False), era) as connected:
            assert not (await connected.call_tool("order", {"code": "A", "amount": "2"})).is_error

    asyncio.run(go())
    assert shop.did == ["A 2"]


def test_a_secret_is_given_to_the_function_and_to_nobody_else(era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False), era) as connected:
            listed = {tool.name: tool for tool in (await connected.list_tools()).tools}
            assert listed["keyed"].input_schema.get("properties", {}) == {}
            assert text(await connected.call_tool("keyed", {})) == "used [secret]"

    asyncio.run(go())


# ── permission ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_write_asks_the_client_s_user(era: str) -> None:
    shop, asks = Shop(), Asks("yes")

    async def go() -> None:
        async with client(Service(agent(shop), ask=False), era, asks=asks) as connected:
            assert (await connected.call_tool("order", {"code": "A", "amount": 2})).structured_content == {"number": 1}
            await connected.call_tool("stock", {"code": "A"})

    asyncio.run(go())
    assert shop.did == ["A 2"]
    assert len(asks.asked) == 1, "a read asks nobody"
    assert '"amount": 2' in asks.asked[0]
    assert asks.asked[0].startswith("order [write]")


@pytest.mark.parametrize(
    ("answer", "told"),
    [("no", ""), ("cancel", ""), ("unticked", "too dear"), (None, "with --approve order")],
)
def test_a_write_that_nobody_permits_does_not_run(answer: str | None, told: str, era: str) -> None:
    shop = Shop()

    async def go() -> None:
        service = Service(agent(shop), ask=False, way_out="start it with --approve {tool}")
        async with client(service, era, asks=Asks(answer)) as connected:
            refused = fault(await connected.call_tool("order", {"code": "A", "amount": 2}))
            assert refused["kind"] == "refused"
            assert told in refused.get("hint", "")

    asyncio.run(go())
    assert shop.did == []


def test_what_the_operator_approves_asks_nobody(era: str) -> None:
    shop, asks = Shop(), Asks("no")

    async def go() -> None:
        service = Service(agent(shop), ask=False, approved=["order"])
        async with client(service, era, asks=asks) as connected:
            await connected.call_tool("order", {"code": "A", "amount": 2})

    asyncio.run(go())
    assert shop.did == ["A 2"]
    assert asks.asked == []


def test_who_was_not_granted_it_neither_sees_nor_runs_it(era: str) -> None:
    shop = Shop()

    async def go() -> None:
        async with client(Service(agent(shop), ask=False), era, caller=Caller(Principal("eve"))) as connected:
            assert "send" not in {tool.name for tool in (await connected.list_tools()).tools}
            told = fault(await connected.call_tool("send", {"code": "A"}))
            assert told["kind"] == "refused"
            assert "gudang:kirim" in told["message"]

    asyncio.run(go())
    assert shop.did == []


def test_the_host_s_rules_hold(era: str) -> None:
    shop = Shop()

    async def go() -> None:
        rules = [Rule("deny", tool="send", principal="budi", why="not on Sundays")]
        async with client(Service(agent(shop, rules=rules), ask=False), era) as connected:
            assert "not on Sundays" in fault(await connected.call_tool("send", {"code": "A"}))["message"]

    asyncio.run(go())
    assert shop.did == []


def test_what_is_not_served_is_not_there(era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False, tools=["stock"]), era) as connected:
            assert [tool.name for tool in (await connected.list_tools()).tools] == ["stock"]
            assert fault(await connected.call_tool("order", {"code": "A", "amount": 1}))["kind"] == "unknown_tool"
            assert fault(await connected.call_tool("tanya_toko", {"message": "hai"}))["kind"] == "unknown_tool"

    asyncio.run(go())


def test_only_who_was_asked_can_answer(era: str) -> None:
    """From 2026-07-28 on a question comes back with the request: with another call, or twice, it permits nothing."""
    if era == "legacy":
        pytest.skip("there the answer comes over the connection that was asked")
    shop = Shop()

    async def go() -> None:
        async with client(Service(agent(shop), ask=False), era, asks=Asks("yes")) as connected:
            first = await connected.session.call_tool("order", {"code": "A", "amount": 2}, allow_input_required=True)
            assert isinstance(first, types.InputRequiredResult)
            yes = {"permission": types.ElicitResult(action="accept", content={"approve": True})}
            other: dict[str, Any] = {"code": "A", "amount": 200}
            for arguments, state in ((other, first.request_state), ({"code": "A", "amount": 2}, "made up")):
                with pytest.raises(MCPError, match="make the call again"):
                    await connected.session.call_tool(
                        "order", arguments, input_responses=yes, request_state=state, allow_input_required=True
                    )
            assert shop.did == []
            again = {"code": "A", "amount": 2}
            done = await connected.session.call_tool(
                "order", again, input_responses=yes, request_state=first.request_state, allow_input_required=True
            )
            assert isinstance(done, types.CallToolResult)
            with pytest.raises(MCPError):
                await connected.session.call_tool(
                    "order", again, input_responses=yes, request_state=first.request_state, allow_input_required=True
                )

    asyncio.run(go())
    assert shop.did == ["A 2"]


def test_a_question_that_is_not_answered_in_time_is_a_no(era: str) -> None:
    shop, never = Shop(), asyncio.Event()

    class Silent(Asks):
        async def _said(self, context: Any, params: Any) -> types.ElicitResult:  # noqa: ARG002
            await never.wait()
            raise AssertionError

    async def go() -> None:
        service = Service(agent(shop, limits=Limits(deciding=0.05)), ask=False)
        async with client(service, era, asks=Silent()) as connected:
            if era == "legacy":
                assert fault(await connected.call_tool("order", {"code": "A", "amount": 2}))["kind"] == "refused"
                return
            arguments = {"code": "A", "amount": 2}
            first = await connected.session.call_tool("order", arguments, allow_input_required=True)
            assert isinstance(first, types.InputRequiredResult)
            await service.idle.wait()
            yes = {"permission": types.ElicitResult(action="accept", content={"approve": True})}
            with pytest.raises(MCPError, match="make the call again"):
                await connected.session.call_tool(
                    "order",
                    arguments,
                    input_responses=yes,
                    request_state=first.request_state,
                    allow_input_required=True,
                )

    asyncio.run(go())
    assert shop.did == []


# ── keys, progress, cancelling, many at once ─────────────────────────────────────────────────────────────────────────


def test_a_key_is_one_call(era: str) -> None:
    shop = Shop()

    async def go() -> None:
        service = Service(agent(shop), ask=False)
        async with client(service, era) as connected:
            results = [await connected.call_tool("send", {"code": "A"}, meta={KEY: "k1"}) for _ in range(2)]
            assert text(results[0]) == text(results[1])
            assert len(shop.did) == 1
            await connected.call_tool("send", {"code": "A"}, meta={KEY: "k2"})
            assert "new key" in fault(await connected.call_tool("send", {"code": "B"}, meta={KEY: "k1"}))["message"]
            with pytest.raises(MCPError, match="blank"):
                await connected.call_tool("send", {"code": "A"}, meta={KEY: " "})
        other = Caller(Principal("wati", ["gudang:kirim"]))
        async with client(service, era, caller=other) as connected:
            await connected.call_tool("send", {"code": "A"}, meta={KEY: "k1"})

    asyncio.run(go())
    assert len(shop.did) == 3, "each caller has keys of their own"


def test_progress_grows(era: str) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False), era) as connected:
            await connected.call_tool("steps", {}, progress_callback=told)

    asyncio.run(go())
    assert [message for _, _, message in seen] == ["step 0", "step 1", "step 2"]
    assert [total for _, total, _ in seen] == [100, 100, 100]
    assert sorted({one for one, _, _ in seen}) == [one for one, _, _ in seen]


def test_a_cancelled_call_is_cancelled_and_holds_nobody_up(era: str) -> None:
    async def go() -> None:
        shop = Shop()
        service = Service(agent(shop), ask=False)
        async with client(service, era) as connected:
            waiting = asyncio.create_task(connected.call_tool("hold", {}))
            await shop.begun.wait()
            assert (await connected.call_tool("stock", {"code": "A"})).structured_content == {"code": "A", "left": 7}
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting
            await asyncio.wait_for(shop.cancelled.wait(), 30)
            await asyncio.wait_for(service.idle.wait(), 30)

    asyncio.run(go())


def test_a_tool_has_no_more_calls_than_it_wants(era: str) -> None:
    most = now = 0

    @tool(effect="read", parallel=2)
    async def few() -> int:
        """At most two."""
        nonlocal most, now
        now += 1
        most = max(most, now)
        for _ in range(5):
            await asyncio.sleep(0)
        now -= 1
        return 1

    async def go() -> None:
        async with client(Service(Agent(Scripted([]), tools=[few]), ask=False), era) as connected:
            await asyncio.gather(*[connected.call_tool("few", {}) for _ in range(6)])

    asyncio.run(go())
    assert most == 2


def test_long_work_is_begun_with_one_call_and_asked_about_with_others(era: str) -> None:
    @tool(effect="read", long=True)
    async def report(year: int) -> int:
        """Make a report."""
        await asyncio.sleep(0)
        return year * 2

    async def go() -> None:
        async with client(Service(Agent(Scripted([]), tools=[report]), ask=False), era) as connected:
            assert {one.name for one in (await connected.list_tools()).tools} == {
                "report",
                "task_status",
                "task_result",
            }
            task = json.loads(text(await connected.call_tool("report", {"year": 4})))["task"]
            await connected.call_tool("task_status", {"task": task, "wait": 30})
            assert "8" in text(await connected.call_tool("task_result", {"task": task}))
            stranger = {"tukang/session": "another"}
            told = await connected.call_tool("task_result", {"task": task}, meta=stranger)
            assert fault(told)["kind"] == "nothing_done"

    asyncio.run(go())


# ── the agent as a tool ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_agent_answers_with_its_steps(era: str) -> None:
    shop, asks = Shop(), Asks("yes")
    seen: list[str | None] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        seen.append(message)

    async def go() -> None:
        script = [call("stock", code="A"), call("order", code="A", amount=2), "sudah"]
        async with client(Service(agent(shop, *script)), era, asks=asks) as connected:
            await connected.list_tools()
            result = await connected.call_tool("tanya_toko", {"message": "pesan dua"}, progress_callback=told)
            assert text(result) == "sudah"
            data = result.structured_content
            assert data["stopped"] == "answer"
            assert [step["tool"] for step in data["steps"]] == ["stock", "order"]

    asyncio.run(go())
    assert shop.did == ["A 2"]
    assert len(asks.asked) == 1
    assert seen == ["stock", "order"]


def test_the_agent_s_write_is_refused_where_nobody_can_be_asked(era: str) -> None:
    shop = Shop()

    async def go() -> None:
        script = [call("order", code="A", amount=2), "tidak bisa"]
        async with client(Service(agent(shop, *script)), era) as connected:
            result = await connected.call_tool("tanya_toko", {"message": "pesan dua"})
            assert result.structured_content["steps"][0]["fault"] == "refused"

    asyncio.run(go())
    assert shop.did == []


def test_the_agent_remembers_the_conversation_that_is_named(era: str) -> None:
    model = Scripted(["halo", "kamu bilang hai", "siapa?"])

    async def go() -> None:
        service = Service(Agent(model, tools=Shop().tools(), name="toko", language="id", secrets={"TOKEN": "x" * 9}))
        async with client(service, era) as connected:
            first = await connected.call_tool("tanya_toko", {"message": "hai", "session": "s1"})
            await connected.call_tool("tanya_toko", {"message": "apa kataku?", "session": "s1"})
            assert first.structured_content["session"] == "s1"
        async with client(service, era, caller=Caller(Principal("eve"))) as connected:
            await connected.call_tool("tanya_toko", {"message": "apa katanya?", "session": "s1"})

    asyncio.run(go())
    assert [len(request.messages) for request in model.requests] == [1, 3, 1], "and nobody reaches another one's"


def test_a_key_for_the_agent_is_one_turn_where_there_is_a_store(era: str, tmp_path: Path) -> None:
    model = Scripted(["satu", "dua"])
    own = Agent(model, name="toko", language="id")

    async def go() -> None:
        async with client(Service(own, store=f"sqlite:///{tmp_path / 'chats.db'}"), era) as connected:
            said = [
                text(await connected.call_tool("tanya_toko", {"message": message}, meta={KEY: "k1"}))
                for message in ("hai", "hai", "apa?")
            ]
            assert said == ["satu", "satu", "dua"]
        async with client(Service(own), era) as connected:
            told = fault(await connected.call_tool("tanya_toko", {"message": "hai"}, meta={KEY: "k1"}))
            assert "no keys" in told["message"], "what cannot be promised is not accepted"

    asyncio.run(go())


@pytest.mark.parametrize("arguments", [{}, {"message": ""}, {"message": " "}, {"message": 1}, {"message": "x", "y": 1}])
def test_a_message_must_be_one(arguments: Any, era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop())), era) as connected:
            assert fault(await connected.call_tool("tanya_toko", arguments))["kind"] == "invalid_arguments"

    asyncio.run(go())


def test_a_model_that_fails_is_said(era: str) -> None:
    async def go() -> None:
        async with client(Service(agent(Shop())), era) as connected:
            result = await connected.call_tool("tanya_toko", {"message": "hai"})
            assert result.is_error

    asyncio.run(go())


@pytest.mark.parametrize("options", [{"tools": ["stok"]}, {"approved": ["stok"]}])
def test_a_tool_that_is_not_there_cannot_be_served(options: Any, era: str) -> None:  # noqa: ARG001
    with pytest.raises(ConfigurationError, match="did you mean 'stock'"):
        Service(agent(Shop()), **options)


def test_who_calls_is_budi(era: str) -> None:
    """The tools are told the conversation, with whose it is."""

    async def go() -> None:
        async with client(Service(agent(Shop()), ask=False), era) as connected:
            meta = {"tukang/session": "s9"}
            assert text(await connected.call_tool("send", {"code": "A"}, meta=meta)) == f"sent, in {BUDI.id}/s9"

    asyncio.run(go())


def text(result: types.CallToolResult) -> str:
    content = result.content[0]
    assert isinstance(content, types.TextContent)
    return content.text
