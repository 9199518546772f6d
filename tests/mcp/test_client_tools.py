"""Other servers' tools as ours: their names, their policies, and those of all the servers that were ever collected."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.validators import validator_for
from mcp.types import Tool as Listed
from mcp.types import ToolAnnotations

from tukang.errors import ToolWarning
from tukang.mcp import McpServer
from tukang.mcp.client_asking import Asks
from tukang.mcp.client_connection import Offer
from tukang.mcp.client_link import Link
from tukang.mcp.client_names import Names, legal_name
from tukang.mcp.client_policy import declaration_for
from tukang.mcp.client_tool import tools_of
from tukang.tools.contract import LEGAL_NAME
from tukang.tools.policy import PolicyOptions
from tukang.tools.tool import Validated
from tukang.tools.toolbox import Toolbox

COLLECTED = Path(__file__).parents[3] / "shared/data/mcp_tools/tools.jsonl"


def link(name: str = "toko", *tools: Listed, **more: Any) -> Link:
    made = Link(McpServer(name=name, command="run", **more), Asks(name))
    made.offer = Offer(tools)
    return made


def listed(name: str, **more: Any) -> Listed:
    return Listed(name=name, input_schema={"type": "object", "properties": {"x": {"type": "integer"}}}, **more)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("prefix", "original", "name"),
    [
        ("git", "git_status", "git_status"),
        ("Git", "git-status", "git-status"),
        ("git", "gitlab", "git_gitlab"),
        ("my server", "read.file", "my_server_read_file"),
        ("", "read_file", "read_file"),
        ("", "9lives", "_9lives"),
        ("s", "é", "s_"),
    ],
)
def test_a_name_is_the_servers_and_the_tools(prefix: str, original: str, name: str) -> None:
    assert legal_name(prefix, original) == name


@given(st.lists(st.tuples(st.sampled_from(["a", "a_b", "", "ü x"]), st.text(max_size=80)), unique=True), st.data())
def test_names_are_legal_and_of_one_tool_only(tools: list[tuple[str, str]], data: st.DataObject) -> None:
    names = Names()
    taken = {"a_b_c", "say"}
    first = [names.of(server, server, original, taken) for server, original in tools]
    assert all(LEGAL_NAME.fullmatch(name) for name in first)
    assert len({*first, *taken}) == len(first) + len(taken)
    again = data.draw(st.permutations(tools))
    assert {one: names.of(one[0], one[0], one[1], taken) for one in again} == dict(zip(tools, first, strict=True))


def test_a_name_that_was_somebodys_never_becomes_anothers() -> None:
    names = Names()
    assert names.of("a", "a", "b_c", ()) == "a_b_c"
    second = names.of("a_b", "a_b", "c", ())
    assert second.startswith("a_b_c_")
    assert names.of("a_b", "a_b", "c", ()) == second  # also when the first one is gone


def test_our_own_tools_keep_their_names() -> None:
    def toko_say(text: str) -> str:
        """Ours."""
        return text

    source = link("toko", listed("say"))
    box = Toolbox.of([toko_say])
    theirs = tools_of(source, Names(), {tool.name for tool in box})
    assert theirs[0].name.startswith("toko_say_")
    Toolbox((*box, *theirs))


# ── policies ─────────────────────────────────────────────────────────────────────────────────────────────────────────

READS = ToolAnnotations(read_only_hint=True)
DESTROYS = ToolAnnotations(destructive_hint=True)
ADDS = ToolAnnotations(destructive_hint=False, idempotent_hint=True)
BOTH = ToolAnnotations(read_only_hint=True, destructive_hint=True)


@pytest.mark.parametrize(
    ("trust", "hints", "effect", "approving"),
    [
        ("nothing", None, "unknown", "ask"),
        ("nothing", READS, "unknown", "ask"),
        ("nothing", DESTROYS, "write", "ask"),
        ("nothing", ADDS, "unknown", "ask"),
        ("nothing", BOTH, "unknown", "ask"),
        ("hints", None, "write", "ask"),
        ("hints", READS, "read", "never"),
        ("hints", DESTROYS, "write", "ask"),
        ("hints", ADDS, "idempotent", "ask"),
        ("all", None, "write", "never"),
        ("all", READS, "read", "never"),
        ("all", ADDS, "idempotent", "never"),
    ],
)
def test_a_hint_grants_nothing_unless_it_is_trusted(
    trust: Any, hints: ToolAnnotations | None, effect: str, approving: str
) -> None:
    policy = declaration_for(McpServer(name="s", command="run", trust=trust, timeout=7), "t", hints).policy
    assert (policy.effect, policy.approving) == (effect, approving)
    assert policy.untrusted
    assert policy.timeout == 7
    assert policy.max_output


@pytest.mark.parametrize(
    ("own", "effect", "approving"),
    [
        ({"effect": "read"}, "read", "never"),
        ({"effect": "write"}, "write", "ask"),
        ({"approval": "never"}, "unknown", "never"),
        ({"effect": "write", "approval": "never"}, "write", "never"),
        ({"untrusted": False, "timeout": 1}, "unknown", "ask"),
    ],
)
def test_the_developers_word_counts_more_than_any_hint(own: PolicyOptions, effect: str, approving: str) -> None:
    server = McpServer(name="s", command="run", policies={"t": own})
    policy = declaration_for(server, "t", DESTROYS if "effect" in own else None).policy
    assert (policy.effect, policy.approving) == (effect, approving)
    assert policy.untrusted is own.get("untrusted", True)


# ── which of them ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_what_is_wanted() -> None:
    source = link("s", listed("read_a"), listed("read_b"), listed("write"), only=("read_*",), without=("read_b",))
    assert [tool.name for tool in tools_of(source, Names(), ())] == ["s_read_a"]


def test_a_word_about_a_tool_that_is_not_there_is_noticed() -> None:
    source = link("s", listed("read"), without=("raed",), policies={"wirte": {"effect": "write"}})
    with pytest.warns(ToolWarning) as told:
        tools_of(source, Names(), ())
    assert [str(one.message)[:30] for one in told] == [
        "MCP server 's' has no tool 'wi",
        "MCP server 's' has no tool 'ra",
    ]


def test_a_tool_that_is_listed_twice_is_there_once() -> None:
    assert len(tools_of(link("s", listed("a"), listed("a", description="other")), Names(), ())) == 1


@pytest.mark.skipif(not COLLECTED.exists(), reason=f"needs the collected tools in {COLLECTED}")
def test_every_tool_that_was_collected_becomes_one_of_ours() -> None:
    by_server: dict[str, list[Listed]] = {}
    for line in COLLECTED.read_text().splitlines():
        row = json.loads(line)
        tool = Listed.model_validate({key: value for key, value in row.items() if key != "server"}, by_name=False)
        by_server.setdefault(row["server"], []).append(tool)
    names = Names()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [tool for server, tools in by_server.items() for tool in tools_of(link(server, *tools), names, ())]
    tasks = [tool for tools in by_server.values() for tool in tools if _only_as_task(tool)]
    assert len(made) + len(tasks) == sum(len({tool.name for tool in tools}) for tools in by_server.values()) >= 600
    assert len(tasks) == 1
    assert all(LEGAL_NAME.fullmatch(tool.name) for tool in made)
    assert len(Toolbox(made)) == len(made)
    for tool in made:
        judge = validator_for(tool.contract.parameters)(tool.contract.parameters)
        assert isinstance(tool.validate({}), Validated) == judge.is_valid({}), tool.name


def _only_as_task(tool: Listed) -> bool:
    return tool.execution is not None and tool.execution.task_support == "required"
