"""A schema and a function, and objects with both: taken when they fit, refused with both sides named when not."""

# ruff: noqa: ARG001, ARG002, ARG005 - many functions here are never called: their parameters are what is tested

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.test_arguments import SHARED
from tests.tools.test_tool import call, message
from tukang.errors import ToolDefinitionError
from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.outcome import Fault
from tukang.tools.tool import tool

PARAMETERS = {
    "type": "object",
    "properties": {"product_id": {"type": "string"}, "jumlah": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["product_id"],
}
PLAIN = {"name": "cek_harga", "description": "Cek harga.", "parameters": PARAMETERS}
OPENAI = {"type": "function", "function": {**PLAIN, "strict": True}}


def cek(product_id: str, jumlah: int = 1) -> tuple[str, int]:
    return product_id, jumlah


@pytest.mark.parametrize("schema", [PLAIN, OPENAI, {"type": "function", **PLAIN}])
def test_a_schema_and_a_function(schema: dict[str, Any]) -> None:
    made = as_tool((schema, cek))
    assert (made.contract.name, made.contract.description, made.policy.effect) == ("cek_harga", "Cek harga.", "unknown")
    assert made.contract.parameters == PARAMETERS
    assert call(made, product_id="a") == ("a", 1)
    assert call(made, product_id="a", jumlah="3") == ("a", 3)


def test_a_schema_without_parameters() -> None:
    assert call(as_tool(({"name": "jam"}, lambda: "12.00"))) == "12.00"


def test_a_function_with_kwargs_takes_what_the_schema_says() -> None:
    def apa_pun(**kwargs: Any) -> dict[str, Any]:
        return kwargs

    made = as_tool((PLAIN, apa_pun))
    assert call(made, product_id="a", lain=[1]) == {"product_id": "a", "lain": [1]}


def test_the_policy_comes_from_the_decorated_function() -> None:
    assert as_tool((PLAIN, tool(effect="read")(lambda product_id, jumlah=1: product_id))).policy.effect == "read"


def test_a_decorated_function_must_not_say_otherwise() -> None:
    with pytest.raises(ToolDefinitionError, match=r"schema says 'cek_harga', @tool on .* says 'lain'"):
        as_tool((PLAIN, tool(name="lain")(lambda product_id, jumlah=1: product_id)))


def test_the_context_is_given_by_annotation() -> None:
    def f(product_id: str, context: CallContext, jumlah: int = 1) -> str:
        return context.call_id

    assert call(as_tool((PLAIN, f)), product_id="a") == "t1.r1.c1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "product_id: is required"),
        ({"product_id": 5}, 'product_id: 5 is not allowed: it is not of type "string"'),
        ({"product_id": "a", "jumlah": 10}, "jumlah: 10 is not allowed: it is greater than the maximum of 9"),
        ({"product_id": "a", "jumlah": None}, "leave it out to use its default"),
        ({"product_id": "a", "Jumlah": 1}, "Jumlah: is not a parameter; did you mean jumlah?"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(arguments: dict[str, Any], told: str) -> None:
    assert told in message(as_tool((PLAIN, cek)), **arguments)


def test_every_kind_of_fault_is_told_shortly() -> None:
    schema = {
        "name": "f",
        "parameters": {
            "properties": {
                "pilihan": {"enum": ["a", "b", 3]},
                "salah_satu": {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]},
                "dalam": {"properties": {"x": {}}, "required": ["x"], "additionalProperties": False},
                "surel": {"type": "string", "format": "email"},
            }
        },
    }
    made = as_tool((schema, lambda **given: given))
    assert message(made, pilihan="c") == 'pilihan: "c" is not allowed: should be one of "a", "b", 3'
    assert "is not of type" in message(made, salah_satu="abc" * 100)
    assert len(message(made, salah_satu="abc" * 100)) < 250
    assert set(message(made, dalam={"y": 1}).split("; ")) == {"dalam.x: is required", "dalam.y: is not a parameter"}
    assert "email" in message(made, surel="bukan")


@pytest.mark.parametrize(
    ("schema", "function", "told"),
    [
        ({**PLAIN, "parameters": {**PARAMETERS, "required": []}}, cek, "cek.. needs 'product_id'.*'required'"),
        (PLAIN, lambda productId, jumlah=1: 0, "has the parameter 'product_id'.*nearest is 'productId'"),
        (PLAIN, lambda product_id: 0, "has the parameter 'jumlah', but <lambda>.. does not take it"),
        (PLAIN, lambda product_id, jumlah, warna=1: 0, "needs 'jumlah'|takes 'warna'"),
        (PLAIN, lambda product_id, jumlah=1, warna=1: 0, "takes 'warna', but its schema has no such parameter"),
        (
            {"name": "a", "parameters": {"properties": {"cekHarga": {}}, "required": ["cekHarga"]}},
            lambda cek_harga: 0,
            "'cekHarga'.*nearest is 'cek_harga'",
        ),
        (
            {"name": "a", "parameters": {"required": ["x"]}},
            lambda: 0,
            "requires 'x', which is not among its properties",
        ),
        (
            {"name": "a", "parameters": {"properties": {"x": {"type": "strin"}}}},
            lambda x=1: 0,
            'wrong at properties/x/type: "strin" is not valid',
        ),
        (
            {"name": "a", "parameters": {"properties": {"x": {"pattern": "("}}}},
            lambda x=1: 0,
            "wrong at properties/x/pattern",
        ),
        (
            {"name": "a", "parameters": {"properties": {"x": {"$ref": "http://localhost/x"}}}},
            lambda x=1: 0,
            "cannot fetch",
        ),
        ({"name": "a", "parameters": {"properties": {"x": {"$ref": "#/$defs/x"}}}}, lambda x=1: 0, "does not exist"),
        ({"name": "a", "parameters": {"type": "array"}}, lambda: 0, "must have type 'object'"),
        ({"name": "a", "parameters": []}, lambda: 0, "'parameters' a JSON Schema"),
        ({"name": "a", "paramters": {}}, lambda: 0, "unknown key 'paramters'; did you mean 'parameters'"),
        ({"name": "a.b"}, lambda: 0, "'a.b' is not legal"),
        ({"description": "x"}, lambda: 0, "has no 'name'"),
        ({"type": "function", "function": "a"}, lambda: 0, "must look like"),
    ],
)
def test_a_schema_and_a_function_that_do_not_fit_are_refused(schema: Any, function: Any, told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        as_tool((schema, function))


class Cek:
    """Cek harga, dengan gaya kelas."""

    def __init__(self) -> None:
        self.awalan = "harga "

    def get_schema(self) -> dict[str, Any]:
        return OPENAI

    def execute(self, product_id: str, jumlah: int = 1) -> str:
        return f"{self.awalan}{product_id}"


class Lain(Cek):
    def __init__(self, awalan: str) -> None:
        self.awalan = awalan

    @tool(effect="read")
    def execute(self, **arguments: Any) -> str:
        return f"{self.awalan}{arguments['product_id']}"


class Rusak(Cek):
    def get_schema(self) -> dict[str, Any]:
        raise RuntimeError("rusak")


def test_a_class_and_an_object_with_get_schema_and_execute() -> None:
    assert call(as_tool(Cek), product_id="a") == call(as_tool(Cek()), product_id="a") == "harga a"
    made = as_tool(Lain("biaya "))
    assert (call(made, product_id="a"), made.policy.effect) == ("biaya a", "read")


def test_a_class_that_needs_arguments_or_fails_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="Lain cannot be made without arguments"):
        as_tool(Lain)
    with pytest.raises(ToolDefinitionError, match=r"Rusak.get_schema\(\) failed: RuntimeError: rusak"):
        as_tool(Rusak())


@pytest.mark.parametrize("thing", [5, "cek", int, None, (PLAIN,), (cek, PLAIN), {"name": "a"}, (PLAIN, "cek")])
def test_what_is_no_tool_is_refused(thing: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"give a function|is not \(schema, function\)"):
        as_tool(thing)


def test_a_tool_is_a_tool() -> None:
    made = as_tool(cek)
    assert as_tool(made) is made


def test_the_schemas_of_real_servers_load() -> None:
    path: Path = SHARED.parent / "mcp_tools" / "tools.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with path.open(encoding="utf-8") as lines:
        tools = [json.loads(line) for line in lines]
    for place, row in enumerate(tools):
        made = as_tool(({"name": f"tool_{place}", "parameters": row["inputSchema"]}, lambda **given: given))
        required = row["inputSchema"].get("required", [])
        assert isinstance(made.validate({}), Fault) == bool(required)
