"""The server itself: whose reply is whose, what is not answered, what a client is told, and how time passes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tukang.errors import ConfigurationError
from tukang.mock import MockServer, Received, in_thread
from tukang.models.scripted import Fails, Says, ScriptedCall, read_script

CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Halo"}]}


def with_server(server: MockServer, test: Callable[[aiohttp.ClientSession, str], Awaitable[Any]]) -> Any:
    """What a test finds out from a running server."""

    async def run() -> Any:
        async with server, aiohttp.ClientSession() as session:
            return await test(session, server.url)

    return asyncio.run(run())


async def say(session: aiohttp.ClientSession, url: str, body: Any = CHAT) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with session.post(url, data=data) as response:
        return response.status, json.loads(await response.read())


def text(answer: tuple[int, Any]) -> str:
    return answer[1]["choices"][0]["message"]["content"]


# ── whose reply is whose ─────────────────────────────────────────────────────────────────────────────────────────────


def test_each_client_has_its_own_place_in_the_script() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> list[str]:
        paths = ("/a/v1", "/a/v1", "/toko/b/v1", "/v1", "", "/toko/b/v1")
        return [text(await say(session, f"{url}{path}/chat/completions")) for path in paths]

    assert with_server(MockServer([Says("1"), Says("2")]), test) == ["1", "2", "1", "1", "2", "2"]


def test_a_script_at_its_end_says_so_or_repeats_its_last_reply() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
        await say(session, f"{url}/a/v1/chat/completions")
        return await say(session, f"{url}/a/v1/chat/completions")

    status, body = with_server(MockServer([Says("1")]), test)
    assert status == 400
    assert body["error"]["message"] == "the script has 1 replies, and request 2 of 'a' wants another"
    assert text(with_server(MockServer([Says("1")], repeat=True), test)) == "1"


def test_a_refused_request_takes_nothing_from_the_script() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> list[Any]:
        address = f"{url}/v1/chat/completions"
        refused = [await say(session, address, body) for body in (b"{", b"[]", {}, {**CHAT, "tool_choice": "required"})]
        return [*(status for status, _ in refused), text(await say(session, address))]

    assert with_server(MockServer([Says("1")]), test) == [400, 400, 400, 400, "1"]


def test_ids_of_calls_are_never_the_same_and_a_scripts_own_are_kept() -> None:
    calls = (ScriptedCall("f"), ScriptedCall("f"), ScriptedCall("f", id="own"))

    async def test(session: aiohttp.ClientSession, url: str) -> list[str]:
        replies = [await say(session, f"{url}/{client}/v1/chat/completions") for client in "ab"]
        return [call["id"] for _, body in replies for call in body["choices"][0]["message"]["tool_calls"]]

    ids = with_server(MockServer([Says(calls=calls)]), test)
    assert ids.count("own") == 2
    assert len(set(ids)) == 5


# ── what it tells ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_tells_what_came_and_why_it_was_refused() -> None:
    told: list[Received] = []

    async def test(session: aiohttp.ClientSession, url: str) -> None:
        await say(session, f"{url}/toko/v1/chat/completions")
        await say(session, f"{url}/api/chat", {"messages": []})

    with_server(MockServer([Says("1")], tell=told.append), test)
    assert [(one.client, one.protocol, one.refused) for one in told] == [
        ("toko", "openai", None),
        ("", "ollama", "model is required"),
    ]
    assert told[0].body == CHAT


def test_an_unknown_path_is_answered_with_the_protocols_there_are() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
        return await say(session, f"{url}/v1/completions")

    status, body = with_server(MockServer(), test)
    assert status == 404
    assert "bedrock-invoke" in body["error"]["message"]


@pytest.mark.parametrize(
    ("path", "protocol", "model"),
    [
        ("/openai/deployments/gpt-x/chat/completions?api-version=1", "openai", ""),
        (
            "/model/arn%3Aaws%3Abedrock%3A%3A%3Amodel%2Fanthropic.x/converse",
            "bedrock",
            "arn:aws:bedrock:::model/anthropic.x",
        ),
        ("/c/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", "gemini", "gemini-3-pro"),
    ],
)
def test_paths_as_clients_build_them(path: str, protocol: str, model: str) -> None:
    from tukang.mock.protocols import find

    found = find(path.partition("?")[0], {}, {})
    assert found is not None
    assert found.protocol.name == protocol
    assert found.address.model == model or protocol == "openai"


# ── how it fails, and how time passes ────────────────────────────────────────────────────────────────────────────────


def test_a_wait_that_is_no_whole_second_is_said_in_both_ways() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> tuple[str, str]:
        async with session.post(f"{url}/v1/chat/completions", json=CHAT) as response:
            return response.headers["Retry-After"], response.headers["retry-after-ms"]

    assert with_server(MockServer([Says(fails=Fails("overloaded", retry_after=1.25))]), test) == ("2", "1250")


def test_a_body_that_is_not_json() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> tuple[int, str]:
        async with session.post(f"{url}/v1/chat/completions", json=CHAT) as response:
            return response.status, await response.text()

    status, body = with_server(MockServer([Says("x", fails=Fails("bad_response"))]), test)
    assert status == 200
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(body)


def test_silence_comes_after_what_was_said() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> bytes:
        async with session.post(f"{url}/v1/chat/completions", json={**CHAT, "stream": True}) as response:
            heard = b""
            while b"Halo" not in heard:
                heard += await response.content.readany()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(response.content.read(), 0.05)
            return heard

    assert b"[DONE]" not in with_server(MockServer([Says("Halo", silent=True)]), test)


def test_a_delay_passes_before_each_delta() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> float:
        began = asyncio.get_running_loop().time()
        async with session.post(f"{url}/v1/chat/completions", json={**CHAT, "stream": True}) as response:
            await response.read()
        return asyncio.get_running_loop().time() - began

    assert with_server(MockServer([Says(("a", "b", "c"), delay=0.02)]), test) >= 0.06


def test_broken_arguments_go_out_as_the_script_has_them() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> tuple[Any, Any, Any]:
        broken = [
            await say(session, f"{url}/a/v1/chat/completions"),
            await say(session, f"{url}/b/api/chat", {**CHAT, "stream": False}),
            await say(session, f"{url}/c/v1beta/models/m:generateContent", {"contents": [{"parts": [{"text": "?"}]}]}),
        ]
        return broken[0], broken[1], broken[2]

    says = Says(calls=(ScriptedCall("f", '{"a": 1,'),))
    chat, ollama, gemini = with_server(MockServer([says]), test)
    assert chat[1]["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"a": 1,'
    assert ollama[0] == 500  # this server reads the model's text itself
    assert "error parsing tool call" in ollama[1]["error"]
    assert gemini[1]["candidates"][0]["finishReason"] == "MALFORMED_FUNCTION_CALL"


def test_gemini_streams_an_array_when_no_events_are_asked_for() -> None:
    async def test(session: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
        return await say(
            session, f"{url}/v1beta/models/m:streamGenerateContent", {"contents": [{"parts": [{"text": "?"}]}]}
        )

    status, chunks = with_server(MockServer([Says(("a", "b"))]), test)
    assert status == 200
    parts = [part["text"] for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    assert "".join(parts) == "ab"


def test_the_address_is_known_only_while_it_runs() -> None:
    server = MockServer()
    with in_thread(server):
        assert server.url.startswith("http://127.0.0.1:")
    with pytest.raises(RuntimeError, match="in_thread"):
        _ = server.url


def test_a_script_is_read_from_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "naskah.jsonl"
    path.write_text(
        '{"text": ["a\u2028", "b"], "delay": 0.1}\n\n{"fails": {"kind": "rate_limited", "status": 429}}\n', "utf-8"
    )
    said = read_script(path)
    assert said == [Says(("a\u2028", "b"), delay=0.1), Says(fails=Fails("rate_limited", status=429))]
    path.write_text('{"text": "a"}\n{"txet": "b"}\n', "utf-8")
    with pytest.raises(ConfigurationError, match=r"line 2.*txet"):
        read_script(path)


def test_a_client_that_has_gone_is_no_fault_of_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def gone(*_: Any) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    async def test(session: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
        with monkeypatch.context() as patched:
            patched.setattr("aiohttp.web.StreamResponse.prepare", gone)
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await say(session, f"{url}/v1/chat/completions", {**CHAT, "stream": True})
        return await say(session, f"{url}/v1/chat/completions")

    assert text(with_server(MockServer([Says("1")], repeat=True), test)) == "1"
    assert caplog.records == []
