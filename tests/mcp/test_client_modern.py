"""Servers that speak the protocol of 2026: changes have to be asked for, questions are results; and signing in."""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import permit, run
from tests.mcp.servers.modern import ModernServer
from tukang import Agent
from tukang.errors import ConfigurationError
from tukang.mcp import Elicitation, FileTokens, McpServer, McpServers, oauth
from tukang.models.scripted import Scripted, call


def free_port() -> int:
    """A port of this machine that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def modern() -> Iterator[ModernServer]:
    with ModernServer() as server:
        yield server


def test_a_new_tool_is_there_in_the_next_turn(modern: ModernServer) -> None:
    with McpServers(McpServer(name="modern", url=modern.url)) as servers:
        model = Scripted([call("modern_grow"), "grown", call("modern_grown"), "done"])
        agent = Agent(model, tools=[servers], approve=permit)
        before = servers.look()
        agent.run("go")
        until = time.monotonic() + 10  # that it has changed comes by another way than the result
        while servers.look() == before:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert [step.result for step in agent.run("go").steps] == ["grown was done"]
        menus = [{tool.name for tool in request.tools} for request in model.requests]
        assert menus[0] == menus[1] == menus[2] - {"modern_grown"}


def test_a_question_is_refused_without_a_handler_and_answered_by_one(modern: ModernServer) -> None:
    with McpServers(McpServer(name="modern", url=modern.url)) as servers:
        (step,) = run(servers, call("modern_ask")).steps
        assert step.fault is not None
        assert "Elicitation not supported" in step.fault.message

    def elicit(asked: Elicitation) -> dict[str, Any]:
        assert (asked.server, asked.message) == ("modern", "Which?")
        return {"colour": "red"}

    with McpServers(McpServer(name="modern", url=modern.url), elicitation=elicit) as servers:
        assert run(servers, call("modern_ask")).steps[0].result == "accept {'colour': 'red'}"


# ── signing in ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Browser:
    """Visits an address as a person would, in a thread, and follows where it leads."""

    def __init__(self) -> None:
        self.visited: list[str] = []

    def __call__(self, url: str) -> None:
        self.visited.append(url)
        threading.Thread(target=self._visit, args=(url,), daemon=True).start()

    def _visit(self, url: str) -> None:
        with urllib.request.urlopen(url, timeout=10) as page:
            assert b"close this page" in page.read()


@pytest.fixture
def guarded() -> Iterator[ModernServer]:
    with ModernServer(signs_in=True) as server:
        yield server


def test_a_person_signs_in_once_and_the_token_is_kept(
    guarded: ModernServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "tukang")
    assert guarded.door is not None
    browser, kept, port = Browser(), tmp_path / "kept" / "tokens.json", free_port()

    def used() -> str:
        auth = oauth(guarded.url, FileTokens(kept), visit=browser, port=port)
        with McpServers(McpServer(name="modern", url=guarded.url, auth=auth)) as servers:
            return run(servers, call("modern_header")).steps[0].result

    assert used() == used() == "header was done"
    assert (len(browser.visited), guarded.door.signed_in, len(guarded.door.clients)) == (1, 1, 1)
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    assert [*kept.parent.iterdir()] == [kept]
    tokens = json.loads(kept.read_bytes())["tokens"]
    assert tokens["access_token"] not in caplog.text
    assert tokens["refresh_token"] not in caplog.text


def test_a_file_of_servers_may_want_a_sign_in(
    guarded: ModernServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser()
    monkeypatch.setattr("webbrowser.open", lambda url: browser(url) or True)
    monkeypatch.setattr("tukang.mcp.client_oauth.PORT", free_port())
    own = {"oauth": str(tmp_path / "tokens.json"), "trust": "all"}
    with McpServers.from_dict({"mcpServers": {"modern": {"url": guarded.url, "tukang": own}}}) as servers:
        assert run(servers, call("modern_header")).steps[0].result == "header was done"
    assert len(browser.visited) == 1


def test_whoever_does_not_bring_the_right_state_is_not_let_in(guarded: ModernServer, tmp_path: Path) -> None:
    port = free_port()
    answers: list[int] = []

    def stranger(url: str) -> None:
        for target in ("callback?code=evil&state=guessed", "callback?code=evil", "", "other?code=x"):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{target}", timeout=5)
            except urllib.error.HTTPError as error:
                answers.append(error.code)
        urllib.request.urlopen(url, timeout=10).close()  # and then the person comes

    auth = oauth(guarded.url, FileTokens(tmp_path / "tokens.json"), visit=stranger, port=port)
    with McpServers(McpServer(name="modern", url=guarded.url, auth=auth)) as servers:
        assert len(servers.tools()) == 3
    assert answers == [404] * 4


def test_a_browser_that_cannot_be_opened_fails_the_connecting(guarded: ModernServer, tmp_path: Path) -> None:
    def broken(_: str) -> None:
        raise OSError("no display")

    auth = oauth(guarded.url, FileTokens(tmp_path / "tokens.json"), visit=broken, port=free_port())
    with pytest.raises(ConfigurationError, match="cannot be reached: OSError: no display"):
        McpServers(McpServer(name="modern", url=guarded.url, auth=auth)).connect()


def test_a_sign_in_that_is_wanted_and_not_provided_for_is_said(guarded: ModernServer) -> None:
    with pytest.raises(ConfigurationError, match="HTTP 401"):
        McpServers(McpServer(name="modern", url=guarded.url)).connect()
