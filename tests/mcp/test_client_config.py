"""Which servers there are: the common form, its variables, and what must never be shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tukang.errors import ConfigurationError
from tukang.mcp.client_config import McpServer, read_servers, servers_of

ENVIRONMENT = {"TOKEN": "rahasia-12345", "PORT": "81", "EMPTY": ""}


def one(described: Any, **environment: str) -> McpServer:
    (server,) = servers_of({"mcpServers": {"toko": described}}, "mcp.json", {**ENVIRONMENT, **environment})
    return server


def test_a_file_in_the_common_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUKANG_TEST_FOLDER", "/data")
    path = tmp_path / "mcp.json"
    files = {
        "command": "npx",
        "args": ["-y", "server-filesystem", "${TUKANG_TEST_FOLDER}"],
        "env": {"A": "1"},
        "cwd": "/",
    }
    web = {"type": "http", "url": "https://example.com/mcp", "headers": {"X-Key": "k"}}
    path.write_text(json.dumps({"mcpServers": {"files": files, "web": web, "off": {"command": "x", "disabled": True}}}))
    first, second = read_servers(path)
    assert (first.name, first.command, first.args) == ("files", "npx", ("-y", "server-filesystem", "/data"))
    assert (first.env, first.cwd, first.url) == ({"A": "1"}, "/", None)
    assert (second.url, second.headers) == ("https://example.com/mcp", {"X-Key": "k"})
    assert (first.trust, first.timeout, first.optional, first.only) == ("nothing", 60.0, False, None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("${TOKEN}", "rahasia-12345"),
        ("${env:TOKEN}", "rahasia-12345"),
        ("Bearer ${TOKEN}!", "Bearer rahasia-12345!"),
        ("${NOT_SET:-otherwise}", "otherwise"),
        ("${NOT_SET:-}", ""),
        ("${EMPTY:-otherwise}", "otherwise"),
        ("${EMPTY}", ""),
        ("${PORT:-80}", "81"),
        ("$TOKEN and $ and {TOKEN}", "$TOKEN and $ and {TOKEN}"),
    ],
)
def test_variables_are_filled_in_everywhere(written: str, read: str) -> None:
    started = one({"command": "run", "args": [written], "env": {"A": written}, "cwd": f"/{written}"})
    assert (started.args, started.env, started.cwd) == ((read,), {"A": read}, f"/{read}")
    reached = one({"url": f"http://localhost/{written}", "headers": {"H": written}})
    assert (reached.url, reached.headers) == (f"http://localhost/{read}", {"H": read})


def test_what_tukang_alone_knows_stands_under_its_name() -> None:
    own = {
        "trust": "hints",
        "timeout": 5,
        "optional": True,
        "only": ["read_*"],
        "policies": {"read_file": {"effect": "read", "cache": 60}},
    }
    server = one({"command": "run", "autoApprove": ["x"], "tukang": own})
    assert (server.trust, server.timeout, server.optional, server.only) == ("hints", 5.0, True, ("read_*",))
    assert server.policies == {"read_file": {"effect": "read", "cache": 60}}


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ({"args": []}, "give a command (to start it) or a url (to reach it)"),
        ({"command": "a", "url": "http://b"}, "one of the two"),
        ({"url": "example.com"}, "must begin with http:// or https://"),
        ({"type": "sse", "url": "http://b"}, "'sse' is not spoken here: expected stdio or http"),
        ({"command": "a", "args": ["${NOT_SET}"]}, "args needs the variable NOT_SET, which is not set"),
        ({"command": "a", "env": {"K": "${NOT_SET}"}}, "env 'K' needs the variable NOT_SET"),
        ({"command": "a", "args": "-y"}, "Expected `array`"),
        ({"command": ["a"]}, "Expected `str"),
        ({"command": "a", "env": {"K": None}}, "env 'K' must be a text"),
        ({"command": "a", "trust": "hints"}, "'trust' stands under \"tukang\""),
        ({"command": "a", "tukang": {"trsut": "hints"}}, "\"tukang\" has no 'trsut'; did you mean 'trust'?"),
        ({"command": "a", "tukang": {"trust": "some"}}, "trust must be 'nothing', 'hints' or 'all', not 'some'"),
        ({"command": "a", "tukang": {"timeout": 0}}, "timeout must be a number of seconds more than 0"),
        ({"command": "a", "tukang": {"policies": {"x": {"effect": "reed"}}}}, "the policy for 'x' is not possible"),
        ({"command": "a", "headers": {"A": "b"}}, "headers, auth and oauth are for a server with a url"),
        ([], "must be a JSON object, not list"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(described: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as told:
        one(described)
    assert "'toko'" in str(told.value)
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "must be a JSON object"),
        ("{}", 'has no "mcpServers"'),
        (b"\xff", "is not UTF-8 text"),
        pytest.param("[" * 100_000, "is nested deeper", id="deep"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigurationError, match=said):
        read_servers(path)
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        read_servers(tmp_path / "none.json")


@pytest.mark.parametrize(
    "args",
    [
        ("--api-key", "abcd-efgh-1"),
        ("--api-key=abcd-efgh-1",),
        ("-y", "mcp-remote", "https://x.example", "--header", "Authorization: Bearer abcd-efgh-1"),
        ("--header", "X-Api-Key: abcd-efgh-1"),
    ],
)
def test_a_secret_behind_an_option_is_one(args: tuple[str, ...]) -> None:
    assert "abcd-efgh-1" in McpServer(name="x", command="npx", args=args).secrets
    assert "https://x.example" not in McpServer(name="x", command="npx", args=args).secrets


def test_a_password_in_an_address_is_a_secret() -> None:
    secrets = McpServer(name="x", url="https://budi:abcd%2Fefgh@x.example/mcp").secrets
    assert secrets == {"abcd%2Fefgh", "abcd/efgh"}, "and not who it is"


def test_no_secret_is_shown() -> None:
    reached = one(
        {"url": "https://me:pass12345@h.example/mcp?key=${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    )
    started = one({"command": "run", "env": {"KEY": "${TOKEN}"}})
    for shown in (repr(reached), str(reached), f"{reached.where}", repr(started), f"{[started]}"):
        assert "rahasia" not in shown
        assert "pass12345" not in shown
    assert {"rahasia-12345", "Bearer rahasia-12345"} <= reached.secrets
    assert "rahasia-12345" in started.secrets
