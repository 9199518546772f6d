"""Turns whose provider runs tools itself, over the mock's wire, and what was sent meanwhile."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import msgspec

from tukang import tool
from tukang.mock import MockServer, Received, in_thread
from tukang.models.scripted import Says, ScriptedCall, ScriptedServed

RESPONSES = "responses:gpt-5-mini"
ANTHROPIC = "anthropic:claude-sonnet-4-5"
BEDROCK = "bedrock-responses:openai.gpt-oss-120b"
ARN = "arn:aws:lambda:ap-southeast-1:123456789012:function:toko"


@tool(effect="read")
def cek_harga(kode: str) -> dict[str, Any]:
    """Cek harga sebuah barang."""
    return {"kode": kode, "harga": "Rp 85.000"}


HARGA = ScriptedCall("cek_harga", {"kode": "BRG001"})


def ran(tool_name: str, result: str | None = "", **arguments: Any) -> ScriptedServed:
    return ScriptedServed(tool_name, arguments, result)


def asks(tool_name: str, **arguments: Any) -> ScriptedServed:
    return ScriptedServed(tool_name, arguments, asks=True)


def says(*served: ScriptedServed, text: str = "", calls: Sequence[ScriptedCall] = (), **more: Any) -> Says:
    return Says(text, calls=tuple(calls), served=tuple(served), **more)


class Wire(msgspec.Struct, frozen=True):
    """What came in."""

    received: list[Received]

    @property
    def refused(self) -> list[str]:
        return [one.refused for one in self.received if one.refused]

    def inputs(self, place: int = -1) -> list[dict[str, Any]]:
        """The input items of a request to Responses."""
        return self.received[place].body["input"]

    def blocks(self, place: int = -1) -> list[dict[str, Any]]:
        """All content blocks of a request to Messages."""
        messages = self.received[place].body["messages"]
        return [block for message in messages for block in message["content"]]


@contextmanager
def wire(*replies: Says) -> Generator[Wire]:
    """All three providers, played from one script; each begins at its first reply."""
    received: list[Received] = []
    with in_thread(MockServer(replies, tell=received.append)) as server:
        variables = {
            "OPENAI_BASE_URL": f"{server.url}/openai/v1",
            "OPENAI_API_KEY": "not-a-key",
            "ANTHROPIC_BASE_URL": f"{server.url}/anthropic",
            "ANTHROPIC_API_KEY": "not-a-key",
            "AWS_ENDPOINT_URL_BEDROCK_MANTLE": f"{server.url}/bedrock/v1",
            "AWS_BEARER_TOKEN_BEDROCK": "not-a-key",
        }
        with patch.dict(os.environ, variables):
            yield Wire(received)
