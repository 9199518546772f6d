"""What the mock says of tools that a provider runs is what the vendors' own clients read; what it refuses, and why."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.docs.pages import ROOT, blocks
from tests.hosted.turns import ANTHROPIC, RESPONSES, asks, ran, says, wire
from tukang import Agent, hosted
from tukang.cli import main
from tukang.mock import MockServer, in_thread
from tukang.models.scripted import Says, read_script

PAGES = "A — https://a.id\nB — https://b.id"


def test_openai_s_client_reads_its_items() -> None:
    served = (ran("web_search", PAGES, query="a"), ran("code", "42", code="1"), ran("file_search", "isi", query="a"))
    with in_thread(MockServer([says(*served, asks("zip1.create", url="x"), text="ya")])) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
        tools: Any = (
            {"type": "web_search"},
            {"type": "code_interpreter", "container": {"type": "auto"}},
            {"type": "file_search", "vector_store_ids": ["vs"]},
            {"type": "mcp", "server_label": "zip1", "server_url": "https://zip1.id"},
        )
        response = client.responses.create(
            model="gpt-5", input="?", tools=tools, include=["code_interpreter_call.outputs"]
        )
    read = [(item.type, type(item).__name__) for item in response.output]
    assert read == [
        ("web_search_call", "ResponseFunctionWebSearch"),
        ("code_interpreter_call", "ResponseCodeInterpreterToolCall"),
        ("file_search_call", "ResponseFileSearchToolCall"),
        ("mcp_list_tools", "McpListTools"),
        ("mcp_approval_request", "McpApprovalRequest"),
        ("message", "ResponseOutputMessage"),
    ]
    for item in response.output:  # the client itself takes anything
        assert type(item).model_validate(item.model_dump(warnings="error")) == item


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_s_client_reads_its_blocks(stream: bool) -> None:
    served = (ran("web_search", PAGES, query="a"), ran("code", "42", command="ls"), ran("toko.cari", "7", kode="a"))
    with in_thread(MockServer([says(*served, text="ya")])) as server:
        client: Any = anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0)
        message: Any
        asked: dict[str, Any] = {
            "model": "claude-opus-4-8",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "?"}],
            "betas": ["mcp-client-2025-11-20"],
            "mcp_servers": [{"type": "url", "name": "toko", "url": "https://toko.id"}],
            "tools": [
                {"type": "web_search_20250305", "name": "web_search"},
                {"type": "code_execution_20250825", "name": "code_execution"},
                {"type": "mcp_toolset", "mcp_server_name": "toko"},
            ],
        }
        if stream:
            with client.beta.messages.stream(**asked) as streamed:
                message = streamed.get_final_message()
        else:
            message = client.beta.messages.create(**asked)
    assert [type(block).__name__ for block in message.content] == [
        "BetaServerToolUseBlock",
        "BetaWebSearchToolResultBlock",
        "BetaServerToolUseBlock",
        "BetaBashCodeExecutionToolResultBlock",
        "BetaMCPToolUseBlock",
        "BetaMCPToolResultBlock",
        "BetaTextBlock" if not stream else type(message.content[-1]).__name__,
    ]
    assert message.usage.server_tool_use is not None
    assert message.usage.server_tool_use.web_search_requests == 1


def refusals(model: str, tools: Sequence[Any], *replies: Says) -> str:
    with wire(*replies):
        answer = Agent(model, tools=tools).run("?")
    assert answer.error is not None
    return answer.error.message


@pytest.mark.parametrize("model", [RESPONSES, ANTHROPIC])
def test_it_runs_only_what_was_declared(model: str) -> None:
    assert "does not declare 'code'" in refusals(model, [hosted.web_search()], says(ran("code"), text="ya"))


def test_it_runs_nothing_that_has_to_be_permitted_first() -> None:
    server = hosted.mcp("zip1", url="https://zip1.id/mcp")
    assert "was not permitted" in refusals(RESPONSES, [server], says(ran("zip1.create"), text="ya"))


def test_the_page_s_agent_runs_from_the_page_s_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = ROOT / "docs/modes.md"
    script, _, shown = page.read_text("utf-8").partition("## Without a provider")[2].split("```")[1:7:2]
    (tmp_path / "replies.jsonl").write_text(script.strip(), "utf-8")
    (tmp_path / "gudang.py").write_text(blocks(page, "python")[0].code.partition("answer =")[0], "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path))
    monkeypatch.setenv("TUKANG_LANG", "en")
    with wire(*read_script(tmp_path / "replies.jsonl")) as sent, monkeypatch.context() as loaded:
        loaded.delitem(sys.modules, "gudang", raising=False)
        loaded.setattr(sys, "path", [str(tmp_path), *sys.path])
        assert main(["run", "gudang:agent", "Apakah BRG001 lebih murah di toko kita?"]) == 0
        sys.modules.pop("gudang", None)
    assert sent.refused == []
    printed = capfd.readouterr()
    lines = {line for line in re.sub(r"\b\d+ ms", "2 ms", printed.out + printed.err).splitlines() if line}
    assert set(shown.removeprefix("text").strip("\n").splitlines()) <= lines
