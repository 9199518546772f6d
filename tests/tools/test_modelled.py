"""A function that takes one Pydantic model: its fields are the tool's parameters."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, model_validator

from tests.tools.test_tool import CONTEXT, call, message
from tukang import tool
from tukang.errors import ToolDefinitionError, ToolWarning
from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.execute import execute


class Alamat(BaseModel):
    kota: str


class Pesanan(BaseModel):
    """Buat pesanan baru.

    Argumen:
        catatan: dari model
    """

    product_id: str = Field(description="dari Field")
    jumlah: int = Field(1, ge=1)
    alamat: Alamat | None = None
    catatan: str = ""


def test_the_fields_are_the_parameters() -> None:
    def pesan(data: Pesanan) -> Pesanan:
        """Pesan.

        Argumen:
            product_id: dari fungsi
            jumlah: dari fungsi
        """
        return data

    made = as_tool(pesan)
    schema = made.contract.parameters
    assert list(schema["properties"]) == ["product_id", "jumlah", "alamat", "catatan"]
    assert schema["required"] == ["product_id"]
    assert schema["additionalProperties"] is False
    assert not {"title", "description"} & set(schema)
    descriptions = {name: member.get("description") for name, member in schema["properties"].items()}
    assert descriptions == {
        "product_id": "dari Field",
        "jumlah": "dari fungsi",
        "alamat": None,
        "catatan": "dari model",
    }
    assert made.contract.description == "Pesan."
    assert call(made, product_id="PRD001", alamat={"kota": "Solo"}) == Pesanan(
        product_id="PRD001", alamat=Alamat(kota="Solo")
    )
    assert type(call(made, product_id="PRD001")) is Pesanan
    assert message(made, jumlah=0).split("; ") == [
        "product_id: is required",
        "jumlah: 0 is not allowed: should be greater than or equal to 1",
    ]
    assert message(made, product_id="a", jumalh=1) == "jumalh: is not a parameter; did you mean jumlah?"
    assert call(made, product_id="a", jumlah="2").jumlah == 2  # a string where no string is allowed


def test_a_context_beside_it_and_a_description_of_the_models_own() -> None:
    @tool(effect="read")
    async def pesan(data: Annotated[Pesanan, "apa saja"], /, *, konteks: CallContext) -> tuple[str, str]:
        return data.product_id, konteks.call_id

    made = as_tool(pesan)
    assert made.contract.description == "Buat pesanan baru."
    positional, named = made.parameters.bind('{"product_id":"a"}', CONTEXT)
    assert (positional, named) == ([Pesanan(product_id="a")], {"konteks": CONTEXT})


class Berulang(BaseModel):
    nama: str
    anak: list[Berulang] = []


def test_a_model_that_contains_itself() -> None:
    def f(data: Berulang) -> Berulang:
        return data

    made = as_tool(f)
    assert made.contract.parameters["type"] == "object"
    assert set(made.contract.parameters["properties"]) == {"nama", "anak"}
    assert call(made, nama="a", anak=[{"nama": "b"}]).anak[0].nama == "b"
    assert message(made, nama="a", anak=[{}]) == "anak[0].nama: is required"


class Beralias(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    user_id: str = Field(alias="userId", description="ID")
    jumlah: int = Field(1, validation_alias=AliasChoices("qty", "quantity"))


def test_aliases_are_the_names_and_every_name_the_model_reads_is_taken() -> None:
    def f(data: Beralias) -> tuple[str, int]:
        return data.user_id, data.jumlah

    made = as_tool(f)
    assert set(made.contract.parameters["properties"]) == {"userId", "qty"}
    assert call(made, userId="a", qty=2) == ("a", 2)
    assert call(made, user_id="a", quantity=3) == ("a", 3)
    assert "is not a parameter" in message(made, userId="a", banyak=1)


class Terbuka(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 0


class Longgar(BaseModel):
    model_config = ConfigDict(extra="ignore")
    a: int = 0


class Ketat(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = 0


def test_what_the_model_says_about_extra_members_counts() -> None:
    def terbuka(data: Terbuka) -> Any:
        return data.model_dump()

    def longgar(data: Longgar) -> Any:
        return data.model_dump()

    def ketat(data: Ketat) -> Any:
        return data.model_dump()

    assert call(as_tool(terbuka), a=1, b=2) == {"a": 1, "b": 2}
    assert as_tool(terbuka).contract.parameters["additionalProperties"] is True
    assert call(as_tool(longgar), a=1, b=2) == {"a": 1}
    assert message(as_tool(ketat), a=1, b=2) == "b: is not a parameter"


class Rentang(BaseModel):
    dari: int
    sampai: int

    @model_validator(mode="after")
    def berurutan(self) -> Rentang:
        if self.dari > self.sampai:
            raise ValueError("dari harus sebelum sampai")
        return self


def test_the_models_own_validator_speaks_to_the_model() -> None:
    def f(data: Rentang) -> int:
        return data.sampai - data.dari

    assert call(as_tool(f), dari=1, sampai=3) == 2
    assert "dari harus sebelum sampai" in message(as_tool(f), dari=3, sampai=1)


class Daftar(RootModel[list[int]]):
    pass


def test_in_all_other_cases_a_model_is_a_parameter_like_any_other() -> None:
    def dua(data: Pesanan, lagi: int) -> Any: ...
    def boleh(data: Pesanan | None = None) -> Any: ...
    def bawaan(data: Pesanan = Pesanan(product_id="a")) -> Any: ...  # noqa: B008
    def akar(data: Daftar) -> Any: ...

    for function in (dua, boleh, bawaan, akar):
        assert "data" in as_tool(function).contract.parameters["properties"]


def test_the_model_itself_is_no_tool_but_the_message_says_what_is() -> None:
    with pytest.raises(ToolDefinitionError, match=r"the class Pesanan is not a tool: give a function.*data: Pesanan"):
        as_tool(Pesanan)


def test_a_docstring_may_name_the_parameter_or_its_fields_and_nothing_else() -> None:
    def baik(data: Pesanan) -> Any:
        """Pesan.

        Args:
            data: pesanannya
        """

    def salah(data: Pesanan) -> Any:
        """Pesan.

        Args:
            produk_id: ID
        """

    as_tool(baik)
    with pytest.warns(ToolWarning, match=r"describes 'produk_id', which it does not take; did you mean 'product_id'"):
        as_tool(salah)


def test_it_runs() -> None:
    import asyncio

    def pesan(data: Pesanan) -> dict[str, Any]:
        return {"dipesan": data.jumlah}

    made = as_tool(pesan)
    assert asyncio.run(execute(made, '{"jumlah":2,"product_id":"a"}', CONTEXT)).text == '{"dipesan":2}'
