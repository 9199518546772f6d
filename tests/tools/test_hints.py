"""Type hints that Pydantic does not take, or not as a tool needs them."""

from __future__ import annotations

import enum
import pickle
import sys
import typing
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, LiteralString, NotRequired, Required, TypedDict

import pytest
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import Doc

from tests.tools.test_tool import call, message
from tukang.errors import ToolDefinitionError
from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.hints import fit


class Ukuran(enum.Enum):
    KECIL = "kecil"
    BESAR = "besar"
    NOL = 0


class Barang(TypedDict):
    """Sebuah barang."""

    nama: str
    warna: NotRequired[Literal["merah", "biru"]]


class Pesanan(TypedDict, total=False):
    barang: Required[list[Barang]]
    catatan: str


class Simpul(TypedDict):
    anak: list[Simpul]


def pesan(pesanan: Pesanan, lagi: Sequence[Barang] | None = None) -> Any:
    return pesanan, lagi


def test_a_typed_dict_of_the_standard_library() -> None:
    """Also with postponed annotations, which hide what is required from the class itself."""
    made = as_tool(pesan)
    assert call(made, pesanan={"barang": [{"nama": "SSD"}]}) == ({"barang": [{"nama": "SSD"}]}, None)
    assert call(made, pesanan={"barang": []}, lagi=[{"nama": "a", "warna": "biru"}])[1] == [
        {"nama": "a", "warna": "biru"}
    ]
    assert message(made, pesanan={"catatan": "x"}) == "pesanan.barang: is required"
    assert message(made, pesanan={"barang": [{}]}) == "pesanan.barang[0].nama: is required"
    assert message(made, pesanan={"barang": [{"nama": "a", "warna": "ungu"}]}).startswith("pesanan.barang[0].warna")
    definition = made.contract.parameters["$defs"]["Barang"]
    assert definition["required"] == ["nama"]
    assert definition["description"] == "Sebuah barang."


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Pydantic takes it there")
def test_a_typed_dict_that_contains_itself_is_left_to_pydantic() -> None:
    def f(x: Simpul) -> Any:
        return x

    with pytest.raises(ToolDefinitionError, match=r"parameter 'x' of f.*typing_extensions.TypedDict"):
        as_tool(f)


@pytest.mark.parametrize(
    "hint", [Iterable[int], Iterator[int], Generator[int, None, None], typing.Iterable[int], Iterable[int] | None]
)
def test_an_iterable_is_a_list_whose_items_are_checked(hint: Any) -> None:
    def f(x: Any) -> Any:
        return x

    f.__annotations__ = {"x": hint}
    assert call(as_tool(f), x=[1, 2]) == [1, 2]
    assert message(as_tool(f), x=["a"]).startswith("x[0]: ")
    assert fit(Iterable) is list


def test_a_literal_of_enum_members_is_read_from_their_values() -> None:
    def f(x: Literal[Ukuran.KECIL, Ukuran.NOL, "lain"], y: list[Literal[Ukuran.BESAR]] | None = None) -> Any:
        return x, y

    made = as_tool(f)
    assert call(made, x="kecil", y=["besar"]) == (Ukuran.KECIL, [Ukuran.BESAR])
    assert call(made, x=0) == (Ukuran.NOL, None)
    assert call(made, x="lain") == ("lain", None)
    assert made.contract.parameters["properties"]["x"]["enum"] == ["kecil", 0, "lain"]
    assert message(made, x="besar").startswith('x: "besar" is not allowed')
    assert message(made, x=["besar"]).startswith("x: ")


def test_a_literal_string_is_a_string() -> None:
    def f(x: LiteralString) -> str:
        return x

    assert as_tool(f).contract.parameters["properties"]["x"] == {"type": "string"}


class Biasa:
    pass


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (Callable[[int], int], "is a class or a function, which JSON has not"),
        (type[int], "is a class or a function, which JSON has not"),
        (typing.Callable, "is a class or a function, which JSON has not"),
        (type, "is a class or a function, which JSON has not"),
        (list[type[int]] | None, "is a class or a function, which JSON has not"),
        (Biasa, "type hint without a JSON Schema.*Biasa.*take a type that Pydantic knows"),
        (list[Biasa], "type hint without a JSON Schema.*Biasa"),
    ],
)
def test_what_json_cannot_say_is_refused_with_the_parameters_name(hint: Any, told: str) -> None:
    def f(n: int, x: Any) -> Any:
        return n, x

    f.__annotations__["x"] = hint
    with pytest.raises(ToolDefinitionError, match=rf"parameter 'x' of f\(\).*{told}"):
        as_tool(f)


class Model(BaseModel):
    a: int = 1


@pytest.mark.parametrize(
    "hint",
    [
        int,
        Any,
        list[int],
        dict[str, Any],
        tuple[int, ...],
        int | None,
        Annotated[int, Field(ge=1)],
        Literal["a", 1],
        Model,
        list[Model] | dict[str, Model],
        typing.List[int],  # noqa: UP006
        typing.Optional[int],  # noqa: UP045
        Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)],
    ],
)
def test_what_needs_nothing_is_left_as_it_is(hint: Any) -> None:
    assert fit(hint) == hint


def test_what_is_made_means_the_same_within_generics() -> None:
    hint = typing.Dict[str, typing.Optional[typing.List[Iterable[Literal[Ukuran.KECIL]]]]]  # noqa: UP006, UP045
    read = TypeAdapter[Any](fit(hint)).validate_json('{"a":[["kecil"]],"b":null}', strict=True)
    assert read == {"a": [[Ukuran.KECIL]], "b": None}


# ── what a hint says besides ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_default_and_a_doc_in_annotated() -> None:
    def f(
        a: Annotated[int, Field(default=7, ge=1)],
        b: Annotated[list[int], Field(default_factory=list)],
        c: Annotated[int, Doc("dari Doc")] = 3,
        d: float = float("nan"),
    ) -> Any:
        return a, b, c, d

    made = as_tool(f)
    schema = made.contract.parameters
    assert "required" not in schema
    assert schema["properties"]["a"] == {"type": "integer", "minimum": 1, "default": 7}
    assert schema["properties"]["c"]["description"] == "dari Doc"
    assert "default" not in schema["properties"]["d"]  # JSON has no NaN
    assert call(made)[:3] == (7, [], 3)
    assert call(made, a=2, b=[1])[:2] == (2, [1])


class Pemanggil(BaseModel):
    id: str


def test_the_context_may_say_the_type_of_the_callers_own_object() -> None:
    def f(n: int, a: CallContext[Pemanggil], b: CallContext[dict[str, int]] | None = None) -> Any:
        return n, a, b

    made = as_tool(f)
    assert list(made.contract.parameters["properties"]) == ["n"]
    assert made.signature.context == ("a", "b")
    context: CallContext[Pemanggil] = CallContext(call_id="t-1-0", idempotency_key="k", context=Pemanggil(id="USR1"))
    assert made.parameters.bind('{"n":1}', context)[1]["a"].context.id == "USR1"
    assert pickle.loads(pickle.dumps(context)) == context
