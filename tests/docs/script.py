"""What the model of the documents says: replies for each question that stands in them. Decides nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tukang.conversation import Usage
from tukang.mock.values import Asked
from tukang.models.scripted import Fails, Says, ScriptedCall, ScriptedServed


def _calls(*named: tuple[str, dict[str, Any]], thinking: str = "", usage: Usage | None = None) -> Says:
    calls = tuple(ScriptedCall(name, arguments) for name, arguments in named)
    return Says(thinking=thinking, calls=calls, usage=usage or Usage(input=210, output=18))


def _says(*text: str, thinking: str = "", usage: Usage | None = None) -> Says:
    return Says(text, thinking=thinking, usage=usage or Usage(input=260, output=12))


def _served(tool: str, result: str = "", *, asks: bool = False, **arguments: Any) -> ScriptedServed:
    return ScriptedServed(tool, arguments, result, asks=asks)


def _serves(*served: ScriptedServed, text: str = "", calls: tuple[str, dict[str, Any]] | None = None) -> Says:
    asked = () if calls is None else (ScriptedCall(*calls),)
    return Says(text, calls=asked, usage=Usage(input=310, output=20), served=served)


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
    # a tool of another server
    "Kalau di Jakarta jam 12, di Jayapura jam berapa?": [
        _calls(
            (
                "time_convert_time",
                {"source_timezone": "Asia/Jakarta", "time": "12:00", "target_timezone": "Asia/Jayapura"},
            )
        ),
        _says("Di Jayapura jam 14.00."),
    ],
    # tools that the provider runs: docs/modes.md and the README
    "Apakah BRG001 lebih murah di toko kita?": [
        _serves(
            _served("web_search", "BRG001 di toko lain, Rp 90.000 — https://contoh.id/brg001", query="BRG001"),
            calls=("cek_harga", {"kode": "BRG001"}),
        ),
        _says("Ya: Rp 85.000, ", "di toko lain Rp 90.000."),
    ],
    "Berapa harga emas hari ini?": [
        _serves(
            _served("web_search", "Emas — https://contoh.id/emas", query="harga emas"),
            text="Hari ini Rp 2.000.000 per gram.",
        ),
    ],
    "Pendekkan https://contoh.id/promo": [
        _serves(_served("zip1.create_short_url", asks=True, url="https://contoh.id/promo")),
        _serves(
            _served("zip1.create_short_url", "https://zip1.example/a7", url="https://contoh.id/promo"),
            text="Ini tautannya: https://zip1.example/a7",
        ),
    ],
    "Ada berapa BRG001 di gudang?": [_serves(_served("toko.cek_stok", "7", kode="BRG001"), text="Ada 7.")],
    "Apa isi harga.txt?": [
        _calls(("str_replace_based_edit_tool", {"command": "view", "path": "/workspace/harga.txt"})),
        _says("Satu baris: ", "BRG001 85000."),
    ],
    "Berapa harga SSD PRD002 di toko itu?": [
        _calls(("toko_cek_harga_produk", {"product_id": "PRD002"})),
        _says("Harganya ", "Rp 1.200.000."),
    ],
    # documents: docs/knowledge.md
    "Berapa lama cuti melahirkan?": [
        _calls(("cari_dokumen", {"kueri": "cuti melahirkan", "departemen": "SDM"})),
        _says("Tiga bulan ", "[sumber: cuti.md]."),
    ],
    "Berapa hari cuti menikah?": [_says("Tiga hari kerja ", "[sumber: cuti.md].")],
    # the calculator, on the command line
    "Berapa 12*8?": [_calls(("multiply", {"a": 12, "b": 8})), _says("12 × 8 = 96.")],
}


class Play:
    """Answers each question as its script says, from the beginning; what is not in it is answered with "Baik."."""

    def __init__(self) -> None:
        self._question = ""
        self._places: Counter[str] = Counter()

    def __call__(self, asked: Asked) -> Says:
        # what comes with results is a note of the loop's, and no question, unless the search was made without the model
        if not asked.results or asked.text in SCRIPT:
            self._question = asked.text
        replies = SCRIPT.get(self._question, [])
        place = self._places[self._question]
        self._places[self._question] += 1
        return replies[place] if place < len(replies) else Says("Baik.")
