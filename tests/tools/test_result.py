"""Results, as the model reads them."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import logging
import numbers
import pathlib
import uuid
import warnings
from collections import OrderedDict, deque
from types import MappingProxyType, SimpleNamespace
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel, SecretStr

from tukang.conversation import File, Image, Text
from tukang.errors import ToolWarning
from tukang.tools.result import Unwritable, content


class Warna(enum.Enum):
    MERAH = "merah"


class Produk(BaseModel):
    nama: str
    waktu: datetime.date = datetime.date(2024, 5, 1)


@dataclasses.dataclass
class Titik:
    x: int
    dalam: Any = None


class Baris(msgspec.Struct):
    a: int


class Angka:
    """Like a NumPy scalar or array."""

    def tolist(self) -> list[int]:
        return [1, 2]


class Bilangan:
    """A number of another library: it says that it is real, and can be made a float."""

    def __float__(self) -> float:
        return 2.5


numbers.Real.register(Bilangan)


def text(value: Any, **options: Any) -> str:
    (part,) = content(value, "alat", **options)
    assert isinstance(part, Text)
    return part.text


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("Rp 15.000.000 – é 你", "Rp 15.000.000 – é 你"),
        ("", ""),
        ({"nama": "é你😀", "stok": 3}, '{"nama":"é你😀","stok":3}'),
        ([1, "a", None, True], '[1,"a",null,true]'),
        ((1, 2), "[1,2]"),
        ({1}, "[1]"),
        (frozenset({"a"}), '["a"]'),
        (5, "5"),
        (2**80, str(2**80)),
        (1.5, "1.5"),
        (True, "true"),
        ({"result": Bilangan()}, '{"result":2.5}'),
        (float("nan"), "null"),
        ({"a": float("inf")}, '{"a":null}'),
        (decimal.Decimal("1200000.50"), '"1200000.50"'),
        (datetime.datetime(2024, 5, 1, 10, tzinfo=datetime.UTC), '"2024-05-01T10:00:00Z"'),
        (datetime.date(2024, 5, 1), '"2024-05-01"'),
        (datetime.timedelta(hours=1), '"PT3600S"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Warna.MERAH, '"merah"'),
        (Produk(nama="é"), '{"nama":"é","waktu":"2024-05-01"}'),
        (Titik(1, [Produk(nama="b")]), '{"x":1,"dalam":[{"nama":"b","waktu":"2024-05-01"}]}'),
        (Baris(1), '{"a":1}'),
        (MappingProxyType({"a": {1: "b"}}), '{"a":{"1":"b"}}'),
        (OrderedDict(a=1), '{"a":1}'),
        (deque([1]), "[1]"),
        (range(3), "[0,1,2]"),
        (pathlib.PurePosixPath("/tmp/a"), '"/tmp/a"'),
        (SecretStr("rahasia"), '"**********"'),
        ({"a": Angka()}, '{"a":[1,2]}'),
        ({"a": 1}.keys(), '["a"]'),
        ({"a": 1}.values(), "[1]"),
        ({"a": 1}.items(), '[["a",1]]'),
        (SimpleNamespace(a=datetime.date(2024, 5, 1)), '{"a":"2024-05-01"}'),
        (
            [1, ValueError("stok habis; token=abcdefgh12345678")],
            '[1,{"error":"ValueError: stok habis; token=[secret]"}]',
        ),
        ({1: 2, 1.5: 3}, '{"1":2,"1.5":3}'),
        ([{True: 1, None: 2, "a": ({False: 3},)}], '[{"true":1,"null":2,"a":[{"false":3}]}]'),
        ({Warna.MERAH: 1, datetime.date(2024, 5, 1): 2}, '{"merah":1,"2024-05-01":2}'),
        (b"halo", "halo"),
        (bytearray(b"halo"), "halo"),
        ("a\ud800b", "a?b"),
    ],
)
def test_everything_is_text_or_json(value: Any, wanted: str) -> None:
    assert text(value) == wanted


def test_pictures_and_documents_are_parts() -> None:
    png = b"\x89PNG\r\n\x1a\n123"
    assert content(png, "alat") == (Image("image/png", png),)
    assert content(b"\xff\xd8\xff12", "alat") == (Image("image/jpeg", b"\xff\xd8\xff12"),)
    assert content(b"RIFF1234WEBP", "alat") == (Image("image/webp", b"RIFF1234WEBP"),)
    assert content(b"%PDF-1.7\xff", "alat") == (File("application/pdf", data=b"%PDF-1.7\xff"),)


def test_parts_are_taken_as_they_are() -> None:
    parts = [Text("gambar:"), Image("image/png", b"1")]
    assert content(parts, "alat") == tuple(parts)
    assert content(parts[1], "alat") == (parts[1],)


class Buram:
    pass


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Buram(), "a Buram"),
        ({"a": [Buram()]}, "a Buram"),
        (Buram, "a type"),
        ((n for n in (1, 2)), "a generator"),
        ({"a": iter([1])}, "a list_iterator"),
        ({(1, 2): 3}, "a dict whose keys are tuples"),
        ({"a": [{(1, 2): 3}]}, "a dict whose keys are tuples"),
        ({object(): 3}, "a object"),
        (b"\xff\xfe", "neither an image"),
        ({"a": "\ud800"}, "not Unicode"),
    ],
)
def test_what_cannot_be_written_names_its_type(value: Any, told: str) -> None:
    with pytest.raises(Unwritable, match=told):
        content(value, "alat")


def test_what_contains_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(Unwritable, match="contains itself"):
        content(ring, "alat")


def test_nothing_is_ok_and_the_developer_is_told() -> None:
    with pytest.warns(ToolWarning, match="tool 'alat' returned nothing"):
        assert text(None) == '{"ok":true}'


def test_nothing_is_told_once_for_each_tool() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default", ToolWarning)
        for tool in ("satu", "dua", "satu", "dua"):
            content(None, tool)
    assert len(told) == 2


def test_a_warning_that_is_an_error_does_not_change_the_outcome(caplog: pytest.LogCaptureFixture) -> None:
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING, "tukang"):
        warnings.simplefilter("error")
        assert text(None) == '{"ok":true}'
    assert "returned nothing" in caplog.text


def test_none_is_null_for_a_function_that_may_return_it() -> None:
    assert text(None, none_is_null=True) == "null"
