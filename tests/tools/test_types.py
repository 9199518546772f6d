"""Types and callables of every kind: each gives a schema that takes the value, and a Python value for the function."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import decimal
import enum
import fractions
import functools
import ipaddress
import re
import zoneinfo
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NewType, Optional, TypeVar

import annotated_types
import jsonschema_rs
import pytest
from pydantic import (
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    Discriminator,
    Field,
    HttpUrl,
    Json,
    JsonValue,
    PositiveInt,
    RootModel,
    SecretStr,
    StrictInt,
    Tag,
    conint,
    constr,
    validate_call,
)
from typing_extensions import TypeAliasType

from tests.tools.test_tool import CONTEXT, call, message
from tukang import tool
from tukang.tools.adopting import as_tool
from tukang.tools.execute import execute
from tukang.tools.outcome import Fault

T = TypeVar("T")


class Level(enum.IntEnum):
    SATU = 1


class Kata(enum.StrEnum):
    X = "x"


class Kucing(BaseModel):
    jenis: Literal["kucing"]
    meong: int


class Anjing(BaseModel):
    jenis: Literal["anjing"]
    gonggong: str = "guk"


class Kotak(BaseModel, Generic[T]):
    isi: T


class Lama(BaseModel):
    user_id: int = Field(alias="userId")


@dataclasses.dataclass
class Baris:
    a: int
    b: list[str] = dataclasses.field(default_factory=list)


Uid = NewType("Uid", str)
Daftar = RootModel[list[int]]
Bersarang = TypeAliasType("Bersarang", int | list["Bersarang"])
Hewan = Annotated[
    Annotated[Kucing, Tag("kucing")] | Annotated[Anjing, Tag("anjing")],
    Discriminator(lambda value: value["jenis"] if isinstance(value, dict) else value.jenis),
]

KINDS: list[tuple[Any, Any, Any]] = [
    (Literal["a", 1, None, True], None, None),
    (Level, 1, Level.SATU),
    (Kata, "x", Kata.X),
    (Annotated[Kucing | Anjing, Field(discriminator="jenis")], {"jenis": "anjing"}, Anjing(jenis="anjing")),
    (Hewan, {"jenis": "kucing", "meong": 1}, Kucing(jenis="kucing", meong=1)),
    (Kotak[int], {"isi": 1}, Kotak[int](isi=1)),
    (Optional[Kotak[list[int]]], {"isi": [1]}, Kotak[list[int]](isi=[1])),  # noqa: UP045
    (Lama, {"userId": 1}, Lama(userId=1)),
    (list[Baris], [{"a": 1}], [Baris(1)]),
    (Uid, "u", "u"),
    (Daftar, [1], Daftar([1])),
    (Bersarang, [1, [2]], [1, [2]]),
    (Mapping[str, Sequence[int]], {"a": [1]}, {"a": [1]}),
    (dict[int, str], {"1": "a"}, {1: "a"}),
    (dict[Kata, int], {"x": 1}, {Kata.X: 1}),
    (frozenset[str], ["a"], frozenset({"a"})),
    (collections.deque[int], [1], collections.deque([1])),
    (collections.OrderedDict[str, int], {"a": 1}, collections.OrderedDict(a=1)),
    (tuple[int, ...], [1, 2], (1, 2)),
    (fractions.Fraction, "1/2", fractions.Fraction(1, 2)),
    (decimal.Decimal, 1.5, decimal.Decimal("1.5")),
    (ipaddress.IPv4Address, "1.2.3.4", ipaddress.IPv4Address("1.2.3.4")),
    (zoneinfo.ZoneInfo, "Asia/Jakarta", zoneinfo.ZoneInfo("Asia/Jakarta")),
    (re.Pattern[str], "a+", re.compile("a+")),
    (HttpUrl, "https://a.id/x", HttpUrl("https://a.id/x")),
    (SecretStr, "rahasia", SecretStr("rahasia")),
    (JsonValue, {"a": [None]}, {"a": [None]}),
    (Json[list[int]], "[1]", [1]),
    (Base64Bytes, "YWJj", b"abc"),
    (conint(ge=1), 3, 3),
    (constr(pattern=r"^PRD\d+$"), "PRD001", "PRD001"),
    (PositiveInt, 3, 3),
    (StrictInt, 3, 3),
    (Annotated[list[int], annotated_types.Len(1, 2)], [1], [1]),
    (Annotated[float, Field(multiple_of=0.5)], 1.5, 1.5),
    (T, {"a": 1}, {"a": 1}),
    (object, [1], [1]),
    (None, None, None),
]


@pytest.mark.parametrize(("hint", "value", "wanted"), KINDS)
def test_the_schema_takes_the_value_and_the_function_gets_what_its_hint_says(
    hint: Any, value: Any, wanted: Any
) -> None:
    def f(x: Any, _lain: int = 0) -> Any:
        return x

    f.__annotations__["x"] = hint
    made = as_tool(f)
    schema = dict(made.contract.parameters)
    assert jsonschema_rs.validator_for(schema).is_valid({"x": value})
    got = call(made, x=value)
    assert got == wanted
    assert type(got) is type(wanted)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Annotated[Kucing | Anjing, Field(discriminator="jenis")], {"jenis": "ikan"}),
        (Kotak[int], {"isi": "a"}),
        (conint(ge=1), 0),
        (constr(pattern=r"^PRD\d+$"), "X"),
        (Annotated[list[int], annotated_types.Len(1, 2)], []),
        (AwareDatetime, "2024-01-01T00:00:00"),
        (dict[Kata, int], {"y": 1}),
        (Level, 7),
        (bool, 1),
        (int, True),
        (int, 1.5),
        (str, 1),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(hint: Any, value: Any) -> None:
    def f(x: Any, _lain: int = 0) -> Any:
        return x

    f.__annotations__["x"] = hint
    assert message(as_tool(f), x=value).startswith("x")


# ── callables ────────────────────────────────────────────────────────────────────────────────────────────────────────


@functools.lru_cache
def tersimpan(a: int) -> int:
    """Tersimpan.

    Args:
        a: angka
    """
    return a


@validate_call
def diperiksa(a: int) -> int:
    """Diperiksa.

    Args:
        a: angka
    """
    return a


def _wrapping(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*positional: Any, **named: Any) -> Any:
        return function(*positional, **named)

    return inner


@_wrapping
def terbungkus(a: int) -> int:
    """Terbungkus.

    Args:
        a: angka
    """
    return a


@_wrapping
async def terbungkus_async(a: int) -> int:
    """Terbungkus.

    Args:
        a: angka
    """
    return a


class Toko:
    """Toko."""

    def tambah(self, a: int, b: int = 0) -> int:
        """Tambah.

        Args:
            a: angka
        """
        return a + b

    lebih = functools.partialmethod(tambah, b=0)

    async def nanti(self, a: int) -> int:
        """Nanti.

        Args:
            a: angka
        """
        return a

    @tool(effect="read")
    @staticmethod
    def statis(a: int) -> int:
        """Statis.

        Args:
            a: angka
        """
        return a

    @classmethod
    @tool(effect="read")
    def kelas(cls, a: int) -> int:
        """Kelas.

        Args:
            a: angka
        """
        return a


class Panggil:
    async def __call__(self, a: int) -> int:
        """Panggil.

        Args:
            a: angka
        """
        return a


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (tersimpan, "tersimpan"),
        (diperiksa, "diperiksa"),
        (terbungkus, "terbungkus"),
        (terbungkus_async, "terbungkus_async"),
        (Toko().tambah, "tambah"),
        (Toko().lebih, "tambah"),
        (Toko().nanti, "nanti"),
        (Toko().statis, "statis"),
        (Toko.kelas, "kelas"),
        (Panggil(), "Panggil"),
        (functools.partial(Panggil()), "Panggil"),
        (functools.partial(functools.partial(Toko().tambah, b=3), b=0), "tambah"),
    ],
)
def test_every_kind_of_callable_is_read_and_runs(function: Any, name: str) -> None:
    made = as_tool(function)
    assert made.name == name
    assert made.contract.parameters["properties"]["a"] == {"type": "integer", "description": "angka"}
    checked = made.validate({"a": 5})
    assert not isinstance(checked, Fault)
    assert asyncio.run(execute(made, checked.text, CONTEXT)).text == "5"
