"""An internal help desk: it answers questions about a company's policies from the documents, and cites them.

A question that one search answers is searched before the model is asked, and one that no document has to do with goes to the
model without the search (`route="auto"`); what lies between is the model's to decide, by the tool's description.

The forty documents in `dokumen/` were written for it; the company in them does not exist. They are taken in when the
assistant is built for the first time, and again when they have changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tukang.agent import Agent
from tukang.assistants.katalog import made_data_folder
from tukang.errors import ConfigurationError
from tukang.knowledge import Knowledge
from tukang.loop.limits import Limits
from tukang.models.base import Model, Settings

DOKUMEN = Path(__file__).with_name("dokumen")
"""What ships. A file says between its `---` which department it is of."""

DEPARTEMEN = ("sdm", "keuangan", "teknik")

BAIK = (
    "Cari aturan kantor ini: cuti, jam kerja, lembur, upah, THR, asuransi, masa percobaan, pelatihan, pengunduran diri, "
    "dinas, uang muka, klaim, belanja, kartu kredit, aset, hadiah, kata sandi, laptop, akses, insiden, siaga, cadangan data, "
    "rilis, tinjauan kode. Untuk setiap pertanyaan tentang hak, batas atau prosedur di kantor; bukan untuk pengetahuan umum "
    "atau obrolan."
)
"""A description that says when the tool is meant, and when it is not."""

CEROBOH = "Mencari dokumen."
"""One as they are often written. `bench/descriptions.py` compares the two."""

INSTRUKSI = (
    "Kamu meja bantuan internal PT Maju Bersama.\n"
    "- Pertanyaan tentang aturan, hak atau prosedur perusahaan: cari dulu dengan cari_dokumen, jawab hanya dari hasilnya, "
    "dan kutip sumbernya persis seperti 'kutip'.\n"
    "- Kalau dokumennya tidak ada, katakan begitu; jangan menebak angka.\n"
    "- Pertanyaan umum atau sapaan dijawab langsung tanpa mencari."
)


def agent(
    model: str | Model | None = None,
    store: str | None = None,
    dokumen: str | os.PathLike[str] = DOKUMEN,
) -> Agent:
    """The assistant.

    Args:
        model: as for `Agent`.
        store: where the documents are kept; `kebijakan.db` in the data folder when None.
        dokumen: a folder of documents; those that ship by default.

    Raises:
        ConfigurationError: the extra `knowledge` is not installed, or a document cannot be read.
    """
    return Agent(
        model,
        INSTRUKSI,
        tools=[alat(store, dokumen)],
        limits=Limits(rounds=4, seconds=300),
        settings=Settings(temperature=0.1, max_tokens=1024),
        name="kebijakan",
        language="id",
        grounded=True,
        route="auto",
    )


def alat(store: str | None = None, dokumen: str | os.PathLike[str] = DOKUMEN, deskripsi: str = BAIK) -> Any:
    """The tool `cari_dokumen(kueri, departemen?)`, over documents that are taken in first where they are new."""
    if store is None:
        store = f"sqlite:///{made_data_folder() / 'kebijakan.db'}"
    knowledge = Knowledge(store, "kebijakan")
    for outcome in knowledge.add(Path(dokumen)):
        if outcome.error is not None:
            raise ConfigurationError(f"a policy cannot be read: {outcome.error}")
    return knowledge.tool("cari_dokumen", deskripsi, departemen=DEPARTEMEN)
