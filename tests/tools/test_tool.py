"""`@tool`, and the schema and the check that come out of type hints."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import json
import pathlib
import uuid
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypedDict

from tukang.errors import ToolDefinitionError, ToolWarning
from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.outcome import Fault
from tukang.tools.policy import Policy
from tukang.tools.signature import Function
from tukang.tools.tool import Tool, Validated, tool

CONTEXT = CallContext(call_id="t1.r1.c1", idempotency_key="key")


class Warna(enum.Enum):
    MERAH = "merah"
    BIRU = "biru"


class Alamat(BaseModel):
    """Tempat tinggal."""

    kota: str
    title: str = "rumah"
    di_dalam: Alamat | None = None


@dataclasses.dataclass
class Titik:
    x: float
    y: float = 0.0


class Pesan(TypedDict):
    isi: str


class Pasangan(NamedTuple):
    kiri: int
    kanan: str


def call(made: Tool, **arguments: Any) -> Any:
    """Check arguments and call the function with them, as `execute` does."""
    checked = made.validate(arguments)
    assert isinstance(checked, Validated), checked
    positional, named = made.parameters.bind(checked.text, CONTEXT)
    return made.function(*positional, **named)


def message(made: Tool, **arguments: Any) -> str:
    """What the model is told about arguments that do not fit."""
    fault = made.validate(arguments)
    assert isinstance(fault, Fault), fault
    assert fault.kind == "invalid_arguments"
    return fault.message


# ── the decorator ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_decorated_function_stays_the_function() -> None:
    def tambah(a: int, b: int) -> int:
        return a + b

    assert tool(tambah) is tambah
    assert tool(effect="read")(tambah)(1, 2) == 3


def test_a_decorated_async_function_stays_async() -> None:
    @tool(effect="read")
    async def tambah(a: int, b: int) -> int:
        return a + b

    assert inspect.iscoroutinefunction(tambah)
    assert asyncio.run(tambah(1, 2)) == 3
    assert as_tool(tambah).signature.is_async


def test_the_policy_is_what_the_author_said() -> None:
    @tool(effect="write", timeout=5, terminal=True, repeatable=True, name="pesan", description="Buat pesanan.")
    def buat_pesanan(product_id: str) -> str:
        """Tidak dibaca."""
        return product_id

    made = as_tool(buat_pesanan)
    assert made.policy == Policy("write", 5, True, True, max_output=None)  # the answer is not cut
    assert made.said == {"effect", "timeout", "terminal", "repeatable"}
    assert (made.contract.name, made.contract.description) == ("pesan", "Buat pesanan.")


def test_nothing_said_means_unknown() -> None:
    @tool
    def f(a: int) -> int:
        return a

    assert as_tool(f).policy == Policy("unknown")
    assert as_tool(lambda_named).policy == Policy("unknown")


def lambda_named(a: int) -> int:
    return a


@pytest.mark.parametrize("wrong", [{"effect": "raed"}, {"timeout": 0}, {"timeout": -1}])
def test_an_impossible_policy_is_refused_where_it_is_written(wrong: dict[str, Any]) -> None:
    with pytest.raises(ToolDefinitionError, match="must be"):
        tool(**wrong)(lambda_named)


def test_a_policy_word_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(ToolDefinitionError, match="a policy has no 'efect'; did you mean 'effect'"):
        tool(efect="read")  # pyright: ignore


class Toko:
    """Sebuah toko."""

    def __init__(self, nama: str) -> None:
        self.nama = nama

    @tool(effect="read")
    def cek(self, product_id: str) -> str:
        """Cek.

        Argumen:
            product_id: ID produk
        """
        return f"{self.nama}:{product_id}"

    @tool(effect="read")
    async def cek_nanti(self, product_id: str) -> str:
        return product_id

    @tool(effect="read")
    @staticmethod
    def tetap(n: int) -> int:
        return n

    @classmethod
    @tool(effect="read")
    def kelas(cls, n: int) -> str:
        return f"{cls.__name__}{n}"

    def __call__(self, n: int) -> int:
        """Dipanggil."""
        return n


def test_methods_are_tools_of_their_instance() -> None:
    one, two = as_tool(Toko("A").cek), as_tool(Toko("B").cek)
    assert one.policy.effect == "read"
    assert list(one.contract.parameters["properties"]) == ["product_id"]
    assert (call(one, product_id="x"), call(two, product_id="x")) == ("A:x", "B:x")
    assert as_tool(Toko("A").cek_nanti).signature.is_async


def test_static_and_class_methods_are_tools() -> None:
    assert as_tool(Toko.tetap).policy.effect == as_tool(Toko.kelas).policy.effect == "read"
    assert call(as_tool(Toko.tetap), n=1) == 1
    assert call(as_tool(Toko("A").kelas), n=1) == "Toko1"


def test_a_callable_object_is_a_tool() -> None:
    made = as_tool(Toko("A"))
    assert (made.contract.name, made.contract.description) == ("Toko", "Dipanggil.")
    assert call(made, n=4) == 4


class Bisu:
    """Doc kelas."""

    def __call__(self, n: int) -> int:
        return n


def test_an_object_without_a_docstring_of_its_own_has_that_of_its_class() -> None:
    assert as_tool(Bisu()).contract.description == "Doc kelas."


def test_a_bound_method_can_be_given_a_policy() -> None:
    toko = Toko("A")
    made = as_tool(tool(effect="read", name="lihat")(toko.cek))
    assert (made.contract.name, made.policy.effect, call(made, product_id="x")) == ("lihat", "read", "A:x")
    assert made.contract.description == "Cek."


def test_one_function_may_be_two_tools() -> None:
    def f(n: int) -> int:
        return n

    first = tool(effect="read", name="satu")(f)
    second = tool(effect="write", name="dua")(f)
    assert [as_tool(it).contract.name for it in (first, second)] == ["satu", "dua"]
    assert [as_tool(it).policy.effect for it in (first, second)] == ["read", "write"]


def test_what_a_partial_binds_is_not_in_the_schema() -> None:
    def cari(sumber: str, kata: str, batas: int = 3) -> tuple[str, str, int]:
        """Cari."""
        return sumber, kata, batas

    made = as_tool(tool(effect="read", name="cari")(functools.partial(cari, "db", batas=9)))
    assert list(made.contract.parameters["properties"]) == ["kata"]
    assert call(made, kata="x") == ("db", "x", 9)


def test_a_wrapped_function_shows_what_it_wraps() -> None:
    def wrap(function: Function) -> Function:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return [function(*args, **kwargs)]

        return inner

    @wrap
    @tool(effect="read")
    def f(n: int) -> int:
        """Apa."""
        return n

    made = as_tool(f)
    assert (made.policy.effect, made.contract.name, call(made, n=1)) == ("read", "f", [1])


# ── the schema ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_schema_of_the_design() -> None:
    @tool(effect="write", timeout=5)
    def buat_pesanan(
        product_id: str, quantity: Annotated[int, Field(ge=1)], catatan: str | None = None
    ) -> dict[str, Any]:
        """Buat pesanan.

        Argumen:
            product_id: ID unik produk, contoh: PRD001
        """
        return {"product_id": product_id, "quantity": quantity, "catatan": catatan}

    assert as_tool(buat_pesanan).contract.parameters == {
        "type": "object",
        "properties": {
            "product_id": {"type": "string", "description": "ID unik produk, contoh: PRD001"},
            "quantity": {"type": "integer", "minimum": 1},
            "catatan": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["product_id", "quantity"],
        "additionalProperties": False,
    }


def test_a_function_without_parameters() -> None:
    def jam() -> str:
        return "12.00"

    made = as_tool(jam)
    assert made.contract.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert call(made) == "12.00"


def test_descriptions_in_annotated_win() -> None:
    def f(
        a: Annotated[int, Field(description="dari Field")],
        b: Annotated[int, "dari teks"],
        c: int = Field(3, description="dari default", ge=1),
        d: int = 4,
    ) -> tuple[int, int, int, int]:
        """F.

        Args:
            a: dari docstring
            b: dari docstring
            c: dari docstring
            d: dari docstring
        """
        return a, b, c, d

    made = as_tool(f)
    described = {name: schema["description"] for name, schema in made.contract.parameters["properties"].items()}
    assert described == {"a": "dari Field", "b": "dari teks", "c": "dari default", "d": "dari docstring"}
    assert call(made, a=1, b=2) == (1, 2, 3, 4)
    assert message(made, a=1, b=2, c=0) == "c: 0 is not allowed: should be greater than or equal to 1"


def semua(
    pilihan: Literal["a", "b"],
    warna: Warna,
    alamat: Alamat,
    titik: Titik,
    pesan: Pesan,
    pasangan: Pasangan,
    waktu: datetime.datetime,
    hari: datetime.date,
    lama: datetime.timedelta,
    kunci: uuid.UUID,
    harga: decimal.Decimal,
    berkas: pathlib.Path,
    himpunan: set[int],
    ganda: tuple[int, str],
    bebas: dict[str, Any],
    salah_satu: int | str,
    boleh_kosong: str | None,
    mentah: bytes,
    pecahan: float,
    apa_saja,  # type: ignore
    /,
    _tersembunyi: int,
    copy: str,
    model_config: bool,
    *,
    daftar: list[Alamat] | None = None,
    tanpa: int = None,  # type: ignore  # noqa: RUF013
) -> dict[str, Any]:
    return dict(locals())


VALUES: dict[str, Any] = {
    "pilihan": "a",
    "warna": "biru",
    "alamat": {"kota": "Solo", "di_dalam": {"kota": "Jawa"}},
    "titik": {"x": 1},
    "pesan": {"isi": "hai"},
    "pasangan": [1, "b"],
    "waktu": "2024-05-01T10:00:00+07:00",
    "hari": "2024-05-01",
    "lama": "PT1H",
    "kunci": "12345678-1234-5678-1234-567812345678",
    "harga": "15000000.50",
    "berkas": "/tmp/a",
    "himpunan": [1, 2, 2],
    "ganda": [1, "a"],
    "bebas": {"a": [1, None]},
    "salah_satu": "5",
    "boleh_kosong": None,
    "mentah": "abc",
    "pecahan": 3,
    "apa_saja": [None],
    "_tersembunyi": 1,
    "copy": "c",
    "model_config": True,
}


def test_every_kind_of_hint_gives_python_values() -> None:
    got = call(as_tool(semua), **VALUES)
    assert got["warna"] is Warna.BIRU
    assert got["alamat"] == Alamat(kota="Solo", di_dalam=Alamat(kota="Jawa"))
    assert got["titik"] == Titik(1.0)
    assert got["pasangan"] == Pasangan(1, "b")
    assert got["waktu"] == datetime.datetime.fromisoformat("2024-05-01T10:00:00+07:00")
    assert got["hari"] == datetime.date(2024, 5, 1)
    assert got["lama"] == datetime.timedelta(hours=1)
    assert got["kunci"] == uuid.UUID("12345678-1234-5678-1234-567812345678")
    assert got["harga"] == decimal.Decimal("15000000.50")
    assert got["berkas"] == pathlib.Path("/tmp/a")
    assert got["himpunan"] == {1, 2}
    assert got["ganda"] == (1, "a")
    assert got["salah_satu"] == "5"
    assert got["mentah"] == b"abc"
    assert (got["_tersembunyi"], got["copy"], got["model_config"]) == (1, "c", True)
    assert (got["daftar"], got["tanpa"]) == (None, None)


def test_no_titles_are_made_up_and_own_names_stay() -> None:
    schema = as_tool(semua).contract.parameters
    assert '"title": "' not in json.dumps(schema)
    assert "title" in schema["$defs"]["Alamat"]["properties"]
    assert schema["$defs"]["Alamat"]["description"] == "Tempat tinggal."


def test_definitions_are_there_only_when_used() -> None:
    assert set(as_tool(semua).contract.parameters["$defs"]) == {"Alamat", "Pasangan", "Pesan", "Titik", "Warna"}
    assert "$defs" not in as_tool(lambda_named).contract.parameters


def test_the_schema_accepts_what_the_function_accepts() -> None:
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(as_tool(semua).contract.parameters), validate_formats=True)
    assert validator.is_valid(VALUES | {"himpunan": [1, 2]})


# ── the check ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"pilihan": "c"}, "pilihan: \"c\" is not allowed: should be 'a' or 'b'"),
        ({"warna": "hijau"}, "warna: \"hijau\" is not allowed: should be 'merah' or 'biru'"),
        ({"alamat": {"kota": 1}}, "alamat.kota: 1 is not allowed: should be a valid string"),
        ({"alamat": {}}, "alamat.kota: is required"),
        ({"pesan": {"isi": "a", "lain": 1}}, "pesan.lain: 1 is not allowed: Extra inputs are not permitted"),
        ({"salah_satu": [1]}, "salah_satu: [1] is not allowed: should be a valid integer, or should be a valid string"),
        ({"boleh_kosong": 5}, "boleh_kosong: 5 is not allowed: should be a valid string"),
        ({"copy": None}, "copy: null is not allowed: should be a valid string"),
        ({"copy": 5}, "copy: 5 is not allowed: should be a valid string"),
        ({"model_config": 1}, "model_config: 1 is not allowed: should be a valid boolean"),
        ({"model_config": "yes"}, 'model_config: "yes" is not allowed: should be a valid boolean'),
        ({"ganda": [1]}, "ganda[1]: is required"),
        ({"daftar": [{"kota": "a"}, {"nama": "b"}]}, "daftar[1].kota: is required"),
        ({"Warnaa": 1}, "Warnaa: is not a parameter; did you mean warna?"),
        ({"p0": 1}, "p0: is not a parameter"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(wrong: dict[str, Any], told: str) -> None:
    assert message(as_tool(semua), **VALUES | wrong) == told


def test_a_missing_parameter_and_a_misspelt_one_are_both_told() -> None:
    def f(quantity: int) -> int:
        return quantity

    fault = as_tool(f).validate({"Quantiti": 1})
    assert fault == Fault(
        "invalid_arguments",
        "quantity: is required; Quantiti: is not a parameter; did you mean quantity?",
        "Parameters: quantity (required).",
    )


def test_many_faults_are_kept_short() -> None:
    fault = as_tool(semua).validate({})
    assert isinstance(fault, Fault)
    assert fault.message.endswith("; and 20 more")


def test_null_for_an_optional_parameter_is_told_to_be_left_out() -> None:
    def f(batas: int = 10) -> int:
        return batas

    made = as_tool(f)
    assert message(made, batas=None).endswith("; leave it out to use its default")
    assert call(made) == 10


def test_null_is_a_value_where_the_schema_has_it() -> None:
    def f(a: int | None, b: int = None) -> tuple[Any, Any]:  # type: ignore  # noqa: RUF013
        return a, b

    assert call(as_tool(f), a=None, b=None) == (None, None)


@pytest.mark.parametrize("text", ["true", "null", "123", "[1]", '{"a": 1}', ""])
def test_a_string_stays_a_string(text: str) -> None:
    def f(teks: str) -> str:
        return teks

    assert call(as_tool(f), teks=text) == text


def test_strings_are_read_where_no_string_is_allowed() -> None:
    def f(n: int, daftar: list[int], ya: bool) -> tuple[int, list[int], bool]:
        return n, daftar, ya

    checked = as_tool(f).validate({"n": "200000", "daftar": "['4', 12]", "ya": "false"})
    assert checked == Validated(
        {"n": 200000, "daftar": [4, 12], "ya": False}, '{"daftar":[4,12],"n":200000,"ya":false}', coerced=True
    )


def test_integers_of_any_size_arrive_exactly() -> None:
    def f(n: int) -> int:
        return n

    assert call(as_tool(f), n=2**200) == 2**200


def odd(value: int) -> int:
    if value == 0:
        raise KeyError("nol")  # not what Pydantic expects of a validator
    if value % 2 == 0:
        raise ValueError("harus ganjil")
    return value


def test_a_validator_of_the_author_speaks_to_the_model() -> None:
    def f(n: Annotated[int, AfterValidator(odd)]) -> int:
        return n

    made = as_tool(f)
    assert call(made, n=3) == 3
    assert message(made, n=2) == "n: 2 is not allowed: harus ganjil"
    assert message(made, n=0) == "arguments: could not be checked: KeyError: 'nol'"


def test_half_a_surrogate_pair_is_a_fault() -> None:
    def f(teks: str) -> str:
        return teks

    assert "surrogate" in message(as_tool(f), teks="\ud800")


def test_a_long_value_is_shortened_in_the_fault() -> None:
    def f(n: int) -> int:
        return n

    assert len(message(as_tool(f), n="x" * 10_000)) < 200


# ── the context ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_context_is_given_and_not_in_the_schema() -> None:
    def f(n: int, konteks: CallContext) -> tuple[int, CallContext]:
        return n, konteks

    def g(n: int, konteks: Annotated[CallContext | None, "apa"] = None) -> tuple[int, CallContext | None]:
        return n, konteks

    for function in (f, g):
        made = as_tool(function)
        assert list(made.contract.parameters["properties"]) == ["n"]
        assert call(made, n=1) == (1, CONTEXT)
        assert "is not a parameter" in message(made, n=1, konteks={})


def test_the_context_counts_its_seconds_down_to_none() -> None:
    assert CONTEXT.seconds_left() is None
    assert CallContext(call_id="a", idempotency_key="a", deadline=0).seconds_left() == 0


# ── definitions that are refused ─────────────────────────────────────────────────────────────────────────────────────


class Aneh:
    pass


def aneh(n: int, x: Aneh) -> None: ...
def tak_terbaca(x: Undefined) -> None: ...  # type: ignore  # noqa: F821
def banyak(*n: int) -> None: ...
def apa_pun(**n: int) -> None: ...
def alias(x: Annotated[int, Field(alias="y")]) -> None: ...


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (aneh, r"parameter 'x' of aneh\(\) has a type hint without a JSON Schema"),
        (tak_terbaca, r"parameter 'x' of tak_terbaca\(\): the type hint 'Undefined' cannot be resolved"),
        (banyak, r"banyak\(\) takes \*n, which no JSON Schema can name"),
        (apa_pun, r"apa_pun\(\) takes \*\*kwargs"),
        (alias, r"parameter 'x' of alias\(\) has an alias"),
        (Toko.cek, r"Toko.cek\(\) is a method without its object"),
        (print, r"print\(\) takes \*args"),
        (max, r"max\(\) has no signature to read"),
        (lambda n: n, r"tool name '<lambda>' is not legal"),
        (tool(name="cek.harga")(functools.partial(lambda_named)), r"tool name 'cek.harga' is not legal"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused(function: Function, told: str) -> None:
    with pytest.raises(ToolDefinitionError, match=told):
        as_tool(function)


def test_an_unreadable_result_hint_does_not_matter() -> None:
    def f(n: int) -> Undefined:  # type: ignore  # noqa: F821
        return n

    assert call(as_tool(f), n=1) == 1


@pytest.mark.parametrize(
    ("docstring", "told"),
    [
        ("X.\n\nArgs:\n    lihat manual", "none could be read"),
        (
            "X.\n\nArgumen:\n    produk_id: ID",
            "describes 'produk_id', which it does not take; did you mean 'product_id'?",
        ),
    ],
)
def test_a_docstring_that_is_not_read_as_meant_is_warned_of(docstring: str, told: str) -> None:
    def f(product_id: str) -> str:
        return product_id

    f.__doc__ = docstring
    with pytest.warns(ToolWarning, match=told):
        as_tool(f)


@pytest.mark.parametrize(
    "docstring", ["X.\n\n@param n: berapa", "X.\n\nArgs: n: berapa", "X.\n\nKatalog:\n    n: berapa"]
)
def test_a_description_in_a_form_that_is_not_read_is_warned_of(docstring: str) -> None:
    def f(n: int) -> int:
        return n

    def g(n: Annotated[int, "berapa"]) -> int:
        return n

    f.__doc__ = g.__doc__ = docstring
    with pytest.warns(ToolWarning, match=r"f\(\): its docstring seems to describe 'n'.*write 'Args:' or 'Argumen:'"):
        as_tool(f)
    as_tool(g)  # it has its description: nothing is lost


def test_a_context_that_cannot_be_passed_by_name_is_refused() -> None:
    def look(context: CallContext, /, what: str) -> str:
        return f"{context.call_id} {what}"

    with pytest.raises(ToolDefinitionError, match="passed by name"):
        as_tool(look)
