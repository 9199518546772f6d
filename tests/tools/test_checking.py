"""One call, checked: total, pure, and the same call always has the same digest."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from tests.tools.test_arguments import OBJECTS
from tukang import Agent
from tukang.errors import ToolDefinitionError
from tukang.models.scripted import Scripted, call
from tukang.tools.checking import Checked, check, digest
from tukang.tools.outcome import Fault
from tukang.tools.policy import Policy
from tukang.tools.tool import tool
from tukang.tools.toolbox import Toolbox


@tool(effect="read")
def cek_harga_produk(product_id: str) -> str:
    return product_id


@tool(effect="write")
def buat_pesanan(product_id: str, quantity: Annotated[int, Field(ge=1)], catatan: str = "") -> str:
    return f"{product_id}{quantity}{catatan}"


def jam() -> str:
    return "12.00"


def pohon(pohon: list[list[int]]) -> int:
    return len(pohon)


TOOLS = Toolbox.of([cek_harga_produk, buat_pesanan, jam, ({"name": "apa_saja"}, lambda **given: given)])


def test_a_toolbox_keeps_order_names_and_policies() -> None:
    assert [contract.name for contract in TOOLS.contracts] == ["cek_harga_produk", "buat_pesanan", "jam", "apa_saja"]
    assert TOOLS.policies == {
        "cek_harga_produk": Policy("read"),
        "buat_pesanan": Policy("write"),
        "jam": Policy(),
        "apa_saja": Policy(),
    }
    assert len(TOOLS) == 4
    assert TOOLS[0] is TOOLS.get("cek_harga_produk")
    assert [it.name for it in TOOLS[1:3]] == ["buat_pesanan", "jam"]
    assert TOOLS.get("tidak_ada") is None


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"two tools have the name 'jam': jam\(\) and <lambda>\(\)"):
        Toolbox.of([jam, ({"name": "jam"}, lambda: 0)])


@pytest.mark.parametrize("name", ["cekHargaProduk", "Cek-Harga-Produk", "cek_harga", "cek_harga_product"])
def test_near_names_are_found(name: str) -> None:
    assert TOOLS.near(name)[:1] == ("cek_harga_produk",)


def test_a_name_without_end_is_compared_in_no_time() -> None:
    assert TOOLS.near("x" * 1_000_000) == ()


def test_the_same_letters_come_before_similar_ones() -> None:
    tools = Toolbox.of([({"name": name}, lambda: 0) for name in ("cek_hargaa", "cek_harga", "cekharg")])
    assert tools.near("cekHarga") == ("cek_harga", "cek_hargaa", "cekharg")


def test_a_good_call() -> None:
    checked = check(TOOLS, "buat_pesanan", ' {"quantity": 2, "product_id": "PRD001"} ')
    text = '{"product_id":"PRD001","quantity":2}'
    assert checked == Checked(text, digest("buat_pesanan", text))
    assert len(checked.digest) == 64


@pytest.mark.parametrize("text", [None, "", "  ", "null", "{}"])
def test_no_arguments(text: str | None) -> None:
    assert check(TOOLS, "jam", text) == Checked("{}", digest("jam", "{}"))


@pytest.mark.parametrize(
    "text",
    [
        '{"quantity": 2, "product_id": "PRD001"}',
        '{"product_id": "PRD001",\n "quantity": 2}',
        '{"product_id": "PRD001", "quantity": "2"}',
        '{"product_id": "PRD001", "quantity": 2.0}',
        "{'product_id': 'PRD001', 'quantity': 2,}",
        '```json\n{"product_id": "\\u0050RD001", "quantity": 2}\n```',
    ],
)
def test_one_call_has_one_digest_however_it_is_written(text: str) -> None:
    wanted = check(TOOLS, "buat_pesanan", '{"product_id":"PRD001","quantity":2}')
    got = check(TOOLS, "buat_pesanan", text)
    assert (got.digest, got.arguments, got.fault) == (wanted.digest, wanted.arguments, None)


def test_a_number_is_one_number_however_it_is_written() -> None:
    schema = {"name": "pesan", "parameters": {"properties": {"n": {"type": "integer"}, "x": {"type": "number"}}}}
    tools = Toolbox.of([(schema, lambda n=0, x=0: n + x)])
    whole = check(tools, "pesan", '{"n": 2, "x": 1}')
    other = check(tools, "pesan", '{"n": 2.0, "x": 1.0}')
    assert (whole.arguments, whole.repaired) == ('{"n":2,"x":1}', False)
    assert (other.arguments, other.repaired) == ('{"n":2,"x":1.0}', True)  # an integer is what the schema says
    assert whole.digest == other.digest


def test_different_calls_have_different_digests() -> None:
    texts = ['{"a": 1}', '{"a": "1"}', '{"a": 2}', '{"a": [1]}', '{"a": null}', "{}"]
    checked = [check(TOOLS, "apa_saja", text) for text in texts] + [check(TOOLS, "jam", "{}")]
    assert len({it.digest for it in checked}) == len(checked)


def test_repaired_says_that_the_model_wrote_something_else() -> None:
    assert not check(TOOLS, "jam", "").repaired
    assert check(TOOLS, "jam", "{}}").repaired
    assert check(TOOLS, "buat_pesanan", '{"product_id": "a", "quantity": "2"}').repaired


def test_the_step_says_that_something_was_repaired() -> None:
    told = [
        call("buat_pesanan", "{'product_id': 'a', 'quantity': '2',}"),
        call("buat_pesanan", product_id="b", quantity=1),
    ]
    answer = Agent(Scripted([told, "Selesai."]), tools=[buat_pesanan]).run("Pesan.")
    assert [step.repaired for step in answer.steps] == [True, False]
    assert answer.steps[0].arguments == '{"product_id":"a","quantity":2}'


def test_an_unknown_tool_gets_near_names() -> None:
    checked = check(TOOLS, "cekHargaProduk", '{"product_id": "a"}')
    assert checked.arguments is None
    assert checked.fault == Fault("unknown_tool", "there is no tool 'cekHargaProduk'", "Did you mean cek_harga_produk?")
    assert checked.digest == digest("cekHargaProduk", '{"product_id": "a"}')


def test_an_unknown_tool_unlike_any_other_gets_the_list() -> None:
    assert check(TOOLS, "xyzzy", "").fault == Fault(
        "unknown_tool", "there is no tool 'xyzzy'", "The tools are: cek_harga_produk, buat_pesanan, jam, apa_saja."
    )


def test_a_tool_that_was_not_on_offer_is_unknown() -> None:
    fault = check(TOOLS, "cek_harga_produk", "", offered=("jam",)).fault
    assert fault == Fault("unknown_tool", "there is no tool 'cek_harga_produk'", "The tools are: jam.")
    assert check(TOOLS, "jam", "", offered=("jam",)).fault is None
    nothing = check(TOOLS, "jam", "", offered=()).fault
    assert nothing is not None
    assert nothing.hint == "There are no tools: answer without."


def test_broken_json_is_a_fault_over_the_raw_text() -> None:
    checked = check(TOOLS, "cek_harga_produk", '{"product_id": "PRD')
    assert checked.fault is not None
    assert checked.fault.kind == "invalid_arguments"
    assert checked.fault.message == "the arguments cannot be read: it stops in the middle"
    assert checked.digest == digest("cek_harga_produk", '{"product_id": "PRD')


def test_arguments_that_do_not_fit_are_a_fault() -> None:
    fault = check(TOOLS, "buat_pesanan", '{"product_id": "a", "quantity": 0}').fault
    assert fault == Fault(
        "invalid_arguments",
        "quantity: 0 is not allowed: should be greater than or equal to 1",
        "Parameters: product_id (required), quantity (required), catatan.",
    )


DEEP = {
    "name": "pohon",
    "parameters": {
        "properties": {"pohon": {"$ref": "#/$defs/pohon"}},
        "$defs": {"pohon": {"type": "array", "items": {"$ref": "#/$defs/pohon"}}},
    },
}


def in_strings(levels: int) -> str:
    """An array in a string in an array in a string …"""
    text = "[]"
    for _ in range(levels):
        text = "[" * 90 + json.dumps(text) + "]" * 90
    return json.dumps({"pohon": text})


@pytest.mark.parametrize(
    "text",
    [
        '{"pohon": "' + "[" * 5000 + "]" * 5000 + '"}',
        '{"pohon": ' + "[" * 99 + '"' + "[" * 99 + "]" * 99 + '"' + "]" * 99 + "}",
        in_strings(10),
        '{"pohon": "\\ud800"}',
        '{"\\udfff": 1}',
        "\ud800",
        '{"pohon": [1e400]}',
        '{"pohon": [' + "1," * 50_000 + "1]}",
        '{"' + "k" * 1_000_000 + '": 1}',
        "{" + ",".join(f'"k{place}":1' for place in range(20_000)) + "}",
        '{"pohon": ' + json.dumps("'" * 1_000_000) + "}",
        "\x00" * 1000,
    ],
    ids=range(12),
)
def test_whatever_is_sent_becomes_one_short_fault(text: str) -> None:
    for declared in (True, False):
        tools = Toolbox.of([(DEEP, lambda pohon=(): pohon)] if declared else [pohon])
        fault = check(tools, "pohon", text).fault
        assert fault is not None
        assert fault.kind == "invalid_arguments"
        assert len(fault.as_text()) < 600


def test_an_unknown_name_of_any_kind_becomes_one_short_fault() -> None:
    for name in ("x" * 1_000_000, "\ud800", "a\nb", ""):
        fault = check(TOOLS, name, "{}").fault
        assert fault is not None
        assert len(fault.as_text()) < 300


@given(st.sampled_from(["cek_harga_produk", "buat_pesanan", "jam", "apa_saja", "x"]), st.text())
def test_any_text_is_checked(name: str, text: str) -> None:
    checked = check(TOOLS, name, text)
    assert (checked.arguments is None) == (checked.fault is not None)


@given(OBJECTS)
def test_checking_what_was_checked_changes_nothing(value: dict[str, Any]) -> None:
    first = check(TOOLS, "apa_saja", json.dumps(value))
    again = check(TOOLS, "apa_saja", first.arguments)
    assert again == first
    assert json.loads(first.arguments or "") == value
