"""A whole turn of an agent with two tools, over each protocol: our adapters on one side, the mock on the other.

The mock refuses what the provider would, so that a turn that ends well has paired its results, kept its ids and given back
what was sealed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tukang import Agent, tool
from tukang.mock import MockServer, Received, in_thread
from tukang.models.anthropic import AnthropicMessages
from tukang.models.base import Model
from tukang.models.bedrock_converse import BedrockConverse
from tukang.models.bedrock_invoke import BedrockInvoke
from tukang.models.gemini import Gemini
from tukang.models.ollama import Ollama
from tukang.models.openai_chat import OpenAIChat
from tukang.models.openai_responses import OpenAIResponses
from tukang.models.scripted import Fails, Says, ScriptedCall

CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"
MODELS: dict[str, Callable[[str, bool], Model]] = {
    "openai": lambda url, stream: OpenAIChat("gpt-x", base_url=f"{url}/v1", api_key="any", stream=stream),
    "responses": lambda url, stream: OpenAIResponses("gpt-5-mini", base_url=f"{url}/v1", api_key="any", stream=stream),
    "anthropic": lambda url, stream: AnthropicMessages("claude-sonnet-4-5", base_url=url, api_key="any", stream=stream),
    "bedrock": lambda url, stream: BedrockConverse(
        CLAUDE, base_url=url, region="us-east-1", token="any", stream=stream
    ),
    "bedrock-invoke": lambda url, stream: BedrockInvoke(
        CLAUDE, base_url=url, region="us-east-1", token="any", stream=stream
    ),
    "ollama": lambda url, stream: Ollama("llama-x", host=url, stream=stream),
    "gemini": lambda url, stream: Gemini("gemini-3-pro", base_url=url, api_key="any", stream=stream),
}
SCRIPT = [
    Says(
        "Saya cek dulu.",
        thinking="Harga dan stok, dua alat.",
        calls=(ScriptedCall("cek_harga", {"id": "PRD002"}), ScriptedCall("cek_stok", {"id": "PRD002"})),
    ),
    Says(thinking="Stok lain juga.", calls=(ScriptedCall("cek_stok", {"id": "PRD003"}),)),
    Says(("Harganya Rp 10,", " stok 3.")),
]


@tool(effect="read")
def cek_harga(id: str) -> dict[str, Any]:
    """Cek harga."""
    return {"id": id, "harga": 10}


@tool(effect="read")
def cek_stok(id: str) -> str:
    """Cek stok."""
    return f"{id}: 3"


@pytest.fixture(params=MODELS)
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


def served(script: list[Says] | None) -> Iterator[tuple[str, list[Received]]]:
    """A server for the body of one `for`, with what it is sent."""
    told: list[Received] = []
    with in_thread(MockServer(script, tell=told.append)) as server:
        yield server.url, told


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_a_turn_with_two_tools(protocol: str, stream: bool) -> None:
    for url, told in served(SCRIPT):
        agent = Agent(MODELS[protocol](url, stream), "Kamu asisten belanja.", tools=[cek_harga, cek_stok])
        answer = agent.run("Berapa harga PRD002?")
        assert [one.refused for one in told] == [None, None, None]
        assert {one.protocol for one in told} == {protocol}
        assert answer.stopped == "answer"
        assert answer.text == "Harganya Rp 10, stok 3."


def test_a_second_turn_takes_the_first_along(protocol: str) -> None:
    for url, told in served([*SCRIPT, Says("Sama-sama.")]):
        chat = Agent(MODELS[protocol](url, True), tools=[cek_harga, cek_stok]).session()
        chat.run("Berapa harga PRD002?")
        assert chat.run("Terima kasih.").text == "Sama-sama."
        assert [one.refused for one in told] == [None] * 4


def test_a_conversation_goes_on_with_another_provider(protocol: str) -> None:
    for url, _ in served(SCRIPT):
        begun = Agent(MODELS["anthropic"](url, True), tools=[cek_harga, cek_stok]).session()
        begun.run("Berapa harga PRD002?")
    for url, told in served([Says("Sama-sama.")]):
        agent = Agent(MODELS[protocol](url, True), tools=[cek_harga, cek_stok])
        answer = agent.session(messages=begun.messages).run("Terima kasih.")
        assert [one.refused for one in told] == [None]
        assert answer.text == "Sama-sama."


def test_the_echo_serves_any_agent(protocol: str) -> None:
    for url, told in served(None):
        answer = Agent(MODELS[protocol](url, True), tools=[cek_harga, cek_stok]).run("PRD002")
        assert [one.refused for one in told] == [None, None]
        assert answer.stopped == "answer"
        assert "PRD002" in answer.text


@pytest.mark.parametrize("protocol", ["anthropic", "bedrock"])
def test_a_fault_is_tried_again(protocol: str) -> None:
    for url, told in served([Says(fails=Fails("overloaded", retry_after=0)), Says("Rp 10")]):
        answer = Agent(MODELS[protocol](url, True)).run("Berapa?")
        assert [one.refused for one in told] == [None, None]
        assert (answer.stopped, answer.text) == ("answer", "Rp 10")


def test_a_fault_that_is_the_developers_says_so(protocol: str) -> None:
    for url, told in served([Says(fails=Fails("authentication", "no such key"))]):
        answer = asyncio.run(Agent(MODELS[protocol](url, True)).arun("Berapa?"))
        assert len(told) == 1
        assert answer.stopped == "model_error"
        assert answer.error is not None
        assert answer.error.kind == "authentication"
