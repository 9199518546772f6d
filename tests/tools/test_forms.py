"""The forms in which a contract can be written, and contracts and functions paired by name."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from tests.tools.test_tool import call
from tukang import Agent, Toolbox, tool
from tukang.errors import ToolDefinitionError
from tukang.models.scripted import Scripted
from tukang.tools.adopting import as_tool
from tukang.tools.forms import read_form

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"kode": {"type": "string"}}, "required": ["kode"]}


def cek_stok(kode: str) -> str:
    return kode


@pytest.mark.parametrize(
    "form",
    [
        {"name": "cek_stok", "description": "Cek.", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "cek_stok", "description": "Cek.", "parameters": SCHEMA}},
        {"type": "function", "name": "cek_stok", "description": "Cek.", "parameters": SCHEMA, "strict": False},
        {"toolSpec": {"name": "cek_stok", "description": "Cek.", "inputSchema": {"json": SCHEMA}}},
        {"toolSpec": {"name": "cek_stok", "description": "Cek.", "inputSchema": {"json": SCHEMA}, "strict": True}},
        {"name": "cek_stok", "description": "Cek.", "inputSchema": {"json": SCHEMA}},
        {"name": "cek_stok", "description": "Cek.", "inputSchema": SCHEMA},
        {"name": "cek_stok", "description": "Cek.", "input_schema": SCHEMA},
    ],
)
def test_every_form_is_the_same_tool(form: dict[str, Any]) -> None:
    made = as_tool((form, cek_stok))
    assert (made.name, made.contract.description, made.contract.parameters) == ("cek_stok", "Cek.", SCHEMA)
    assert call(made, kode="a") == "a"


def test_a_parameter_named_json_is_not_bedrocks_wrapping() -> None:
    schema = {"type": "object", "properties": {"json": {"type": "string"}}}
    assert read_form({"name": "a", "inputSchema": schema}, "a").parameters == schema


def test_the_schema_is_a_copy() -> None:
    mine: dict[str, Any] = {"properties": {"kode": {"type": "string"}}, "required": ["kode"]}
    made = as_tool(({"name": "a", "parameters": mine}, cek_stok))
    mine["properties"]["kode"]["type"] = "integer"
    assert made.contract.parameters["properties"]["kode"] == {"type": "string"}


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"toolSpec": {"name": "a"}, "name": "b"}, "must look like.*toolSpec"),
        ({"toolSpec": "a"}, "must look like.*toolSpec"),
        ({"toolSpec": {"description": "a"}}, "has no 'name'"),
        ({"name": "a", "parameters": SCHEMA, "input_schema": SCHEMA}, "has both 'parameters' and 'input_schema'"),
        ({"name": "a", "inputSchem": SCHEMA}, "unknown key 'inputSchem'; did you mean 'inputSchema'"),
        ({"toolSpec": {"name": "a", "inputSchema": {"json": []}}}, "'parameters' a JSON Schema"),
    ],
)
def test_what_is_no_form_is_refused(form: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        read_form(form, "x")


# ── paired by name ───────────────────────────────────────────────────────────────────────────────────────────────────


def form(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": name, "parameters": SCHEMA}}


def test_schemas_and_functions_by_name() -> None:
    ubah = tool(effect="write")(lambda kode: kode)
    toolbox = Toolbox.paired([form("cek_stok"), form("ubah")], {"ubah": ubah, "cek_stok": cek_stok})
    assert [made.name for made in toolbox] == ["cek_stok", "ubah"]
    assert toolbox.policies["ubah"].effect == "write"
    agent = Agent(Scripted(["ya"]), tools=toolbox)
    assert [made.name for made in agent.toolbox] == ["cek_stok", "ubah"]


@pytest.mark.parametrize(
    ("names", "functions", "told"),
    [
        (["cekStok"], {"cek_stok": cek_stok}, "'cekStok' has a schema but no function; the nearest is 'cek_stok'"),
        (["cek_stok"], {}, "'cek_stok' has a schema but no function; there are none"),
        (["a"], {"cek_stok": cek_stok}, "'a' has a schema but no function; there are 'cek_stok'"),
        (
            ["cek_stok"],
            {"cek_stok": cek_stok, "cek_stock": cek_stok},
            r"cek_stok\(\) stands under 'cek_stock', but no schema has that name; the nearest is 'cek_stok'",
        ),
        (
            ["cek_stok"],
            {"cek_stok": lambda code: code},
            "has the parameter 'kode', but <lambda>.*the nearest is 'code'",
        ),
    ],
)
def test_names_that_do_not_match_are_refused_with_the_nearest(
    names: list[str], functions: dict[str, Any], told: str
) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        Toolbox.paired(map(form, names), functions)


def test_two_schemas_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="two schemas have the name 'cek_stok'"):
        Toolbox.paired([form("cek_stok"), form("cek_stok")], {"cek_stok": cek_stok})


def test_one_function_behind_two_tools_is_allowed_and_said() -> None:
    toolbox = Toolbox.paired(
        [form("cek"), form("lihat"), form("ubah")],
        {
            "cek": cek_stok,
            "lihat": functools.partial(cek_stok),
            "ubah": lambda kode: kode,
        },
    )
    assert toolbox.alike("cek") == ("lihat",)
    assert toolbox.alike("lihat") == ("cek",)
    assert toolbox.alike("ubah") == ()
