"""Which questions are searched before the model is asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tukang.assistants import kbli
from tukang.assistants.kbli.alat import Alat
from tukang.assistants.kbli.langsung import kegiatan
from tukang.assistants.kbli.tabel import Tabel
from tukang.models.scripted import Scripted
from tukang.tools.lookup import look_up_of


@pytest.mark.parametrize(
    ("question", "activity"),
    [
        ("Kode KBLI untuk warung kopi apa?", "warung kopi"),
        ("KBLI apa yang cocok buat usaha potong rambut pria ya?", "potong rambut pria"),
        ("What is the KBLI code for a coffee shop?", "coffee shop"),
        ("Kode KBLI untuk pengembangan software sekaligus retail hardware?", None),
        ("Kode KBLI untuk warung kopi, laundry?", None),
        ("Apa arti kode KBLI 62199?", None),
        ("Apa beda kode kbli software dengan hardware?", None),
        ("KBLI itu apa?", None),
        ("Warung kopi itu apa?", None),
        ("Saya buka warung kopi. Kode KBLI apa yang pas?", None),
        ("Buatkan daftar kode KBLI warung kopi", None),
        ("", None),
    ],
)
def test_the_one_activity_of_a_question(question: str, activity: str | None) -> None:
    assert kegiatan(question) == activity


def test_a_search_is_made_at_once_where_a_code_covers_the_activity(tmp_path: Path) -> None:
    look_up = look_up_of(Alat(Tabel(tmp_path / "kbli.db")).cari_kode)
    assert look_up is not None
    fit = look_up.fit
    assert asyncio.run(fit("Kode KBLI untuk warung kopi apa?")) == "direct"
    assert asyncio.run(fit("Kode KBLI untuk blorotan wekwek apa?")) == "open"


def test_the_assistant_goes_by_it(tmp_path: Path) -> None:
    model = Scripted(["Kode 56303, edisi 2025.", "Halo."])
    agent = kbli.agent(model, tmp_path / "kbli.db")
    answer = agent.run("Kode KBLI untuk warung kopi apa?")
    assert [step.tool for step in answer.steps] == ["cari_kode"]
    assert answer.unsupported == ()
    assert agent.run("Halo!").steps == ()
    assert [one.tool_choice for one in model.requests] == ["auto", "auto"]
