"""What the model of the documents says: replies for each question that stands in them. Decides nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tukang.conversation import Usage
from tukang.mock.values import Asked
from tukang.models.scripted import Fails, Says, ScriptedCall


def _calls(*named: tuple[str, dict[str, Any]], thinking: str = "", usage: Usage | None = None) -> Says:
    calls = tuple(ScriptedCall(name, arguments) for name, arguments in named)
    return Says(thinking=thinking, calls=calls, usage=usage or Usage(input=210, output=18))


def _says(*text: str, thinking: str = "", usage: Usage | None = None) -> Says:
    return Says(text, thinking=thinking, usage=usage or Usage(input=260, output=12))


_STOCK = ("cek_stok", {"kode": "BRG001"})

SCRIPT: dict[str, list[Says]] = {
    # README, and single-shot everywhere
    "Berapa stok BRG001?": [_calls(_STOCK), _says("Stok BRG001", " ada 7.")],
    # parallel
    "Berapa stok BRG001 dan BRG002?": [
        _calls(_STOCK, ("cek_stok", {"kode": "BRG002"})),
        _says("BRG001 ada 7, ", "BRG002 habis."),
    ],
    # several rounds
    "Kalau BRG001 masih ada, berapa harganya?": [
        _calls(_STOCK),
        _calls(("cek_harga", {"kode": "BRG001"})),
        _says("Masih ada 7, ", "harganya Rp 85.000."),
    ],
    # streaming, with thinking where the model thinks
    "Berapa harga BRG002?": [
        _calls(("cek_harga", {"kode": "BRG002"})),
        _says("Harga BRG002 ", "Rp 120.000."),
    ],
    "Pikirkan dulu: mana yang lebih murah, BRG001 atau BRG002?": [
        _calls(("cek_harga", {"kode": "BRG001"}), ("cek_harga", {"kode": "BRG002"}), thinking="Cek keduanya.\n"),
        _says("Yang lebih murah BRG001,", " Rp 85.000.", thinking="85 < 120.\n"),
    ],
    # prompt caching: the second round reads what the first wrote
    "Berapa stok BRG002?": [
        _calls(("cek_stok", {"kode": "BRG002"}), usage=Usage(input=2140, output=18, cache_write=2100)),
        _says("Stok BRG002 ", "habis.", usage=Usage(input=2190, output=9, cache_read=2100)),
    ],
    # a session that goes on with another provider
    "Dan harganya?": [_calls(("cek_harga", {"kode": "BRG001"})), _says("Harganya ", "Rp 85.000.")],
    # a fallback: the first model has no working key
    "Berapa stok BRG003?": [
        Says(fails=Fails("authentication", "invalid x-api-key")),
        _calls(("cek_stok", {"kode": "BRG003"})),
        _says("Stok BRG003 ", "tidak ada."),
    ],
    # a server that is down
    "Apa kabar?": [Says(fails=Fails("overloaded", "overloaded, try again later", retry_after=0.01))] * 3,
    # data instead of words
    "Nota N-7, total Rp 120.000, sudah dibayar.": [
        _calls(("answer", {"nomor": "N-7", "total": 120000, "lunas": True})),
    ],
    "Barangnya rusak, saya kecewa.": [_calls(("answer", {"data": "keluhan"}))],
    # the calculator, on the command line
    "Berapa 12*8?": [_calls(("multiply", {"a": 12, "b": 8})), _says("12 × 8 = 96.")],
}


class Play:
    """Answers each question as its script says, from the beginning; what is not in it is answered with "Baik."."""

    def __init__(self) -> None:
        self._question = ""
        self._places: Counter[str] = Counter()

    def __call__(self, asked: Asked) -> Says:
        if not asked.results:  # what comes with results is a note of the loop's, and no question
            self._question = asked.text
        replies = SCRIPT.get(self._question, [])
        place = self._places[self._question]
        self._places[self._question] += 1
        return replies[place] if place < len(replies) else Says("Baik.")
