"""One session per event loop, and what a failure is called."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys

import aiohttp
import pytest
from multidict import CIMultiDict
from yarl import URL

from tests.servers import ChatServer, Raw
from tukang.models import http


def test_all_adapters_of_a_loop_share_a_session_and_it_closes_with_the_loop() -> None:
    async def twice() -> tuple[aiohttp.ClientSession, aiohttp.ClientSession]:
        return await http.shared_session(), await http.shared_session()

    first, second = asyncio.run(twice())
    assert first is second
    assert first.closed
    third, _ = asyncio.run(twice())
    assert third is not first


def test_a_closed_session_is_replaced_and_nothing_is_left_over() -> None:
    async def replaced() -> bool:
        first = await http.shared_session()
        await first.close()
        second = await http.shared_session()
        return second is not first and not second.closed

    assert asyncio.run(replaced())
    gc.collect()  # an unclosed session would warn here, and warnings are errors
    assert not [loop for loop in http._open if not loop.is_running()]  # pyright: ignore[reportPrivateUsage]


def test_a_loop_that_runs_until_the_process_ends_leaves_no_complaint_behind() -> None:
    program = """
import asyncio, threading
from tukang.models.http import shared_session
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
session = asyncio.run_coroutine_threadsafe(shared_session(), loop).result(10)
idle = asyncio.new_event_loop()
other = idle.run_until_complete(shared_session())
print(session.closed, other.closed)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False False\n", "")


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (302, "not_found", False),
        (400, "bad_request", False),
        (401, "authentication", False),
        (402, "rate_limited", False),
        (403, "authentication", False),
        (404, "not_found", False),
        (408, "overloaded", True),
        (409, "overloaded", True),
        (413, "bad_request", False),
        (422, "bad_request", False),
        (429, "rate_limited", True),
        (500, "overloaded", True),
        (501, "bad_request", False),
        (503, "overloaded", True),
        (529, "overloaded", True),
    ],
)
def test_every_status_has_a_kind(status: int, kind: str, retryable: bool) -> None:
    assert http.status_kind(status) == (kind, retryable)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": " 0.5 "}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "many", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 -0000", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert http.retry_after(CIMultiDict(headers)) == seconds


def test_the_server_has_the_last_word_on_trying_again() -> None:
    assert http.may_retry(CIMultiDict({"X-Should-Retry": "False"})) is False
    assert http.may_retry(CIMultiDict({"x-should-retry": "true"})) is True
    assert http.may_retry(CIMultiDict()) is None


def test_an_address_is_shown_without_its_secrets() -> None:
    assert http.where(URL("https://budi:rahasia@host/v1/chat?key=rahasia#x")) == "https://host/v1/chat"


def test_network_faults_are_named_and_carry_nothing_of_the_request() -> None:
    url = URL("https://budi:rahasia@host/v1")
    cases = {
        "timeout": TimeoutError(),
        "connection": aiohttp.ServerDisconnectedError("rahasia"),
        "configuration": aiohttp.InvalidUrlClientError("https://budi:rahasia@host"),
    }
    for kind, fault in cases.items():
        error = http.network_error(fault, url)
        assert error.kind == kind
        assert "rahasia" not in str(error)
        assert "https://host/v1" in str(error)


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert http.proxy_for(URL("https://api.example/v1")) == URL("http://proxy:3128")
    assert http.proxy_for(URL("https://inside.example/v1")) is None
    assert http.proxy_for(URL("https://localhost/v1")) is None
    assert http.proxy_for(URL("https://127.0.0.1/v1")) is None


def test_a_response_that_never_ends_is_not_waited_for() -> None:
    async def drained(base_url: str) -> bool:
        session = await http.shared_session()
        response = await http.post(session, URL(base_url), b"{}", {})
        assert await response.content.readany() == b"data: [DONE]\n\n"
        await http.drain(response.content)
        response.release()
        return response.content.at_eof()

    with ChatServer([Raw([b"data: [DONE]\n\n"], silent=True)]) as server:
        assert asyncio.run(drained(server.base_url)) is False
    with ChatServer([Raw([b"data: [DONE]\n\n"])]) as server:
        assert asyncio.run(drained(server.base_url)) is True
