"""The adapter against a real server on this machine: where it asks, what it sends, and what a failure is called."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Sequence
from typing import Any

import pytest
from ollama._client import _parse_host  # pyright: ignore[reportPrivateUsage]
from yarl import URL

from tests.servers import ChatServer, Raw, Received
from tukang.conversation import ToolCall, Usage, user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.base import Fold, Model, ModelRequest, Reply, Settings
from tukang.models.names import choose
from tukang.models.ollama import Ollama, base_url
from tukang.tools.contract import Contract

ASK = ModelRequest("Singkat.", (user("Berapa harganya?"),))
PRICE = Contract("harga", "Harga sebuah produk.", {"type": "object", "properties": {"id": {"type": "string"}}})
KEY = "ollama-very-secret-key"
END: dict[str, Any] = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 2}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def line(content: str = "", **fields: Any) -> bytes:
    return json.dumps({"model": "m", "message": {"role": "assistant", "content": content}, **fields}).encode() + b"\n"


async def fold(model: Ollama, request: ModelRequest = ASK) -> Reply:
    folded = Fold()
    async for one in model.stream(request):
        folded.add(one)
    assert folded.ended
    return folded.reply()


def ask(script: Sequence[Raw], request: ModelRequest = ASK, **options: Any) -> tuple[Reply, Received]:
    with ChatServer(script) as server:
        model = Ollama("qwen3:8b", host=server.base_url.removesuffix("/v1"), **options)
        return asyncio.run(fold(model, request)), server.requests[0]


def failure(step: Raw, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask([step], **options)
    return caught.value


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_and_the_request_that_brought_it(stream: bool) -> None:
    pieces = [line("Satu "), line("juta."), line(**END)] if stream else [line("Satu juta.", **END)]
    reply, received = ask([Raw(pieces)], stream=stream)
    assert (reply.text, reply.finish, reply.usage) == ("Satu juta.", "stop", Usage(9, 2, requests=1))
    assert received.path == "/api/chat"
    assert received.body == {
        "model": "qwen3:8b",
        "stream": stream,
        "messages": [{"role": "system", "content": "Singkat."}, {"role": "user", "content": "Berapa harganya?"}],
    }
    assert "Authorization" not in received.headers


def test_a_server_that_answers_whole_although_a_stream_was_asked_for() -> None:
    assert ask([Raw([line("ya", **END)])], stream=True)[0].text == "ya"


def test_a_stream_that_stays_open_after_its_end_is_a_reply_all_the_same() -> None:
    assert ask([Raw([line("ya"), line(**END)], silent=True)])[0].text == "ya"


def test_a_forced_call_is_a_call() -> None:
    request = ModelRequest("", ASK.messages, (PRICE,), "harga")
    reply, received = ask([Raw([line('{"name":"harga","arguments":{"id":"PRD002"}}'), line(**END)])], request)
    assert reply.parts == (ToolCall("", "harga", '{"id":"PRD002"}'),)
    assert received.body["format"]["properties"]["name"]["enum"] == ["harga"]


def test_a_key_is_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    _, received = ask([Raw([line("ya", **END)])])
    assert received.headers["Authorization"] == f"Bearer {KEY}"
    error = failure(Raw([b'{"error": "unauthorized: ' + KEY.encode() + b'"}'], status=401))
    assert error.kind == "authentication"
    assert KEY not in str(error)
    assert KEY not in repr(Ollama("m"))
    assert error.__cause__ is None


def test_headers_of_ones_own_win() -> None:
    _, received = ask([Raw([line("ya", **END)])], api_key=KEY, headers={"authorization": "Basic x", "X-Title": "toko"})
    assert (received.headers["Authorization"], received.headers["X-Title"]) == ("Basic x", "toko")


def test_a_refusal_a_redirect_and_a_broken_connection() -> None:
    error = failure(Raw([b'{"error": "slow down"}'], status=429, headers={"Retry-After": "3"}))
    assert (error.kind, error.retryable, error.retry_after) == ("rate_limited", True, 3.0)
    error = failure(Raw(status=307, headers={"Location": "http://127.0.0.1:9/elsewhere"}))
    assert (error.kind, error.retryable) == ("not_found", False)
    error = failure(Raw([line("Hal")], cut=True))
    assert (error.kind, error.retryable) == ("connection", True)
    assert error.__cause__ is None
    assert error.__context__ is None


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelError) as caught:
        asyncio.run(fold(Ollama("m", host=f"127.0.0.1:{port}")))
    assert (caught.value.kind, caught.value.retryable) == ("connection", True)


# ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("step", [Raw([b'{"done": true, "done_reason": "load"}']), Raw([b"{}"], status=404)])
def test_the_model_is_loaded_before_the_first_turn_and_a_server_that_cannot_is_not_complained_of(step: Raw) -> None:
    request = ModelRequest("", ASK.messages, settings=Settings(extra={"options": {"num_ctx": 8192}}))

    async def prepare(host: str) -> None:
        await Ollama("qwen3:8b", host=host).prepare(request)

    with ChatServer([step]) as server:
        asyncio.run(prepare(server.base_url.removesuffix("/v1")))
    (received,) = server.requests
    assert received.path == "/api/generate"
    assert received.body == {"model": "qwen3:8b", "stream": False, "options": {"num_ctx": 8192}}


def test_a_forced_tool_that_is_not_there_is_said_before_the_turn() -> None:
    with pytest.raises(ConfigurationError, match="'stok' names no tool on offer"):
        asyncio.run(Ollama("m").prepare(ModelRequest("", (), (PRICE,), "stok")))


# ── where ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "host",
    [
        "",
        "1.2.3.4",
        ":56789",
        "1.2.3.4:56789",
        "http://1.2.3.4",
        "https://1.2.3.4",
        "https://1.2.3.4:56789",
        "example.com",
        "example.com:56789",
        "http://example.com",
        "example.com/",
        "example.com:56789/path/",
        "example.com/path",
        "https://example.com:56789/path",
        "[0001:002:003:0004::1]",
        "[0001:002:003:0004::1]:56789",
        "https://[0001:002:003:0004::1]",
        "[0001:002:003:0004::1]/path",
    ],
)
def test_a_host_in_any_form_means_what_the_sdk_takes_it_for(host: str) -> None:
    ours, theirs = base_url(host), URL(_parse_host(host))
    assert (ours.scheme, ours.host, ours.port, ours.path) == (theirs.scheme, theirs.host, theirs.port, theirs.path)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]:8080", "http://[::1]:8080"),
        ("::1", "http://[::1]:11434"),
        (' "box" ', "http://box:11434"),
        ("ollama.com", "https://ollama.com"),
    ],
)
def test_forms_the_server_knows_and_the_sdk_does_not(host: str, address: str) -> None:
    assert base_url(host) == URL(address)


@pytest.mark.parametrize("host", ["ftp://box", "box:port", "box:99999", "http://:80:80"])
def test_what_is_no_host_is_said_with_the_name_of_the_variable(host: str) -> None:
    with pytest.raises(ConfigurationError, match="OLLAMA_HOST"):
        base_url(host)


def test_the_environment_and_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "box:8080/behind")
    model = choose("ollama:qwen3:8b").model
    assert isinstance(model, Ollama)
    assert isinstance(model, Model)
    assert (model.name, model.provider) == ("ollama:qwen3:8b", "ollama")
    assert repr(model) == "Ollama('qwen3:8b', host='http://box:8080/behind')"
    with pytest.raises(ConfigurationError, match="ollama list"):
        choose("ollama:")
    with pytest.raises(ConfigurationError, match="OLLAMA_API_KEY") as caught:
        Ollama("m", api_key="kunci rahasia\n\x00")
    assert "rahasia" not in str(caught.value)
