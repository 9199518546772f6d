"""What a tool returns, as a schema, and the value in its result: said only where it is certain."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from tukang.conversation import Image, Text
from tukang.mcp.returning import returned
from tukang.tools.toolbox import Toolbox
from tukang.tools.untrusted import Untrusted


class Model(BaseModel):
    n: int


class Nested(BaseModel):
    inner: Model
    more: list[Model] = []


@dataclasses.dataclass
class Data:
    n: int


class Typed(TypedDict):
    n: int


class Struct(msgspec.Struct):
    n: int


class Outer(msgspec.Struct):
    inner: Struct


def of(hint: Any) -> Any:
    def give() -> Any:
        """Give."""

    give.__annotations__ = {"return": hint}
    (tool,) = Toolbox.of([give])
    return returned(tool)


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (Model, '{"n":1}', {"n": 1}),
        (Nested, '{"inner":{"n":1},"more":[]}', {"inner": {"n": 1}, "more": []}),
        (Data, '{"n":1}', {"n": 1}),
        (Typed, '{"n":1}', {"n": 1}),
        (Struct, '{"n":1}', {"n": 1}),
        (Outer, '{"inner":{"n":1}}', {"inner": {"n": 1}}),
        (dict, '{"a":[1]}', {"a": [1]}),
        (dict[str, int], '{"a":1}', {"a": 1}),
        (Model | Data, '{"n":1}', {"n": 1}),
        (int, "1", {"result": 1}),
        (int | float, "1.5", {"result": 1.5}),
        (bool, "true", {"result": True}),
        (list[Model], '[{"n":1}]', {"result": [{"n": 1}]}),
        (str, "[1]", {"result": "[1]"}),
        (Literal["a", "b"], "a", {"result": "a"}),
        (Annotated[int, Field(ge=1)], "3", {"result": 3}),
    ],
)
def test_a_type_says_what_comes(hint: Any, text: str, value: Any) -> None:
    found = of(hint)
    assert found is not None
    assert found.value(text) == value
    assert found.schema["type"] == "object", "as every version of the protocol wants it"
    Draft202012Validator.check_schema(found.schema)
    Draft202012Validator(found.schema).validate(value)


@pytest.mark.parametrize(
    "hint",
    [
        Any,
        None,
        str | dict,
        int | str,
        int | None,
        Image,
        list[Text],
        Image | dict,
        bytes,
        Untrusted,
        "NotThere",
        object,
    ],
)
def test_what_is_not_certain_is_not_said(hint: Any) -> None:
    assert of(hint) is None


@pytest.mark.parametrize(("hint", "text"), [(Model, '{"n":"x"}'), (int, '"1"'), (int, "no"), (dict, "[1]")])
def test_what_does_not_fit_has_no_value(hint: Any, text: str) -> None:
    found = of(hint)
    assert found is not None
    assert found.value(text) is None
