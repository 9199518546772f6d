"""A calculator: the model reads the sum, the tools do it. Whole numbers stay whole and exact, whatever their size."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NoReturn

from tukang.agent import Agent
from tukang.models.base import Model, Settings
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import tool

Number = int | float

_MOST_BITS = 10_000
"""About 3,000 digits; beyond it a result is of no use to anyone, and takes long."""

_DIGITS = 15
"""What a float holds: 0.1 + 0.2 is 0.3."""

_WHOLE = 10**_DIGITS
"""Beyond it the last digits of a float mean nothing, and it is not shown as a whole number."""


@tool(effect="read")
def add(a: Number, b: Number) -> Number:
    """Add two numbers: a + b.

    Argumen:
        a: angka pertama
        b: angka kedua
    """
    return _kept(a + b) if isinstance(a, int) and isinstance(b, int) else _rounded(_exact(a) + _exact(b))


@tool(effect="read")
def subtract(a: Number, b: Number) -> Number:
    """Subtract: a - b.

    Argumen:
        a: angka yang dikurangi
        b: angka pengurang
    """
    return add(a, -b)


@tool(effect="read")
def multiply(a: Number, b: Number) -> Number:
    """Multiply two numbers: a * b.

    Argumen:
        a: angka pertama
        b: angka kedua
    """
    return _kept(a * b) if isinstance(a, int) and isinstance(b, int) else _rounded(_exact(a) * _exact(b))


@tool(effect="read")
def divide(a: Number, b: Number) -> Number:
    """Divide: a / b.

    Argumen:
        a: angka yang dibagi
        b: angka pembagi, bukan 0
    """
    if b == 0:
        raise NothingDone("tidak bisa membagi dengan nol", "Katakan bahwa pembagian dengan nol tidak terdefinisi.")
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return _kept(a // b)
    return _rounded(_exact(a) / _exact(b))


@tool(effect="read")
def power(base: Number, exponent: Number) -> Number:
    """Power: base ^ exponent; a square root has the exponent 0.5.

    Argumen:
        base: bilangan pokok
        exponent: pangkat
    """
    if base == 0 and exponent < 0:
        raise NothingDone("nol tidak bisa dipangkatkan dengan bilangan negatif")
    if base < 0 and exponent != int(exponent):
        raise NothingDone("bilangan negatif dengan pangkat pecahan tidak punya hasil nyata")
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if base.bit_length() * exponent > _MOST_BITS:
            _too_large()
        return base**exponent
    try:
        return _rounded(_exact(math.pow(base, exponent)))
    except OverflowError:
        _too_large()


def agent(model: str | Model | None = None) -> Agent:
    """The assistant. `model` is as for `Agent`."""
    return Agent(
        model,
        "Kamu kalkulator. Setiap perhitungan memakai alat, satu operasi untuk satu panggilan, dari dalam kurung ke luar; "
        "hasil satu alat dipakai di langkah berikutnya. Jangan menghitung di kepala. Sebutkan hasil akhirnya.",
        tools=[add, subtract, multiply, divide, power],
        settings=Settings(temperature=0.0, max_tokens=1024),
        name="hitung",
        language="id",
    )


def _exact(number: Number) -> Decimal:
    """The number as it is written, not as a float holds it: 0.1 is one tenth."""
    return Decimal(str(number))


def _kept(value: int) -> int:
    """A whole number, unless it is too long to read."""
    return value if value.bit_length() <= _MOST_BITS else _too_large()


def _rounded(value: Decimal) -> Number:
    """Within what a float holds, and whole where nothing is behind the point."""
    rounded = float(f"{value:.{_DIGITS}g}")
    if not math.isfinite(rounded):
        _too_large()
    return int(rounded) if rounded.is_integer() and abs(rounded) < _WHOLE else rounded


def _too_large() -> NoReturn:
    raise NothingDone("hasilnya terlalu besar untuk dihitung", "Katakan bahwa angkanya terlalu besar.")
