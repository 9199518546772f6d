"""`tukang knowledge`, with the embedder that ships."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.terminal import Terminal
from tukang.models.embeddings import packaged

pytestmark = pytest.mark.skipif(
    not packaged.use().installed, reason="the extra is not installed: pip install 'tukang[knowledge]'"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "kebijakan"
    place.mkdir()
    (place / "cuti.md").write_text(
        "---\ndepartemen: SDM\n---\n# Cuti\n\nCuti melahirkan lamanya tiga bulan.\n", "utf-8"
    )
    (place / "dinas.txt").write_text("Formulir perjalanan dinas adalah KEU-07.", "utf-8")
    return place


def test_in_listed_found_and_out(cli: Cli, folder: Path) -> None:
    added = cli("--lang", "id", "knowledge", "add", str(folder), "--about", "departemen=Keuangan")
    assert (added.code, added.out) == (0, "")
    assert added.err == "masuk: cuti.md  1 potongan\nmasuk: dinas.txt  1 potongan\n2 dokumen diurus, 0 gagal\n"
    again = cli("knowledge", "add", str(folder), "--about", "departemen=Keuangan", "--lang", "en")
    assert again.err.startswith("unchanged: cuti.md  1 passages\n")
    listed = cli("knowledge", "list")
    assert "cuti.md" in listed.out
    assert "departemen=SDM" in listed.out
    found = json.loads(cli("knowledge", "search", "KEU-07", "--json").out)
    assert (found[0]["document"], found[0]["data"]) == ("dinas.txt", {"departemen": "Keuangan"})
    assert "cuti.md" not in cli("knowledge", "search", "cuti", "--where", "departemen=Keuangan").out
    assert cli("knowledge", "search", "lama cuti melahirkan", "-n", "1").out.startswith("1. cuti.md  0.")
    assert cli("knowledge", "remove", "cuti.md").code == 0
    assert cli("knowledge", "remove", "cuti.md").code == 2
    assert [one["name"] for one in json.loads(cli("knowledge", "list", "--json").out)] == ["dinas.txt"]


@pytest.mark.parametrize(
    ("lang", "said"),
    [("id", "gagal: kosong.md: tidak ada isinya\n"), ("en", "failed: kosong.md: there is nothing in it\n")],
)
def test_what_fails_is_said_in_the_users_language_and_the_rest_goes_on(
    cli: Cli, folder: Path, lang: str, said: str
) -> None:
    (folder / "kosong.md").touch()
    ran = cli("--lang", lang, "knowledge", "add", str(folder))
    assert ran.code == 1
    assert said in ran.err
    assert len(json.loads(cli("knowledge", "list", "--json").out)) == 2


def test_mistakes_of_the_user_are_said(cli: Cli, folder: Path) -> None:
    assert "NAME=VALUE" in cli("knowledge", "add", str(folder), "--about", "departemen", "--lang", "en").err
    assert cli("knowledge", "search", "x", "--embedder", "usee").code == 2
    empty = cli("--lang", "en", "knowledge", "list")
    assert (empty.code, "there are no documents" in empty.err) == (0, True)


def test_without_the_extra_it_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tukang.cli.knowledge._NEEDED", ("tidak_ada_paket_ini",))
    ran = cli("--lang", "id", "knowledge", "list")
    assert ran.code == 2
    assert "pip install 'tukang[knowledge]'" in ran.err


def test_db_upgrade_makes_its_tables(cli: Cli, postgres_url: str) -> None:
    assert cli("knowledge", "list", "--store", postgres_url).code == 2
    done = cli("db", "upgrade", "--knowledge", "--store", postgres_url)
    assert (done.code, "knowledge 1" in done.out) == (0, True)
    assert cli("knowledge", "list", "--store", postgres_url).code == 0


def test_a_bar_moves_on_a_terminal(terminals: list[Terminal], folder: Path) -> None:
    (folder / "panjang.md").write_text("\n\n".join(f"## {at}\n\nIsi tentang cuti." for at in range(20)), "utf-8")
    terminal = Terminal("--lang", "id", "knowledge", "add", str(folder))
    terminals.append(terminal)
    assert "█" in terminal.expect("3 dokumen diurus")
    assert terminal.end() == 0


def test_a_file_that_is_no_more_is_said_and_pruned_when_asked(cli: Cli, folder: Path) -> None:
    cli("knowledge", "add", str(folder))
    (folder / "dinas.txt").unlink()
    ran = cli("--lang", "id", "knowledge", "add", str(folder))
    assert ran.code == 0
    assert f"hilang: {folder}/dinas.txt: berkasnya sudah tidak ada" in ran.err
    assert ran.err.endswith("1 dokumen diurus, 0 gagal\n")
    pruned = cli("--lang", "en", "knowledge", "add", str(folder), "--prune")
    assert f"taken out: {folder}/dinas.txt\n" in pruned.err
    assert [one["name"] for one in json.loads(cli("knowledge", "list", "--json").out)] == ["cuti.md"]
