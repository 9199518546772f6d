"""A weather assistant over a small table of cities. The figures are fixed; the questions about them are real.

Two kinds of cities, as two services would have them: full reports at home, temperature and sky abroad.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tukang.agent import Agent
from tukang.models.base import Model, Settings
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import tool

_INDONESIA: Mapping[str, tuple[int, str, int]] = {
    "Jakarta": (32, "cerah berawan", 70),
    "Bandung": (24, "berawan", 85),
    "Surabaya": (34, "cerah", 65),
    "Yogyakarta": (28, "hujan ringan", 80),
}
"""City → °C, sky, humidity in percent."""

_ABROAD: Mapping[str, tuple[int, str]] = {
    "New York": (22, "Partly cloudy"),
    "London": (15, "Rainy"),
    "Tokyo": (18, "Sunny"),
}
"""City → °C, sky."""

_ABSOLUTE_ZERO = -273.15


@tool(effect="read")
def check_weather(city: str) -> dict[str, Any]:
    """Cuaca lengkap (suhu, kondisi, kelembapan) satu kota di Indonesia: Jakarta, Bandung, Surabaya, Yogyakarta.

    Argumen:
        city: nama kota, contoh: Bandung
    """
    name = _find(city, _INDONESIA)
    if name is None:
        raise NothingDone(f"tidak ada data cuaca untuk {city!r}", f"Kota yang ada: {', '.join(_INDONESIA)}.")
    celsius, sky, humidity = _INDONESIA[name]
    return {
        # said in a sentence as well: a small model compares sentences better than it compares numbers
        "ringkasan": f"Di {name} suhunya {celsius} °C, langit {sky}, kelembapan {humidity} %.",
        "suhu_celsius": celsius,
        "kondisi": sky,
        "kelembapan_persen": humidity,
    }


@tool(effect="read")
def get_temperature(city: str) -> dict[str, Any]:
    """Temperature now, in Celsius, of one city abroad: New York, London, Tokyo. Not for Indonesia.

    Args:
        city: name of the city, such as New York
    """
    name = _find(city, _ABROAD)
    return {"city": name or city, "temperature": f"{_ABROAD[name][0]} °C" if name else "Unknown"}


@tool(effect="read")
def get_conditions(city: str) -> dict[str, Any]:
    """Sky conditions now (sunny, rain …) of one city abroad: New York, London, Tokyo. Not for Indonesia.

    Args:
        city: name of the city, such as New York
    """
    name = _find(city, _ABROAD)
    return {"city": name or city, "conditions": _ABROAD[name][1] if name else "Unknown"}


@tool(effect="read")
def konversi_suhu(celsius: float) -> dict[str, float]:
    """Fahrenheit dan Kelvin dari suhu Celsius.

    Argumen:
        celsius: suhu dalam Celsius, contoh: 32
    """
    if celsius < _ABSOLUTE_ZERO:
        raise NothingDone(f"{celsius:g} °C lebih dingin daripada nol mutlak ({_ABSOLUTE_ZERO} °C)")
    return {
        "celsius": _plain(celsius),
        "fahrenheit": _plain(celsius * 9 / 5 + 32),
        "kelvin": _plain(celsius - _ABSOLUTE_ZERO),
    }


def agent(model: str | Model | None = None) -> Agent:
    """The assistant. `model` is as for `Agent`."""
    return Agent(
        model,
        "Kamu asisten cuaca. Ambil setiap suhu dan kondisi dari alat, satu panggilan untuk satu kota; jangan menebak. "
        "Suhu dalam Fahrenheit atau Kelvin: cek dulu suhunya, lalu pakai konversi_suhu. "
        "Kalau kotanya tidak dikenal, sebutkan kota yang ada.",
        tools=[check_weather, get_temperature, get_conditions, konversi_suhu],
        settings=Settings(temperature=0.1, max_tokens=1024),
        name="cuaca",
        language="id",
    )


def _find(city: str, table: Mapping[str, Any]) -> str | None:
    wanted = " ".join(city.casefold().split())
    return next((name for name in table if name.casefold() == wanted), None)


def _plain(degrees: float) -> float:
    """Two decimals, and none where there is nothing behind the point."""
    rounded = round(degrees, 2)
    return int(rounded) if rounded == int(rounded) else rounded
