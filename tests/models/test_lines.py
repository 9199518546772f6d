"""A connection goes from one request straight to the next, and is closed when nobody wants it any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aiohttp
import pytest
from yarl import URL

from tukang.models import direct, http, lines

LONG = 60.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalo"


class Server:
    """Answers every request, and knows its connections: how many were made, which of them are open."""

    def __init__(self, more: bytes = b"") -> None:
        self.made = 0
        self.open: set[asyncio.StreamWriter] = set()
        self.closed = asyncio.Event()
        self._more = more

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.made += 1
        self.open.add(writer)
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n{}")
                writer.write(ANSWER + self._more)
        except asyncio.IncompleteReadError:
            self.open.discard(writer)
            self.closed.set()
        finally:
            writer.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[URL]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        async with server, asyncio.timeout(LONG):
            yield URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


async def ask(sender: direct.Post) -> None:
    response = await sender.send(await http.shared_session(), b"{}")
    assert await response.read() == b"halo"
    response.release()


def test_requests_to_one_address_go_over_one_connection_whoever_sends_them() -> None:
    async def work() -> None:
        server = Server()
        async with server.running() as url:
            for sender in (direct.Post(url, {}), direct.Post(url / "elsewhere", {})):
                await ask(sender)
                await ask(sender)
            session = await http.shared_session()
            response = await http.post(session, url, b"{}", {})  # by aiohttp's front door
            assert await response.read() == b"halo"
            response.release()
            await ask(direct.Post(url, {}))
            assert server.made == 1

    asyncio.run(work())


def test_requests_at_the_same_time_have_a_connection_each_and_both_are_used_again() -> None:
    async def work() -> None:
        server = Server()
        async with server.running() as url:
            for _ in range(3):
                await asyncio.gather(*(ask(direct.Post(url, {})) for _ in range(2)))
            assert server.made == 2

    asyncio.run(work())


def test_event_loops_that_ask_at_the_same_time_keep_their_connections_apart() -> None:
    asked, answer = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(2)
            if self.path == "/slow" and not asked.is_set():
                asked.set()
                answer.wait(LONG)
            self.wfile.write(ANSWER)

    async def begin(sender: direct.Post) -> asyncio.Task[None]:
        task = asyncio.create_task(ask(sender))
        assert await asyncio.to_thread(asked.wait, LONG)
        return task

    async def end(task: asyncio.Task[None]) -> None:
        async with asyncio.timeout(LONG):
            await task

    def free(runner: asyncio.Runner) -> int:
        async def count() -> int:
            connector = (await http.shared_session()).connector
            assert isinstance(connector, lines.Connector)
            line = connector.line(aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop()).connection_key)
            found = 0
            while (connection := line.take()) is not None:
                connection.close()
                found += 1
            return found

        return runner.run(count())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, asyncio.Runner() as one, asyncio.Runner() as other:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = URL(f"http://127.0.0.1:{server.server_port}/slow")
        sender = direct.Post(url, {})
        task = one.run(begin(sender))
        other.run(ask(sender))
        answer.set()
        one.run(end(task))
        assert (free(one), free(other)) == (1, 1)
        server.shutdown()


def test_a_free_connection_is_closed_with_its_session(recwarn: pytest.WarningsRecorder) -> None:
    async def work() -> None:
        server = Server()
        async with server.running() as url:
            await ask(direct.Post(url, {}))
            assert server.open
            await (await http.shared_session()).close()
            await server.closed.wait()
            assert not server.open

    asyncio.run(work())
    assert [str(one.message) for one in recwarn] == []


def test_one_that_comes_back_when_its_session_is_closed_is_closed_too(recwarn: pytest.WarningsRecorder) -> None:
    async def work() -> None:
        server = Server()
        async with server.running() as url:
            session = await http.shared_session()
            response = await direct.Post(url, {}).send(session, b"{}")
            assert await response.read() == b"halo"
            await session.close()
            response.release()
            await server.closed.wait()

    asyncio.run(work())
    assert [str(one.message) for one in recwarn] == []


def test_one_that_the_server_has_closed_is_not_used_again() -> None:
    async def work() -> None:
        server = Server()
        async with server.running() as url:
            sender = direct.Post(url, {})
            await ask(sender)
            (writer,) = server.open
            writer.close()
            await server.closed.wait()
            await ask(sender)
            assert server.made == 2

    asyncio.run(work())


def test_one_on_which_something_came_that_nobody_asked_for_is_not_used_again() -> None:
    async def work() -> None:
        server = Server(more=b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        async with server.running() as url:
            sender = direct.Post(url, {})
            await ask(sender)
            await ask(sender)
            assert server.made == 2

    asyncio.run(work())


def test_one_that_nobody_has_used_for_long_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        server = Server()
        async with server.running() as url:
            sender = direct.Post(url, {})
            await ask(sender)
            connector = (await http.shared_session()).connector
            assert isinstance(connector, lines.Connector)
            connector.sweep()
            assert server.made == len(server.open) == 1, "it may yet be wanted"
            assert connector.sweeping is not None
            monkeypatch.setattr(lines, "KEPT", -1.0)
            connector.sweep()
            await server.closed.wait()
            assert connector.sweeping is None, "there is nothing left to sweep"
            await ask(sender)
            assert server.made == 2

    asyncio.run(work())


def test_a_server_that_changes_the_protocol_is_not_waited_for() -> None:
    class Changing(Server):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n{}")
            writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n")
            await reader.read()
            writer.close()
            self.closed.set()

    async def work() -> None:
        server = Changing()
        async with server.running() as url:
            response = await direct.Post(url, {}).send(await http.shared_session(), b"{}")
            assert (response.status, await response.read()) == (101, b"")
            response.release()
            await server.closed.wait()

    asyncio.run(work())
