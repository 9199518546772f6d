"""The short way through aiohttp says the same on the wire as its front door, and fails in the same words."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiohttp
import pytest
from yarl import URL

from tests.servers import ChatServer, Raw
from tukang.errors import ConfigurationError
from tukang.models import direct, http
from tukang.models.exchange import Address

T = TypeVar("T")
LONG = 60.0


@asynccontextmanager
async def serving(*answers: bytes, asked: list[bytes] | None = None, ends: bool = True) -> AsyncIterator[URL]:
    """A server that sends these bytes, one for each request of a connection, and closes it after the last if `ends`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for answer in answers:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                if asked is not None:
                    asked.append(head + body)
                writer.write(answer)
            if not ends:
                assert await reader.read() == b"", "nothing more is asked"
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/chat?a=b")


def run(work: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(LONG):
            return await work()

    return asyncio.run(bounded())


async def post(url: URL, body: bytes = b"{}") -> tuple[int, bytes]:
    response = await direct.Post(url, {}).send(await http.shared_session(), body)
    try:
        return response.status, await response.read()
    finally:
        response.release()


def answer(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = (b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers)
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def test_what_is_sent_is_what_the_front_door_sends() -> None:
    async def both(base_url: str) -> None:
        session, url = await http.shared_session(), URL(base_url) / "chat" % {"api-version": "1 2"}
        headers = {"Content-Type": "application/json", "Authorization": "Bearer kunci", "user-agent": "saya"}
        sender = direct.Post(url, headers)
        for sent in (sender.send(session, b'{"a":1}'), http.post(session, url, b'{"a":1}', headers)):
            response = await sent
            assert await response.read() == b"ok"
            response.release()

    with ChatServer([Raw([b"ok"]), Raw([b"ok"])]) as server:
        asyncio.run(both(server.base_url))
    short, front = server.requests
    assert (short.path, short.body) == (front.path, front.body)
    as_said = [{name.lower(): value for name, value in one.headers.items()} for one in (short, front)]
    as_said[1]["accept-encoding"] = "gzip, deflate"  # aiohttp adds what else is installed
    assert as_said[0] == as_said[1]
    assert short.connection == front.connection, "the connection was given back and used again"


@pytest.mark.parametrize(
    ("sent", "status", "body"),
    [
        (answer(b"halo"), 200, b"halo"),
        (answer(b"", status=b"429 Too Many Requests"), 429, b""),
        (answer(b"", b"Location: http://elsewhere/", status=b"302 Found"), 302, b""),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer(b"halo"), 200, b"halo"),
        (answer(gzip.compress(b"halo", mtime=0), b"Content-Encoding: gzip"), 200, b"halo"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nha\r\n2\r\nlo\r\n0\r\n\r\n", 200, b"halo"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalo", 200, b"halo"),
    ],
)
def test_any_form_of_a_response_is_read(sent: bytes, status: int, body: bytes) -> None:
    async def work() -> tuple[int, bytes]:
        async with serving(sent) as url:
            return await post(url)

    assert run(work) == (status, body)


@pytest.mark.parametrize(
    "sent",
    [b"", b"HTTP/1.1 abc\r\n\r\n", b"not HTTP at all\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalo"],
)
def test_what_is_no_response_is_a_network_fault(sent: bytes) -> None:
    async def work() -> None:
        async with serving(sent) as url:
            with pytest.raises(http.NETWORK_FAULTS) as caught:
                await post(url)
            assert http.network_error(caught.value, url).kind == "connection"
            assert http.network_error(caught.value, url).retryable

    run(work)


def test_nobody_there_is_a_network_fault() -> None:
    async def work() -> None:
        async with serving() as url:
            pass
        with pytest.raises(http.NETWORK_FAULTS) as caught:
            await post(url)
        assert "cannot be reached" in str(http.network_error(caught.value, url))

    run(work)


def test_connections_are_used_again_unless_the_response_was_left_in_the_middle() -> None:
    asked: list[bytes] = []

    async def work() -> None:
        session = await http.shared_session()
        async with serving(answer(b"one"), answer(b"two" * 100_000), asked=asked, ends=False) as url:
            sender = direct.Post(url, {})
            first = await sender.send(session, b"1")
            assert await first.read() == b"one"
            first.release()
            second = await sender.send(session, b"2")
            second.release()  # its body was not read: the next request must not find it
            third = await sender.send(session, b"3")
            assert await third.read() == b"one"
            third.release()

    run(work)
    assert [one[-1:] for one in asked] == [b"1", b"2", b"3"]


def test_a_cancelled_request_closes_its_connection() -> None:
    async def work() -> None:
        asked, gone = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.set()
            await reader.read()  # to the end
            gone.set()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            waiting = asyncio.create_task(post(URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")))
            await asked.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await gone.wait()

    run(work)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalo"])
def test_a_server_that_falls_silent_is_given_up(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "SILENCE", 0.02)

    async def work() -> None:
        async with serving(sent, ends=False) as url:
            with pytest.raises(TimeoutError) as caught:
                await post(url)
            assert http.network_error(caught.value, url).kind == "timeout"

    run(work)


def test_a_server_that_is_slow_is_not_given_up() -> None:
    class Content:
        total_bytes = 0

    protocol: Any = object()
    content: Any = Content()
    flight = direct.Flight(protocol)
    assert [flight.is_silent() for _ in range(2)] == [False, False]
    flight.content = content
    for _ in range(5):
        content.total_bytes += 1
        assert [flight.is_silent() for _ in range(3)] == [False, False, False]
    assert flight.is_silent()


@pytest.mark.parametrize(("name", "value"), [("X-Kunci", "rahasia\r\nHost: elsewhere"), ("X\nHost", "rahasia")])
def test_a_header_cannot_smuggle_in_another(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        direct.Post(URL("http://127.0.0.1/"), {name: value})
    assert "rahasia" not in str(caught.value)


def test_it_is_used_in_the_plain_case_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.delenv("https_proxy", raising=False)
    url = URL("https://api.example/v1")

    def plain(url: URL = url, route: http.Route | None = None) -> bool:
        return Address(url, {}, route or http.Route())._plain is not None  # pyright: ignore[reportPrivateUsage]

    assert direct.fits()
    assert plain()
    assert not plain(route=http.Route(proxy="http://proxy:3128"))
    assert not plain(route=http.Route(tls=ssl.create_default_context()))
    assert not plain(URL("https://budi:rahasia@api.example/v1"))
    monkeypatch.setattr(direct, "fits", lambda: False)
    assert not plain()


@pytest.mark.parametrize("missing", ["connect", "set_response_params"])
def test_an_aiohttp_that_has_changed_is_used_by_its_front_door(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from aiohttp.client_proto import ResponseHandler

    owner = aiohttp.BaseConnector if missing == "connect" else ResponseHandler

    def other(self: Any, everything: Sequence[Any]) -> None:
        """What a later version might have under this name."""

    monkeypatch.setattr(owner, missing, other)
    assert direct.fits.__wrapped__() is False


def test_one_timer_watches_over_all_responses_and_goes_when_nothing_is_under_way() -> None:
    async def work() -> None:
        protocol: Any = object()
        watch, flights = direct.Watch(600.0), [direct.Flight(protocol) for _ in range(2)]
        loop: Any = asyncio.get_running_loop()
        for flight in flights:
            watch.add(flight)
        (timer,) = loop._scheduled
        for flight in flights:
            watch.remove(flight)
        watch.add(flights[0])
        assert loop._scheduled == [timer]
        watch.remove(flights[0])
        loop._scheduled.clear()
        timer._run()  # its time has come
        assert loop._scheduled == []
        watch.add(flights[0])
        assert len(loop._scheduled) == 1

    asyncio.run(work())


def test_models_of_one_loop_share_a_watch() -> None:
    async def work() -> None:
        async with serving(*[answer(b"halo")] * 3) as url:
            for _ in range(3):
                assert await post(url) == (200, b"halo")  # by a new `Post` each time
            loop: Any = asyncio.get_running_loop()
            looks = [timer for timer in loop._scheduled if timer._callback.__qualname__ == "Watch._look"]
            assert len(looks) == 1

    run(work)
