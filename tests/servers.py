"""A chat completions server for tests: it answers from a script, in a thread of its own, on a free port of this machine.

    with ChatServer([Say(calls=[("cek_harga", {"id": "PRD002"})]), Say("Rp 1.200.000")]) as server:
        model = OpenAIChat("any", base_url=server.base_url)

It decides nothing: the script says what comes next, and what was asked is kept in `server.requests`. `Say` is answered in the
form the request asks for, streamed or whole; `Raw` is sent as it is, for everything that is not as it should be.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import msgspec
from aiohttp import web


class Say(msgspec.Struct, frozen=True):
    """A good reply.

    Args:
        text: its words.
        calls: the calls it asks for: names with arguments, as an object or as the text to send.
        thinking: its reasoning, as `reasoning_content`.
        finish: the finish reason; worked out if None.
        pieces: characters of text or arguments in one chunk of a stream.
        usage: prompt and completion tokens.
    """

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    thinking: str = ""
    finish: str | None = None
    pieces: int = 5
    usage: tuple[int, int] = (100, 20)


class Raw(msgspec.Struct, frozen=True):
    """A response sent as it is.

    Args:
        body: sent in these pieces, each flushed.
        status, headers: as given; the content type is JSON unless `headers` has another.
        cut: break the connection instead of ending the response.
        silent: send the headers and the pieces, and then nothing until the client goes away.
    """

    body: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = {}
    cut: bool = False
    silent: bool = False


class Received(msgspec.Struct, frozen=True):
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    connection: int


class ChatServer:
    """The server. Use it as a context manager; it is stopped, connections and all, on the way out."""

    def __init__(self, script: Sequence[Say | Raw]) -> None:
        self._script = iter(script)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self.requests: list[Received] = []
        self.base_url = ""

    def __enter__(self) -> ChatServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _open(self) -> None:
        application = web.Application()
        application.router.add_post("/{path:.*}", self._answer)
        self._runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def _close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        await self._loop.shutdown_asyncgens()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        asked: dict[str, Any] = json.loads(await request.read())
        self.requests.append(Received(request.path_qs, dict(request.headers), asked, id(request.transport)))
        step = next(self._script, Raw([b'{"error": {"message": "the script is over"}}'], status=400))
        if isinstance(step, Say):
            if asked.get("stream"):
                step = Raw(list(_stream(step)), headers={"Content-Type": "text/event-stream; charset=utf-8"})
            else:
                step = Raw([json.dumps(_whole(step)).encode()])
        return await self._send(request, step)

    async def _send(self, request: web.Request, step: Raw) -> web.StreamResponse:
        headers = {"Content-Type": "application/json", **step.headers}
        response = web.StreamResponse(status=step.status, headers=headers)
        await response.prepare(request)
        for piece in step.body:
            await response.write(piece)
        if step.silent:
            await asyncio.Event().wait()
        if step.cut and request.transport is not None:
            request.transport.abort()
        return response


def event(chunk: Any) -> bytes:
    """One server-sent event that holds JSON, or the words given (`[DONE]`)."""
    return b"data: " + (chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)).encode() + b"\n\n"


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One chunk of a stream, with these fields in its delta."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def _calls(say: Say) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{name}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for place, (name, given) in enumerate(say.calls)
    ]


def _finish(say: Say) -> str:
    return say.finish or ("tool_calls" if say.calls else "stop")


def _usage(say: Say) -> dict[str, int]:
    prompt, completion = say.usage
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _whole(say: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
    if say.thinking:
        message["reasoning_content"] = say.thinking
    if say.calls:
        message["tool_calls"] = _calls(say)
    choice = {"index": 0, "message": message, "finish_reason": _finish(say)}
    return {"object": "chat.completion", "model": "scripted", "choices": [choice], "usage": _usage(say)}


def _stream(say: Say) -> Iterator[bytes]:
    yield event(delta(role="assistant", content=""))
    for piece in _cut(say.thinking, say.pieces):
        yield event(delta(reasoning_content=piece))
    for piece in _cut(say.text, say.pieces):
        yield event(delta(content=piece))
    for index, call in enumerate(_calls(say)):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        opening = {"index": index, **call, "function": {"name": name, "arguments": ""}}
        yield event(delta(tool_calls=[opening]))
        for piece in _cut(arguments, say.pieces):
            yield event(delta(tool_calls=[{"index": index, "function": {"arguments": piece}}]))
    yield event(delta(_finish(say)))
    yield event({"object": "chat.completion.chunk", "choices": [], "usage": _usage(say)})
    yield event("[DONE]")


def _cut(text: str, length: int) -> Iterator[str]:
    return (text[start : start + length] for start in range(0, len(text), length))
