"""Servers at an address: what one bad answer costs, and what may be sent again."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.mcp.conftest import permit, run
from tests.mcp.servers.web import WebServer
from tukang import Agent
from tukang.errors import ConfigurationError
from tukang.mcp import McpServer, McpServers
from tukang.models.scripted import Scripted, call

SECRET = "s3cret-abcdef"


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture
def servers(web: WebServer) -> Iterator[McpServers]:
    with McpServers(McpServer(name="web", url=web.url, trust="hints", timeout=10)) as made:
        yield made


def faults(answer: object) -> list[str | None]:
    return [step.fault.kind if step.fault else None for step in answer.steps]  # type: ignore[attr-defined]


def test_a_call_goes_there_and_back_in_a_session(web: WebServer, servers: McpServers) -> None:
    answer = run(servers, call("web_say"), call("web_say_reading"))
    assert [step.result for step in answer.steps] == ["say was done", "say was done"]
    assert len(web.sessions) == 1


@pytest.mark.parametrize("tool", ["drop", "drop_half", "stream_cut"])
def test_a_write_whose_answer_was_lost_has_an_unknown_outcome_and_is_not_sent_again(
    web: WebServer, servers: McpServers, tool: str
) -> None:
    answer = run(servers, call(f"web_{tool}"), call("web_say"))
    assert faults(answer) == ["outcome_unknown", None]
    assert web.calls(tool) == 1
    assert len(web.sessions) == 1  # and the connection is still the same


@pytest.mark.parametrize("tool", ["drop", "drop_half", "stream_cut", "busy"])
def test_a_read_whose_answer_was_lost_is_sent_once_more(web: WebServer, servers: McpServers, tool: str) -> None:
    answer = run(servers, call(f"web_{tool}_reading"), call("web_say"))
    assert faults(answer) == ["tool_failed", None]
    assert web.calls(f"{tool}_reading") == 2


def test_a_lost_answer_costs_no_call_beside_it(web: WebServer, servers: McpServers) -> None:
    answer = run(servers, [call("web_drop_reading"), call("web_say_reading"), call("web_busy_reading")])
    assert faults(answer) == ["tool_failed", None, "tool_failed"]
    assert web.calls("say_reading") == 1


def test_a_server_that_fails_may_have_done_it(web: WebServer, servers: McpServers) -> None:
    answer = run(servers, call("web_busy"))
    assert faults(answer) == ["outcome_unknown"]
    assert "HTTP 503" in answer.steps[0].result
    assert web.calls("busy") == 1


def test_a_server_that_refuses_did_nothing(web: WebServer, servers: McpServers) -> None:
    answer = run(servers, call("web_deny"))
    assert faults(answer) == ["nothing_done"]
    assert "HTTP 403" in answer.steps[0].result
    assert web.calls("deny") == 1


def test_a_session_that_the_server_forgot_is_begun_anew_also_for_a_write(web: WebServer, servers: McpServers) -> None:
    answer = run(servers, call("web_forget"))
    assert [step.result for step in answer.steps] == ["forget was done"]  # the first time it was not even looked at
    assert web.calls("forget") == 2
    assert sum(one["method"] == "initialize" for one in web.heard) == 2


def test_what_is_not_mcp_is_a_fault(servers: McpServers) -> None:
    answer = run(servers, call("web_strange_reading"), call("web_redirect"), call("web_say"))
    assert faults(answer)[2] is None
    assert "text/html" in answer.steps[0].result
    assert "not followed" in answer.steps[1].result


def test_a_call_whose_time_is_up_is_cancelled_at_the_server(web: WebServer) -> None:
    with McpServers(McpServer(name="web", url=web.url, trust="hints", timeout=0.3)) as servers:
        answer = run(servers, call("web_wait"), call("web_say"))
        assert faults(answer) == ["outcome_unknown", None]
        until = time.monotonic() + 5
        while not any(one["method"] == "notifications/cancelled" for one in web.heard):
            assert time.monotonic() < until
            time.sleep(0.01)


def test_a_server_that_is_gone_took_nothing_and_is_found_again_when_it_is_back(
    web: WebServer, servers: McpServers
) -> None:
    model = Scripted([call("web_say"), "away", call("web_say"), "back"])
    agent = Agent(model, tools=[servers], approve=permit)
    web.stop()
    away = agent.run("go")
    assert faults(away) == ["nothing_done"]
    assert "ConnectError" in away.steps[0].result
    web.again()
    assert agent.run("go").steps[0].result == "say was done"


def test_headers_are_sent_with_each_request_and_shown_nowhere() -> None:
    with WebServer(token=SECRET) as guarded:
        headers = {"Authorization": f"Bearer {SECRET}"}
        with McpServers(McpServer(name="web", url=guarded.url, headers=headers)) as servers:
            assert run(servers, call("web_say")).steps[0].result == "say was done"
        assert {one["Authorization"] for one in guarded.headers} == {f"Bearer {SECRET}"}
        wrong = McpServers(McpServer(name="web", url=guarded.url, headers={"Authorization": "Bearer wrong-wrong"}))
        with pytest.raises(ConfigurationError) as told:
            wrong.connect()
    assert "HTTP 401" in str(told.value)
    assert "wrong-wrong" not in str(told.value)


def test_an_address_where_nobody_is(web: WebServer) -> None:
    url = web.url
    web.stop()
    with pytest.raises(ConfigurationError) as told:
        McpServers(McpServer(name="web", url=f"{url}?key={SECRET}")).connect()
    assert f"MCP server 'web' ({url}) cannot be reached: ConnectError" in str(told.value)
    assert SECRET not in str(told.value)
