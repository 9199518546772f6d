"""What a turn is to return: a tool without a function, and back from its arguments to the value."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator

from tukang.errors import ToolDefinitionError
from tukang.tools.checking import check
from tukang.tools.extraction import Extraction, extraction
from tukang.tools.outcome import Fault
from tukang.tools.toolbox import Toolbox


class Line(BaseModel):
    """One line of it."""

    name: str
    quantity: int = 1


class Invoice(BaseModel):
    """An invoice of the shop."""

    number: str = Field(description="as printed")
    lines: list[Line]
    due: datetime.date | None = None

    @field_validator("lines")
    @classmethod
    def _not_empty(cls, lines: list[Line]) -> list[Line]:
        if not lines:
            raise ValueError("an invoice has at least one line")
        return lines


@dataclass
class Point:
    x: int
    label: str = "here"
    more: list[Point] = field(default_factory=list["Point"])


class City(TypedDict):
    name: str
    people: NotRequired[int]


class Reading(msgspec.Struct):
    """One reading."""

    celsius: float
    place: str | None = None


class Tags(RootModel[list[str]]):
    pass


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


SCHEMA = {"type": "object", "properties": {"total": {"type": "integer", "minimum": 1}}, "required": ["total"]}


def given(wanted: Extraction, text: str) -> Any:
    """The value of what a model sends, through the check every call goes through; or the fault."""
    checked = check(Toolbox((wanted.tool,)), wanted.tool.name, text)
    if checked.fault is not None:
        return checked.fault
    assert checked.arguments is not None
    inner = checked.arguments
    if wanted.key is not None:
        inner = bytes(msgspec.json.decode(inner, type=dict[str, msgspec.Raw])[wanted.key]).decode()
    return wanted.value(inner)


@pytest.mark.parametrize(
    ("returns", "text", "value"),
    [
        (Invoice, '{"number":"7","lines":[{"name":"SSD"}]}', Invoice(number="7", lines=[Line(name="SSD")])),
        (Point, '{"x":1,"more":[{"x":2}]}', Point(1, more=[Point(2)])),
        (City, '{"name":"Bandung"}', {"name": "Bandung"}),
        (Reading, '{"celsius":24.5}', Reading(24.5)),
        (dict[str, int], '{"a":1}', {"a": 1}),
        (list[Line], '{"data":[{"name":"SSD"}]}', [Line(name="SSD")]),
        (list[Reading], '{"data":[{"celsius":1}]}', [Reading(1.0)]),
        (Tags, '{"data":["a","b"]}', Tags(["a", "b"])),
        (Literal["spam", "ham"], '{"data":"spam"}', "spam"),
        (Colour, '{"data":"blue"}', Colour.BLUE),
        (Line | None, '{"data":null}', None),
        (Annotated[int, Field(ge=1)], '{"data":3}', 3),
        (Decimal, '{"data":"1.10"}', Decimal("1.10")),
        (SCHEMA, '{"total":3}', {"total": 3}),
        ({"type": "array", "items": {"type": "integer"}}, '{"data":[1,2]}', [1, 2]),
    ],
    ids=str,
)
def test_what_fits_becomes_the_value(returns: Any, text: str, value: Any) -> None:
    assert given(extraction(returns, "Give it."), text) == value


@pytest.mark.parametrize(
    ("returns", "text", "says"),
    [
        (Invoice, '{"lines":[{"name":"SSD"}]}', "number: is required"),
        (Invoice, '{"number":"7","lines":[]}', "lines: [] is not allowed: an invoice has at least one line"),
        (Invoice, '{"number":"7","lines":[{"name":"SSD","quantity":"two"}]}', "lines[0].quantity: "),
        (
            Invoice,
            '{"number":"7","lines":[{"name":"SSD"}],"du":"2026-01-01"}',
            "du: is not a parameter; did you mean due?",
        ),
        (Reading, '{"celsius":"warm"}', "Expected `float`, got `str`"),
        (Reading, '{"celsius":1,"plac":"x"}', "plac: is not a parameter; did you mean place?"),
        (list[Reading], "{}", "data: is required"),
        (list[Reading], '{"data":[{"celsius":"warm"}]}', "data: Expected `float`, got `str` - at `$[0].celsius`"),
        (Literal["spam", "ham"], '{"data":"eggs"}', 'data: "eggs" is not allowed'),
        (SCHEMA, '{"total":0}', "total: 0 is not allowed"),
        (SCHEMA, "Three, I think.", "the arguments cannot be read"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_a_fault_that_says_why(returns: Any, text: str, says: str) -> None:
    fault = given(extraction(returns, "Give it."), text)
    assert isinstance(fault, Fault)
    assert fault.kind == "invalid_arguments"
    assert says in fault.message


def test_a_value_in_the_wrong_json_type_is_read_as_everywhere() -> None:
    assert given(extraction(Line, "Give it."), '{"name":"SSD","quantity":"2"}') == Line(name="SSD", quantity=2)


def test_the_contract_says_what_is_wanted() -> None:
    contract = extraction(Invoice, "Give it.").tool.contract
    assert contract.name == "answer"
    assert contract.description == "Give it.\n\nAn invoice of the shop."
    assert contract.parameters["required"] == ["number", "lines"]
    assert contract.parameters["properties"]["number"] == {"description": "as printed", "type": "string"}
    assert contract.parameters["additionalProperties"] is False
    assert contract.parameters["$defs"]["Line"]["additionalProperties"] is False


def test_a_type_that_refers_to_itself_has_no_reference_at_the_top() -> None:
    parameters = extraction(Point, "Give it.").tool.contract.parameters
    assert parameters["type"] == "object"
    assert parameters["properties"]["more"]["items"] == {"$ref": "#/$defs/Point"}
    assert "Point" in parameters["$defs"]


def test_members_stay_in_the_order_they_are_declared() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}
    assert list(extraction(schema, "").tool.contract.parameters["properties"]) == ["b", "a"]


def test_a_type_that_takes_more_members_keeps_them() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    value = given(extraction(Open, ""), '{"a":1,"b":2}')
    assert value.model_extra == {"b": 2}


def test_the_tool_has_a_name_no_other_has() -> None:
    assert extraction(Line, "", ["answer"]).tool.name == "final_answer"
    with pytest.raises(ToolDefinitionError, match="leave none for the answer: rename one"):
        extraction(Line, "", ["answer", "final_answer", "answer_as_data"])


def test_a_type_is_read_once() -> None:
    assert extraction(Invoice, "Give it.").tool is extraction(Invoice, "Give it.").tool
    assert extraction(dict(SCHEMA), "Give it.").tool is extraction(SCHEMA, "Give it.").tool
    unhashable = Annotated[int, Field(json_schema_extra={"x": 1}), ["not hashable"]]
    assert given(extraction(unhashable, ""), '{"data":3}') == 3


class _Opaque:
    pass


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        (_Opaque, "returns=_Opaque: there is no JSON Schema for it"),
        (Line(name="x"), "there is no JSON Schema for it"),
        ("Invoice", "returns='Invoice': there is no JSON Schema for it"),
        (len, "returns=len: there is no JSON Schema for it"),
        ({"type": "nonsense"}, "its JSON Schema is wrong at"),
        ({"type": "object", "properties": {"a": {"type": 1}}}, "its JSON Schema is wrong at"),
        ({"type": "array", "items": {"$ref": "#"}}, "may refer to its '\\$defs' only, not to '#'"),
        ({"type": "object", "default": object()}, "cannot be written as JSON"),
    ],
    ids=lambda value: None if "object at" in str(value) else str(value),
)
def test_what_has_no_schema_is_refused_at_once(returns: Any, says: str) -> None:
    with pytest.raises(ToolDefinitionError, match=says):
        extraction(returns, "Give it.")


def test_a_validator_that_breaks_is_a_fault_and_not_an_exception() -> None:
    class Odd(BaseModel):
        a: int

        @field_validator("a")
        @classmethod
        def _break(cls, a: int) -> int:
            raise RuntimeError(f"no database for {a}")

    fault = given(extraction(Odd, ""), '{"a":1}')
    assert isinstance(fault, Fault)
    assert "no database for 1" in fault.message
