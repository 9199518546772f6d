"""A response that broke off, over every protocol: it may be asked for again, unless the reply in it was whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.servers import ChatServer, Raw, delta, event
from tukang import Agent
from tukang.models import http
from tukang.models.anthropic_decode import AnthropicDecoder
from tukang.models.bedrock_converse_decode import ConverseDecoder
from tukang.models.bedrock_invoke import InvokeDecoder
from tukang.models.exchange import Decoder
from tukang.models.gemini_decode import GeminiDecoder
from tukang.models.ollama_decode import OllamaDecoder
from tukang.models.openai_chat import OpenAIChat
from tukang.models.openai_chat_decode import ChatDecoder
from tukang.models.openai_responses_decode import ResponsesDecoder

DECODERS: list[Callable[[], Decoder]] = [
    ChatDecoder,
    ResponsesDecoder,
    AnthropicDecoder,
    ConverseDecoder,
    InvokeDecoder,
    OllamaDecoder,
    GeminiDecoder,
]
SSE = {"Content-Type": "text/event-stream"}


@pytest.mark.parametrize("make", DECODERS)
@pytest.mark.parametrize("body", [b"", b"\n", b'{"mod', b'{"model": "any", "mess'])
def test_nothing_and_half_an_object_may_be_asked_for_again(make: Callable[[], Decoder], body: bytes) -> None:
    decoder = make()
    assert [*decoder.feed(body), *decoder.end()] == []
    assert decoder.error is not None
    assert decoder.error.retryable


def test_the_page_of_a_proxy_is_not_asked_for_again() -> None:
    decoder = OllamaDecoder()
    decoder.feed(b"<html>Sign in</html>")
    decoder.end()
    assert decoder.error is not None
    assert not decoder.error.retryable


def answered(step: Raw) -> str:
    with ChatServer([step]) as server:
        return asyncio.run(Agent(OpenAIChat("any", base_url=server.base_url)).arun("ya?")).text


def test_a_stream_that_stays_open_after_the_finish_is_a_reply_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LAST_WORDS", 0.01)
    assert answered(Raw([event(delta(content="ya")), event(delta("stop"))], headers=SSE, silent=True)) == "ya"


def test_what_cannot_be_read_after_the_finish_costs_nothing() -> None:
    assert answered(Raw([event(delta(content="ya")), event(delta("stop")), b"data: [D"], headers=SSE)) == "ya"


def test_a_response_without_end_is_given_up_and_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LONGEST", 2**20)
    with ChatServer([Raw([b"data: " + b"x" * 2**17] * 9, headers=SSE), Raw([])]) as server:
        answer = asyncio.run(Agent(OpenAIChat("any", base_url=server.base_url)).arun("ya?"))
        assert len(server.requests) == 1
    assert answer.error is not None
    assert (answer.error.kind, answer.error.retryable) == ("bad_response", False)
    assert "more than 1 MiB" in answer.error.message


def test_what_comes_after_a_whole_reply_does_not_cost_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LONGEST", 2**20)
    chunks = [event(delta(content="ya")), event(delta("stop")), *[b": " + b"x" * 2**17] * 9]
    assert answered(Raw(chunks, headers=SSE)) == "ya"


def test_a_refusal_without_end_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LONGEST_REFUSAL", 2**16)
    said = b'{"error": {"message": "no such thing"}}' + b" " * 2**17
    with ChatServer([Raw([said], status=400, silent=True)]) as server:
        answer = asyncio.run(Agent(OpenAIChat("any", base_url=server.base_url)).arun("ya?"))
    assert answer.error is not None
    assert (answer.error.kind, answer.error.status) == ("bad_request", 400)
    assert "no such thing" in answer.error.message
