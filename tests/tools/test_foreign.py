"""Tools that other libraries made: by their shape, without those libraries.

The doubles have what `langchain-core` 1.8 and `mcp` 1.30 and 2.3 were seen to have.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from tukang import CallContext, tool
from tukang.conversation import File, Image, Text
from tukang.errors import ToolDefinitionError
from tukang.tools.adopting import as_tool
from tukang.tools.execute import execute
from tukang.tools.outcome import Fault, Outcome
from tukang.tools.policy import Policy


def run(thing: Any, **arguments: Any) -> Outcome:
    made = as_tool(thing)
    checked = made.validate(arguments)
    assert not isinstance(checked, Fault), checked
    return asyncio.run(execute(made, checked.text, CallContext(call_id="t-1-0", idempotency_key="k")))


# ── LangChain ────────────────────────────────────────────────────────────────────────────────────────────────────────


class CariArguments(BaseModel):
    """Cari barang."""

    q: str
    n: int = Field(3, ge=1)


class LangChain:
    """A `StructuredTool`, as far as a caller can see."""

    name = "cari"
    description = "Cari barang.\n\n    Args:\n        q: kata kunci\n        n: berapa banyak"
    args_schema: Any = CariArguments
    return_direct = False
    coroutine: Any = None

    def __init__(self, **fields: Any) -> None:
        self.__dict__ |= fields

    def invoke(self, arguments: dict[str, Any]) -> Any:
        return {"dicari": arguments}

    async def ainvoke(self, arguments: dict[str, Any]) -> Any:
        return {"dicari async": arguments}


CARI_SCHEMA = {
    "type": "object",
    "properties": {
        "q": {"type": "string", "description": "kata kunci"},
        "n": {"type": "integer", "minimum": 1, "default": 3, "description": "berapa banyak"},
    },
    "required": ["q"],
}


def test_a_langchain_tool() -> None:
    made = as_tool(LangChain())
    assert (made.name, made.contract.description) == ("cari", "Cari barang.")
    assert made.contract.parameters == CARI_SCHEMA
    assert made.policy == Policy()
    assert made.signature.label == "the LangChain tool 'cari'"
    assert run(LangChain(), q="a", n=1).text == '{"dicari":{"n":1,"q":"a"}}'
    assert isinstance(made.validate({"q": "a", "n": 0}), Fault)


def test_an_async_langchain_tool_runs_on_the_loop() -> None:
    thing = LangChain(coroutine=lambda: None)
    assert as_tool(thing).signature.is_async
    assert run(thing, q="a").text == '{"dicari async":{"q":"a"}}'


def test_arguments_that_langchain_injects_are_not_shown() -> None:
    thing = LangChain(tool_call_schema={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
    assert set(as_tool(thing).contract.parameters["properties"]) == {"q"}


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"args_schema": {"properties": {"x": {"type": "integer"}}, "title": "X", "description": "y"}}, {"x"}),
        ({"args_schema": None, "args": {"tool_input": {"type": "string"}}}, {"tool_input"}),
    ],
)
def test_other_ways_in_which_langchain_says_a_schema(fields: dict[str, Any], wanted: set[str]) -> None:
    schema = as_tool(LangChain(**fields)).contract.parameters
    assert set(schema["properties"]) == wanted
    assert set(schema) <= {"type", "properties", "required"}


def test_a_schema_of_pydantics_first_version() -> None:
    class First:
        @classmethod
        def schema(cls) -> dict[str, Any]:
            return {"title": "First", "type": "object", "properties": {"x": {"type": "integer"}}}

    assert as_tool(LangChain(args_schema=First)).contract.parameters["properties"] == {"x": {"type": "integer"}}


def test_a_langchain_tool_without_a_schema_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="the LangChain tool 'cari' has no args_schema"):
        as_tool(LangChain(args_schema=None))


def test_return_direct_is_terminal_unless_somebody_says_otherwise() -> None:
    made = as_tool(LangChain(return_direct=True))
    assert (made.policy.terminal, made.policy.max_output, made.said) == (True, None, {"terminal"})
    assert not as_tool(tool(LangChain(return_direct=True), terminal=False)).policy.terminal


# ── a policy for what is no function ─────────────────────────────────────────────────────────────────────────────────


def test_a_policy_and_a_name_for_what_is_no_function() -> None:
    made = as_tool(tool(LangChain(), effect="read", name="cari_barang"))
    assert (made.name, made.policy, made.said) == ("cari_barang", Policy("read"), {"effect"})
    again = as_tool(tool(made, effect="write", timeout=3))
    assert (again.name, again.policy) == ("cari_barang", Policy("write", 3))
    assert as_tool(tool(tool(made, effect="write"), effect="read")).policy == Policy("read")


def test_a_policy_for_a_schema_and_a_function() -> None:
    def f(x: int) -> int:
        return x

    pair = ({"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}}, f)
    made = as_tool(tool(pair, effect="read", name="g"))
    assert (made.name, made.policy.effect) == ("g", "read")
    assert run(tool(pair, effect="read"), x=3).text == "3"


def test_what_cannot_be_a_tool_does_not_become_one_by_a_policy() -> None:
    with pytest.raises(ToolDefinitionError, match="an object of type int is not a tool"):
        as_tool(tool(5, effect="read"))


# ── MCP ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

Spelling = Literal["camel", "snake"]
SCHEMA = {"type": "object", "properties": {"nama": {"type": "string"}}, "required": ["nama"]}


class McpTool:
    """`mcp.types.Tool`: `inputSchema` up to version 1, `input_schema` since version 2."""

    def __init__(self, spelling: Spelling, name: str = "baca", schema: Any = SCHEMA) -> None:
        self.name = name
        self.description = None
        setattr(self, "inputSchema" if spelling == "camel" else "input_schema", schema)


class Block(BaseModel):
    type: str
    text: str | None = None
    data: str | None = None
    mimeType: str | None = None
    mime_type: str | None = None
    resource: Any = None
    uri: str | None = None


class McpResult:
    """`mcp.types.CallToolResult`."""

    def __init__(self, spelling: Spelling, *content: Block, error: bool = False, structured: Any = None) -> None:
        self.content = list(content)
        setattr(self, "isError" if spelling == "camel" else "is_error", error)
        setattr(self, "structuredContent" if spelling == "camel" else "structured_content", structured)


@pytest.mark.parametrize("spelling", ["camel", "snake"])
@pytest.mark.parametrize("how", ["async", "sync", "lambda"])
def test_an_mcp_tool_and_a_function_that_calls_it(spelling: Spelling, how: str) -> None:
    async def call_tool(name: str, arguments: dict[str, Any]) -> McpResult:
        return McpResult(spelling, Block(type="text", text=f"{name} {arguments['nama']}"))

    async def by_awaiting(**given: Any) -> McpResult:
        return await call_tool("baca", given)

    def by_running(nama: str) -> McpResult:
        return asyncio.run(call_tool("baca", {"nama": nama}))

    function = {"async": by_awaiting, "sync": by_running, "lambda": lambda **given: call_tool("baca", given)}[how]
    made = as_tool((McpTool(spelling), function))
    assert (made.name, made.contract.description, made.contract.parameters) == ("baca", "", SCHEMA)
    assert made.policy == Policy()  # whatever the server says about itself
    assert run((McpTool(spelling), function), nama="a.txt").content == (Text("baca a.txt"),)


@pytest.mark.parametrize("spelling", ["camel", "snake"])
def test_what_an_mcp_tool_can_answer(spelling: Spelling) -> None:
    picture = b"\x89PNG\r\n\x1a\n"
    kind: Any = {"mimeType" if spelling == "camel" else "mime_type": "image/png"}
    data = base64.b64encode(picture).decode()
    result = McpResult(
        spelling,
        Block(type="image", data=data, **kind),
        Block(type="audio", data=data, **{name: "audio/wav" for name in kind}),
        Block(type="resource", resource=Block(type="text", text="isi")),
        Block(type="resource_link", uri="file:///b"),
    )
    assert run((McpTool(spelling), lambda **_: result), nama="a").content == (
        Image("image/png", picture),
        File("audio/wav", data=picture),
        Text("isi"),
        Text('{"type":"resource_link","uri":"file:///b"}'),
    )
    structured = McpResult(spelling, structured={"isi": 1})
    assert run((McpTool(spelling), lambda **_: structured), nama="a").text == '{"isi":1}'
    assert run((McpTool(spelling), lambda **_: McpResult(spelling)), nama="a").text == '{"ok":true}'
    assert run((McpTool(spelling), lambda **_: {"bukan": "hasil SDK"}), nama="a").text == '{"bukan":"hasil SDK"}'


@pytest.mark.parametrize("spelling", ["camel", "snake"])
def test_an_mcp_tool_that_failed_is_a_fault(spelling: Spelling) -> None:
    result = McpResult(spelling, Block(type="text", text="berkas tidak ada"), error=True)
    fault = run((McpTool(spelling), lambda **_: result), nama="a").fault
    assert fault == Fault("tool_failed", "ToolError: berkas tidak ada")


def test_an_mcp_tool_that_does_not_fit_its_function_or_has_no_legal_name_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'nama', but .*does not take it; the nearest is 'name'"):
        as_tool((McpTool("camel"), lambda name: name))
    with pytest.raises(ToolDefinitionError, match=r"'berkas/baca' is not legal.*name=…"):
        as_tool((McpTool("camel", "berkas/baca"), lambda nama: nama))
    assert as_tool(tool((McpTool("camel", "berkas/baca"), lambda nama: nama), name="berkas_baca")).name == "berkas_baca"
    with pytest.raises(ToolDefinitionError, match="an MCP tool needs a function that calls it beside it"):
        as_tool(McpTool("snake"))
    with pytest.raises(ToolDefinitionError, match="wrong at properties/nama/type"):
        as_tool((McpTool("camel", schema={"properties": {"nama": {"type": "teks"}}}), lambda nama="": nama))
