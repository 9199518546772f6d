"""Whether every protocol takes a conversation: the vendors' own request types as judges, and the mock, which refuses what the
providers refuse. Both know nothing of the adapters that made the request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from google.genai import Client

from tests.mock.test_agents import MODELS
from tests.models import anthropic_judge, bedrock_judge, chat_judge, responses_judge, test_gemini_judge
from tests.models.test_ollama_encode import judge as ollama_judge
from tukang import Agent, Message, user
from tukang.mock import MockServer, in_thread
from tukang.models import (
    anthropic_dialect,
    anthropic_encode,
    bedrock_converse_encode,
    bedrock_dialect,
    gemini_encode,
    ollama_encode,
    openai_chat_dialect,
    openai_chat_encode,
    openai_responses_dialect,
    openai_responses_encode,
)
from tukang.models.base import ModelRequest
from tukang.models.scripted import Says

_CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def _openai(request: ModelRequest, _: Client) -> None:
    dialect = openai_chat_dialect.dialect_for("api.openai.com", "gpt-5")
    body = json.loads(openai_chat_encode.encode_request("gpt-5", request, dialect, True))
    chat_judge.judge(body)
    chat_judge.in_order(body["messages"])


def _responses(request: ModelRequest, _: Client) -> None:
    dialect = openai_responses_dialect.Dialect()
    responses_judge.judge(json.loads(openai_responses_encode.encode_request("gpt-5", request, dialect, stream=True)))


def _anthropic(request: ModelRequest, _: Client) -> None:
    name = "claude-sonnet-4-5"
    body = json.loads(anthropic_encode.encode_body(name, request, dialect=anthropic_dialect.dialect_for(name)))
    anthropic_judge.accepted(body)
    anthropic_judge.in_order(body)


def _bedrock(request: ModelRequest, _: Client) -> None:
    body = bedrock_converse_encode.encode_request(request, bedrock_dialect.dialect_for(_CLAUDE))
    assert bedrock_judge.complaints(body) == []


def _gemini(request: ModelRequest, client: Client) -> None:
    made = json.loads(gemini_encode.encode_request(request, gemini_encode.dialect_for("gemini-2.5-flash")))
    test_gemini_judge.judge(made, client)
    test_gemini_judge.follows_the_rules(made["contents"])


def _ollama(request: ModelRequest, _: Client) -> None:
    ollama_judge(json.loads(ollama_encode.encode_request("qwen3", request, stream=True)))


VENDORS: dict[str, Callable[[ModelRequest, Client], None]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
    "ollama": _ollama,
}


class Court:
    """Judges conversations; an equal one is judged once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = Client(api_key="not-a-key", vertexai=False)
        self._seen: set[str] = set()

    @property
    def judged(self) -> int:
        """How many different ones there were."""
        return len(self._seen)

    def judge(self, messages: Sequence[Message], alike: str) -> None:
        """Refuse a conversation that some protocol does not take.

        Args:
            messages: the conversation.
            alike: the same for conversations that differ in nothing but ids.
        """
        if alike in self._seen:
            return
        self._seen.add(alike)
        asked = [*messages, user("Lalu?")]
        for judge in VENDORS.values():
            judge(ModelRequest("", asked), self._client)
        for name, model in MODELS.items():
            answer = Agent(model(f"{self._url}/{name}", True)).session("s", messages).run("Lalu?")
            assert answer.text == "Baik.", f"{name}: {answer.error}"


@contextmanager
def court() -> Iterator[Court]:
    """A court, for the length of the block."""

    def says(_: Any) -> Says:
        return Says(text="Baik.")

    with in_thread(MockServer(says)) as server:
        yield Court(server.url)
