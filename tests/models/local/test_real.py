"""The real engine and the real weights: the assistants' own questions, cancelling, several loops. Minutes, not seconds."""

from __future__ import annotations

import asyncio
import signal
import time
from importlib.util import find_spec
from typing import Any

import pytest

from tukang.agent import Agent
from tukang.answer import Answer
from tukang.assistants import cuaca, hitung
from tukang.conversation import user
from tukang.models.base import ModelRequest, TextDelta
from tukang.models.local import LocalModel
from tukang.models.local.weights import is_installed

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or not is_installed(), reason="the extra tukang[local] is not installed"
    ),
]

CATALOGUE = {
    "PRD001": {"nama": "Laptop Gaming ASUS ROG", "harga": 15_000_000, "stok": 3},
    "PRD002": {"nama": "SSD Samsung 970 EVO 1TB", "harga": 1_200_000, "stok": 15},
    "PRD003": {"nama": "RAM Corsair DDR5 16GB", "harga": 850_000, "stok": 0},
}


class Shop:
    """A shop that checks stock itself and remembers its orders."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, int, str]] = []

    def tools(self) -> list[Any]:
        return [self.cek_harga_produk, self.buat_pesanan]

    def cek_harga_produk(self, product_id: str) -> dict[str, Any]:
        """Cek harga dan stok sebuah produk. Selalu dipakai sebelum membuat pesanan."""
        return CATALOGUE.get(product_id.upper(), {"error": "produk tidak ditemukan"})

    def buat_pesanan(self, product_id: str, quantity: int, user_id: str) -> dict[str, Any]:
        """Buat pesanan sebuah produk untuk pengguna."""
        if CATALOGUE[product_id.upper()]["stok"] < quantity:
            return {"error": "stok habis, pesanan tidak dibuat"}
        self.orders.append((product_id, quantity, user_id))
        return {"order_id": "ORD5521", "status": "pending"}


def called(answer: Answer) -> list[str]:
    return [step.tool for step in answer.steps]


def shop(rules: str = "") -> tuple[Agent, Shop]:
    own = Shop()
    rules = f"Kamu asisten belanja. Cek harga dulu sebelum memesan. {rules}"
    return Agent(LocalModel(), rules, tools=own.tools(), language="id", preamble=False), own


def test_shop_a_price() -> None:
    agent, _ = shop()
    answer = agent.run("Berapa harga SSD Samsung PRD002?")
    assert called(answer) == ["cek_harga_produk"]
    assert "1.200.000" in answer.text or "1200000" in answer.text


def test_shop_an_order_for_the_caller() -> None:
    agent, own = shop("Pengguna yang sedang berbicara adalah USR042.")
    answer = agent.run("Berapa harga laptop PRD001? Kalau ada stoknya, tolong pesan 1 unit untuk saya.")
    assert called(answer) == ["cek_harga_produk", "buat_pesanan"]
    assert own.orders == [("PRD001", 1, "USR042")]
    assert "ORD5521" in answer.text


def test_shop_out_of_stock() -> None:
    agent, own = shop("Pengguna yang sedang berbicara adalah USR042.")
    answer = agent.run("Tolong pesan RAM PRD003 sebanyak 2 unit.")
    assert own.orders == []
    assert any(word in answer.text.lower() for word in ("habis", "tidak tersedia", "kosong", "stok"))


def test_weather_in_two_cities() -> None:
    question = "Saya berencana pergi ke Bandung besok. Bagaimana cuacanya? Apakah lebih sejuk dibandingkan Surabaya?"
    answer = cuaca.agent(LocalModel()).run(question)
    assert called(answer) == ["check_weather", "check_weather"]
    assert "Bandung" in answer.text
    assert "24" in answer.text


def test_weather_of_two_kinds_in_two_cities() -> None:
    question = "What are the current weather conditions and temperature in New York and London?"
    answer = cuaca.agent(LocalModel()).run(question)
    assert sorted(called(answer)) == ["get_conditions"] * 2 + ["get_temperature"] * 2
    assert all(figure in answer.text for figure in ("22", "15"))


def test_a_chain_of_weather_and_conversion() -> None:
    answer = cuaca.agent(LocalModel()).run("Berapa suhu di Jakarta dalam Fahrenheit?")
    assert called(answer) == ["check_weather", "konversi_suhu"]
    assert "89" in answer.text


def test_a_calculation_in_two_rounds() -> None:
    answer = hitung.agent(LocalModel()).run("What is (11434+12341)*412?")
    assert called(answer) == ["add", "multiply"]
    assert "9795300" in answer.text.replace(",", "").replace(".", "")


def test_memory_is_the_session_s() -> None:
    agent = Agent(LocalModel())
    chat = agent.session("one")
    chat.run("Saya punya 4 pisang.")
    assert "3" in chat.run("Saya makan 1 pisang. Sekarang sisa berapa?").text


def test_cancelling_stops_the_engine_and_the_next_request_is_served() -> None:
    model = LocalModel()

    async def run() -> tuple[float, str]:
        await model.prepare(ModelRequest("", [user("Halo")]))
        async with asyncio.timeout(120):
            stream = model.stream(ModelRequest("", [user("Ceritakan dongeng yang sangat panjang tentang kancil.")]))
            async for event in stream:
                if isinstance(event, TextDelta):
                    break
            await stream.aclose()  # type: ignore[attr-defined]
        began = time.monotonic()
        words = [
            event.text async for event in model.stream(ModelRequest("", [user("Halo")])) if isinstance(event, TextDelta)
        ]
        return time.monotonic() - began, "".join(words)

    _, text = asyncio.run(run())
    assert text


def test_one_engine_serves_one_loop_after_the_other_and_leaves_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    model = LocalModel()

    async def say() -> str:
        request = ModelRequest("", [user("Halo")])
        return "".join([event.text async for event in model.stream(request) if isinstance(event, TextDelta)])

    assert asyncio.run(say())
    assert asyncio.run(say())
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_two_turns_at_once_both_end() -> None:
    model = LocalModel()

    async def say(text: str) -> str:
        request = ModelRequest("", [user(text)])
        return "".join([event.text async for event in model.stream(request) if isinstance(event, TextDelta)])

    async def both() -> list[str]:
        return await asyncio.gather(say("Apa ibu kota Jepang?"), say("What is the capital of France?"))

    tokyo, paris = asyncio.run(both())
    assert "Tokyo" in tokyo
    assert "Paris" in paris
