"""Every provider, played by one mock: its own variables lead there, and what was asked is kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.docs.script import Play
from tukang.mock import MockServer, Received, in_thread

_ALOOF = ("OPENAI_", "OPENROUTER_", "ANTHROPIC_", "AWS_", "OLLAMA_", "GEMINI_", "GOOGLE_", "TUKANG_", "LC_", "LANG")
_VARIABLES = {
    "OPENAI_BASE_URL": "{url}/v1",
    "OPENAI_API_KEY": "not-a-key",
    "OPENROUTER_BASE_URL": "{url}/openrouter/v1",
    "OPENROUTER_API_KEY": "not-a-key",
    "ANTHROPIC_BASE_URL": "{url}",
    "ANTHROPIC_API_KEY": "not-a-key",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{url}",
    "AWS_ENDPOINT_URL_BEDROCK_MANTLE": "{url}/v1",
    "AWS_REGION": "ap-southeast-1",
    "AWS_BEARER_TOKEN_BEDROCK": "not-a-key",
    "OLLAMA_HOST": "{url}",
    "GOOGLE_GEMINI_BASE_URL": "{url}",
    "GEMINI_API_KEY": "not-a-key",
}


class Stage(msgspec.Struct, frozen=True):
    """Where all providers are, and what they were asked so far."""

    url: str
    asked: list[Received]

    @property
    def providers(self) -> set[str]:
        """Who was asked, by the name a model has; a server that speaks another's protocol by its own."""
        return {one.client or one.protocol for one in self.asked}

    def here(self, text: str) -> str:
        """The text with the servers of its examples on this machine put on the stage."""
        return re.sub(r"http://localhost:\d+", self.url, text)


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing of this machine's settings reaches a test, and nothing of a test (a `.env`) stays."""
    before = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(_ALOOF):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    yield
    for name in set(os.environ) - set(before):
        os.environ.pop(name)  # what a `.env` brought in; what was there before comes back after this


@pytest.fixture
def stage(nothing_set: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:  # noqa: ARG001 - it comes first
    asked: list[Received] = []
    with in_thread(MockServer(Play(), tell=asked.append)) as server:
        for name, value in _VARIABLES.items():
            monkeypatch.setenv(name, value.format(url=server.url))
        yield Stage(server.url, asked)
