"""What a tool's description does: the same questions, the same documents, two descriptions, how often the tool is called.

    python -m bench.descriptions [--model local] [--most N] [--json OUT]

Half of the questions are about the company, and want a search; half are not, and want none. Each is asked of the assistant
`kebijakan` with the description that ships and with a careless one, and once more as the assistant is: with what certainly
is a look-up, or certainly none, decided before the model is asked (`route="auto"`). Only the first reply counts, so a turn
ends with it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from tukang import Agent, Limits, Settings, tool
from tukang.assistants import kebijakan
from tukang.models.base import Model

INTERNAL = (
    "Berapa hari cuti melahirkan?",
    "Apakah sisa cuti tahunan bisa dibawa ke tahun depan?",
    "Berapa plafon hotel untuk dinas ke Surabaya?",
    "Siapa yang menyetujui pembelian 80 juta?",
    "Kapan batas akhir klaim penggantian biaya?",
    "Boleh rilis ke produksi hari Jumat?",
    "Berapa panjang kata sandi minimal di kantor kita?",
    "Saya sakit dua hari, perlu surat dokter?",
    "Berapa uang siaga seminggu untuk petugas jaga?",
    "Berapa lama masa percobaan karyawan tetap?",
    "Bolehkah saya menerima hadiah dari pemasok?",
    "Berapa hari kerja dari rumah dalam seminggu?",
)
"""Questions that the documents answer."""

GENERAL = (
    "Halo, apa kabar?",
    "Apa ibu kota Jepang?",
    "Berapa 15 dikali 12?",
    "Siapa penulis Laskar Pelangi?",
    "Terjemahkan 'good morning' ke bahasa Indonesia.",
    "Tuliskan pantun tentang hujan.",
    "Apa bedanya TCP dan UDP?",
    "Terima kasih banyak ya!",
    "Apa warna campuran biru dan kuning?",
    "Jelaskan fotosintesis dalam satu kalimat.",
    "Planet mana yang paling besar di tata surya?",
    "Sebutkan tiga alat musik tradisional Indonesia.",
)
"""Questions that no document of a company answers."""


WAYS: Mapping[str, tuple[str, Literal["loop", "auto"]]] = {
    "good": (kebijakan.BAIK, "loop"),
    "careless": (kebijakan.CEROBOH, "loop"),
    "good, routed": (kebijakan.BAIK, "auto"),
}

PATIENT = Limits(rounds=1, seconds=900)


class Counted(msgspec.Struct, frozen=True):
    """How often the tool was called, of how many questions, and which went wrong."""

    internal: int
    general: int
    wrong: tuple[str, ...]


def measured(
    model: str | Model | None,
    description: str,
    internal: Sequence[str],
    general: Sequence[str],
    route: Literal["loop", "auto"] = "loop",
) -> Counted:
    """Ask all questions with one description."""
    search = tool(kebijakan.alat(deskripsi=description), terminal=True)  # what it finds is not of interest here
    short = Settings(temperature=0.1, max_tokens=24)
    agent = Agent(
        model, kebijakan.INSTRUKSI, tools=[search], settings=short, limits=PATIENT, language="id", route=route
    )

    def called(question: str) -> bool:
        answer = agent.run(question)
        return any(step.tool == "cari_dokumen" for step in answer.steps)

    asked, spared = [called(one) for one in internal], [called(one) for one in general]
    wrong = [one for one, was in zip(internal, asked, strict=True) if not was]
    wrong += [one for one, was in zip(general, spared, strict=True) if was]
    return Counted(sum(asked), sum(spared), tuple(wrong))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.descriptions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="local", help="as for tukang run")
    parser.add_argument("--most", type=int, default=len(INTERNAL), help="questions of each half")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there too")
    chosen = parser.parse_args()
    internal, general = INTERNAL[: chosen.most], GENERAL[: chosen.most]
    figures: dict[str, Counted] = {}
    print(f"model {chosen.model}, {len(internal)} internal and {len(general)} general questions")
    print(f"{'description':14}{'called, internal':>20}{'called, general':>20}{'seconds':>10}")
    for name, (description, route) in WAYS.items():
        begun = time.perf_counter()
        got = figures[name] = measured(chosen.model, description, internal, general, route)
        spent = time.perf_counter() - begun
        counts = f"{f'{got.internal} of {len(internal)}':>20}{f'{got.general} of {len(general)}':>20}"
        print(f"{name:14}{counts}{spent:>10.0f}", flush=True)
    for name, got in figures.items():
        for question in got.wrong:
            print(f"  {name}: {question}")
    if chosen.json:
        chosen.json.write_text(json.dumps({name: msgspec.to_builtins(got) for name, got in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
