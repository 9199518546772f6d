"""A chat completions server that asks for one tool call per round, for as many rounds as the model's name says, then answers.

    python -m bench.scripted_server          # prints its base URL, serves until its input closes

It runs in a process of its own, so that a client's CPU time is the client's alone. `model` is `rounds-N`. It answers as a
stream if asked for one. Replies have the size and shape of OpenAI's; nothing in them depends on time or chance.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Generator, Iterator
from typing import Any

import msgspec
from aiohttp import web

QUESTION = "Carikan laptop untuk desain grafis di bawah 20 juta, bandingkan stok dan harganya, lalu sarankan satu."
ANSWER = "Dari hasil pencarian, Laptop Pro 14 paling cocok: layar akurat, RAM 32 GB, dan stoknya masih ada. " * 4
_USAGE = {
    "prompt_tokens": 812,
    "completion_tokens": 64,
    "total_tokens": 876,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0},
}
_encode = msgspec.json.encode


@contextlib.contextmanager
def serving() -> Generator[str]:
    """Run the server in a process of its own; gives its base URL and ends the process afterwards."""
    command = [sys.executable, "-m", "bench.scripted_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer one request: a call while rounds are left, the final text after that."""
    asked: dict[str, Any] = msgspec.json.decode(await request.read())
    done = sum(1 for message in asked["messages"] if message["role"] == "tool")
    call = done < int(asked["model"].removeprefix("rounds-"))
    if not asked.get("stream"):
        return web.Response(body=_encode(_whole(done, call)), content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for chunk in _chunks(done, call):
        await response.write(b"data: " + _encode(chunk) + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    return response


def _arguments(done: int) -> str:
    return f'{{"kata_kunci": "laptop desain grafis", "halaman": {done + 1}, "harga_maksimum": 20000000}}'


def _head(kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-B0000000000000000000000000000",
        "object": kind,
        "created": 1750000000,
        "model": "gpt-4o-mini-2024-07-18",
        "service_tier": "default",
        "system_fingerprint": "fp_0000000000",
    }


def _whole(done: int, call: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
    if call:
        function = {"name": "cari_produk", "arguments": _arguments(done)}
        message["tool_calls"] = [{"id": _id(done), "type": "function", "function": function}]
    else:
        message["content"] = ANSWER
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls" if call else "stop"}
    return {**_head("chat.completion"), "choices": [choice], "usage": _USAGE}


def _chunks(done: int, call: bool) -> Iterator[dict[str, Any]]:
    head = _head("chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice], "usage": None}

    if call:
        function: dict[str, Any] = {"name": "cari_produk", "arguments": ""}
        opening = {"index": 0, "id": _id(done), "type": "function", "function": function}
        yield chunk({"role": "assistant", "content": None, "tool_calls": [opening], "refusal": None})
        for piece in _pieces(_arguments(done), 4):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    else:
        yield chunk({"role": "assistant", "content": "", "refusal": None})
        for piece in _pieces(ANSWER, 5):
            yield chunk({"content": piece})
    yield chunk({}, "tool_calls" if call else "stop")
    yield {**head, "choices": [], "usage": _USAGE}


def _pieces(text: str, length: int) -> Iterator[str]:
    return (text[start : start + length] for start in range(0, len(text), length))


def _id(done: int) -> str:
    return f"call_{done:024d}"


async def _serve() -> None:
    application = web.Application(client_max_size=1 << 26)
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve())
