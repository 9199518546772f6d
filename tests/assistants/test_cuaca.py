"""The weather assistant's tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tukang import NothingDone
from tukang.assistants import cuaca
from tukang.models.scripted import Scripted, call


@pytest.mark.parametrize(
    ("city", "celsius", "sky", "humidity"),
    [
        ("Jakarta", 32, "cerah berawan", 70),
        ("bandung", 24, "berawan", 85),
        (" SURABAYA ", 34, "cerah", 65),
        ("Yogyakarta", 28, "hujan ringan", 80),
    ],
)
def test_the_weather_at_home(city: str, celsius: int, sky: str, humidity: int) -> None:
    report = cuaca.check_weather(city)
    assert f"Di {city.strip().title()} suhunya {celsius} °C" in report["ringkasan"]
    assert (report["suhu_celsius"], report["kondisi"], report["kelembapan_persen"]) == (celsius, sky, humidity)


def test_an_unknown_city_names_the_known_ones() -> None:
    with pytest.raises(NothingDone) as caught:
        cuaca.check_weather("Medan")
    assert "Medan" in caught.value.message
    assert all(city in (caught.value.hint or "") for city in ("Jakarta", "Bandung", "Surabaya", "Yogyakarta"))


@pytest.mark.parametrize(
    ("city", "temperature", "conditions"),
    [
        ("New York", "22 °C", "Partly cloudy"),
        ("new  york", "22 °C", "Partly cloudy"),
        ("London", "15 °C", "Rainy"),
        ("Tokyo", "18 °C", "Sunny"),
        ("Jakarta", "Unknown", "Unknown"),
        ("Atlantis", "Unknown", "Unknown"),
    ],
)
def test_temperature_and_sky_abroad(city: str, temperature: str, conditions: str) -> None:
    assert cuaca.get_temperature(city)["temperature"] == temperature
    assert cuaca.get_conditions(city)["conditions"] == conditions


@pytest.mark.parametrize(
    ("celsius", "fahrenheit", "kelvin"),
    [(32, 89.6, 305.15), (0, 32, 273.15), (-40, -40, 233.15), (36.6, 97.88, 309.75)],
)
def test_degrees_are_converted(celsius: float, fahrenheit: float, kelvin: float) -> None:
    assert cuaca.konversi_suhu(celsius) == {"celsius": celsius, "fahrenheit": fahrenheit, "kelvin": kelvin}


def test_nothing_is_colder_than_absolute_zero() -> None:
    with pytest.raises(NothingDone, match="nol mutlak"):
        cuaca.konversi_suhu(-300)


def test_four_calls_in_one_reply_are_all_answered() -> None:
    asked = [call(tool, city=city) for city in ("New York", "London") for tool in ("get_conditions", "get_temperature")]
    answer = cuaca.agent(Scripted([asked, "done"])).run("…")
    results: list[Any] = [json.loads(step.result) for step in answer.steps]
    assert [result.get("conditions") or result.get("temperature") for result in results] == [
        "Partly cloudy",
        "22 °C",
        "Rainy",
        "15 °C",
    ]
