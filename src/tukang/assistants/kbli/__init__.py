"""An assistant for the Indonesian classification of business activities (KBLI): finds, explains, compares, checks codes.

Everything it says about codes comes from tables and a search (`tabel.py`, `cari.py`); the model only understands what the
user does and chooses a tool. An answer that names a code which no tool returned goes back once, and is then marked.
"""

from __future__ import annotations

import os

from tukang.agent import Agent
from tukang.assistants.kbli.alat import Alat
from tukang.assistants.kbli.tabel import Tabel
from tukang.grounding.policy import Grounded
from tukang.loop.limits import Limits
from tukang.models.base import Model, Settings

_INSTRUCTIONS = (
    "Kamu asisten kode KBLI (Klasifikasi Baku Lapangan Usaha Indonesia).\n"
    "- Kode selalu dari alat; jangan menyebut kode dari ingatan.\n"
    "- Usaha dengan beberapa kegiatan: pisahkan kegiatannya, lalu panggil susun_kode sekali.\n"
    "- Daftar kode milik pengguna: panggil audit_kode dengan kegiatan usahanya.\n"
    "- Kode yang sama dapat berarti lain di edisi 2020 dan 2025: sebut edisinya. Tanpa keterangan, pakai 2025.\n"
    "- Padanan antaredisi hanya saran; katakan begitu."
)


def agent(model: str | Model | None = None, tabel: str | os.PathLike[str] | None = None) -> Agent:
    """The assistant.

    Args:
        model: as for `Agent`.
        tabel: the file of imported tables; see `tabel.default_path`.
    """
    tools = Alat(Tabel(tabel))
    return Agent(
        model,
        _INSTRUCTIONS,
        tools=[tools.cari_kode, tools.detail_kode, tools.bandingkan_kode, tools.susun_kode, tools.audit_kode],
        limits=Limits(rounds=5, seconds=300),
        settings=Settings(temperature=0.1, max_tokens=1024),
        name="kbli",
        language="id",
        route="auto",
        grounded=Grounded(patterns=(r"(?<![\d.,])\d{5}(?![\d.,]*\d)", r"KBLI[- ]?\d{1,3}(?!\d)")),
    )
