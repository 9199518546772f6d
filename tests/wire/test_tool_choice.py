"""The page about tool_choice shows what the adapters do; and the table tells what is different."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.wire.tool_choice import CHOICES, ROWS, Row, cell, table
from tukang.errors import ConfigurationError
from tukang.models.base import ModelRequest

PAGE = Path(__file__).parents[2] / "docs" / "tool_choice.md"


def test_the_page_shows_what_the_adapters_do() -> None:
    assert table() in PAGE.read_text("utf-8"), "print it with: python -m tests.wire.tool_choice"


def test_every_protocol_does_every_choice() -> None:
    providers = ("openai:", "responses:", "anthropic:", "bedrock:", "bedrock-invoke:", "ollama:", "gemini:")
    for provider in providers:
        assert any(f"`{provider}`" in row.names for row in ROWS), provider
    for row in ROWS:
        for choice in CHOICES:
            done = cell(row, choice)
            assert done.startswith(("native: ", "emulated: ", "refused"))
            assert (done == "native: left out, it is the default") is (choice == "`auto`"), (row.names, choice, done)


def _made_up(request: ModelRequest) -> bytes:
    """A protocol of its own: `required` is a field, a name is words, `none` leaves the tools out, and off is refused."""
    if request.tools_off:
        raise ConfigurationError("no")
    words = [{"text": "Sebut harga."}] if request.tool_choice == "harga" else []
    tools = {} if request.tool_choice == "none" else {"tools": ["harga"]}
    choice = {"choice": "must"} if request.tool_choice == "required" else {}
    return json.dumps({"messages": [{"text": "?"}, *words], **tools, **choice}).encode()


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("`auto`", "native: left out, it is the default"),
        ("`required`", 'native: `"must"`'),
        ("a name", "emulated: in words: “Sebut harga.”"),
        ("`none`", "emulated: no tool is listed"),
        ("tools off", "refused"),
    ],
)
def test_a_cell_says_what_is_different(choice: str, words: str) -> None:
    assert cell(Row("x", "", _made_up, ("choice",)), choice) == words
