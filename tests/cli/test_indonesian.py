"""Errors that others say in English are told in Indonesian, and stay as they are in English.

Each is brought about by a command, so that a sentence which is said otherwise one day is found here.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tukang.cli.indonesian import told
from tukang.knowledge import opening
from tukang.models.local import model as local_model

_PILIHAN = "toko, ekspor, cuaca, hitung, kebijakan, kbli, obrolan; agen buatan sendiri ditulis modul:nama"

SAID = {
    "run": "Argumen 'target' belum ditulis.",
    "runn": "Tidak ada perintah 'runn'. Maksudnya 'run'?",
    "run toko hai --modell x": "Tidak ada opsi --modell (mungkin: --model)",
    "run toko hai --model": "Opsi '--model' perlu isi.",
    "kbli import t.json": "Opsi '--edisi' / '-e' belum ditulis.",
    "doctor satu": "Terlalu banyak argumen: satu",
    "doctor satu dua": "Terlalu banyak argumen: satu dua",
    "mock --port 99999": "Isi '--port' / '-p' tidak bisa dipakai: paling besar 65535",
    "tasks list --limit 0": "Isi '--limit' / '-n' tidak bisa dipakai: paling kecil 1",
    "mock --port abc": "Isi '--port' / '-p' tidak bisa dipakai: harus bilangan bulat",
    "worker --agent toko --grace abc": "Isi '--grace' tidak bisa dipakai: harus bilangan",
    "mock none.jsonl": "naskah 'none.jsonl' tidak bisa dibaca: tidak ada berkas atau folder seperti itu",
    "mock .": "naskah '.' tidak bisa dibaca: itu folder, bukan berkas",
    "run tokoo hai": f"tidak ada asisten 'tokoo'. Maksudnya 'toko'? Yang ada: {_PILIHAN}",
    "run hitung hai --user USR1": "asisten 'hitung' tidak mengenal pelanggan: hilangkan --user",
    "run a:b hai --user USR1": "a:b tidak mengenal pelanggan: --user hanya untuk toko, ekspor",
    "run nomodule:agent hai": "maupun yang terpasang. Tulis modul:nama, tanpa .py",
    "run os:pathh hai": "modul 'os' tidak punya 'pathh'. Maksudnya os:path?",
    "run os: hai": "'os:' bukan modul:nama",
    "run os:path hai": "os:path adalah module: seharusnya tukang.Agent, atau fungsi yang mengembalikannya",
    "run toko hai --model foo:bar": "model 'foo:bar': tidak ada penyedia 'foo'. Model ditulis 'penyedia:model', dengan salah",
    "run toko hai --model openai:x": "perlu kunci: isi OPENAI_API_KEY, atau OPENAI_BASE_URL untuk server yang tidak perlu",
    "run toko hai --model gemini:x": "perlu kunci: isi GEMINI_API_KEY (atau GOOGLE_API_KEY).",
    "run toko hai --model bedrock:x": "Amazon Bedrock perlu region: isi AWS_REGION, misalnya ap-southeast-1.",
    "sessions show x": "tidak ada sesi 'x' di simpanan ini",
    "tasks show x": "tidak ada tugas 'x'",
    "approvals show x": "tidak ada yang menunggu keputusan dengan nomor 'x': `tukang approvals list` menunjukkan yang ada",
    "sessions list --store foo": "alamat simpanan diawali sqlite:/// atau postgresql://, bukan 'foo'",
    "sessions list --store sqlite:///": "'sqlite:///': simpanan SQLite adalah berkas: sqlite:///jalur/relatif.db",
    "sessions list --store postgresql://host": "tidak menyebut basis data: postgresql://user@host/database",
    "sessions list --store sqlite:///none/x.db": "berkasnya tidak bisa dibuka. Foldernya harus ada",
    "sessions list --store sqlite:///broken.db": "berkasnya bukan basis data SQLite, atau rusak. Pulihkan dari hasil ekspor.",
    "kbli import none.csv -e 2020": "none.csv tidak bisa dibaca: tidak ada berkas atau folder seperti itu",
    "kbli import t.csv -e 2020": "t.csv tidak punya kolom 'kode': sebutkan dengan --kolom kode=NAMA; yang ada: a, b",
    "kbli import t.csv -e 2020 -k x=a": "tidak ada kolom 'x' untuk diisi: seharusnya kode, judul, uraian",
    "kbli import t.csv -e 2019": "tidak ada edisi 2019: seharusnya 2020 atau 2025",
    "kbli import broken.db -e 2020": "broken.db: .db tidak dibaca: seharusnya .json, .csv atau .tsv",
    "kbli import empty.csv -e 2020": "tidak berisi baris: seharusnya daftar kode, masing-masing dengan judul",
    "kbli import broken.csv -e 2020": "broken.csv bukan UTF-8 (byte 0): simpan sebagai UTF-8, lalu muat lagi",
    "kbli import deep.json -e 2020": "deep.json bersarang terlalu dalam",
    "run toko hai --mcp none.json": "none.json tidak bisa dibaca: tidak ada berkas atau folder seperti itu",
    "run toko hai --mcp deep.json": "deep.json bersarang terlalu dalam",
    "run toko hai --mcp broken.csv": "broken.csv bukan teks UTF-8",
    "run toko hai --mcp object.json": 'object.json tidak punya "mcpServers": seharusnya',
    "run toko hai --mcp servers.json": "server MCP 'a': program 'nosuchprogram' tidak ditemukan; pasang, atau beri jalurnya",
    "sessions import broken.csv": "broken.csv tidak bisa dibuka: bukan UTF-8",
    "mcp toko --keys broken.db": "broken.db tidak bisa dipakai menyimpan panggilan: bukan basis data",
    "mcp toko --tool cek": "--tool cek: toko tidak punya alat itu. Yang ada: cek_harga_produk, buat_pesanan.",
}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.db").write_bytes(b"no database at all " * 100)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "broken.csv").write_bytes(b"\x80\x81")
    (tmp_path / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    (tmp_path / "object.json").write_text("{}")
    (tmp_path / "servers.json").write_text('{"mcpServers": {"a": {"command": "nosuchprogram"}}}')
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


@pytest.mark.parametrize("line", SAID)
def test_it_is_told_in_indonesian(cli: Cli, line: str) -> None:
    ran = cli("--lang", "id", *line.split())
    assert SAID[line] in ran.err
    assert ran.code == 2


@pytest.mark.parametrize("line", SAID)
def test_in_english_nothing_is_translated(cli: Cli, line: str) -> None:
    ran = cli("--lang", "en", *line.split())
    assert SAID[line] not in ran.err
    assert ran.code == 2


def test_a_data_folder_that_cannot_be_is_told_with_the_way_out(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "t.json").write_text('[{"kode": "56303", "judul": "Kedai"}]')
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path / "file" / "data"))
    for line in ("sessions list", "run kebijakan hai --model scripted:/dev/null", "kbli import t.json --edisi 2025"):
        ran = cli("--lang", "id", *line.split())
        assert "tidak bisa dipakai: itu bukan folder. Isi TUKANG_DATA dengan folder yang bisa ditulisi" in ran.err
        assert ran.code == 2
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path / "file"))
    assert "sudah ada berkas dengan nama itu. Isi TUKANG_DATA" in cli("--lang", "id", "sessions", "list").err
    assert cli("--lang", "id", "kbli", "status").code == 0  # only looks: what was never brought in is not there
    looked = cli("--lang", "id", "doctor")
    assert "✗ folder data" in looked.out


def test_an_extra_that_is_missing_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening.importlib.util, "find_spec", lambda _: None)
    ran = cli("--lang", "id", "run", "kebijakan", "hai", "--model", "scripted:/dev/null")
    assert ran.err == "Gagal: dokumen memerlukan paket numpy: pip install 'tukang[knowledge]'\n"
    monkeypatch.setattr(local_model, "find_spec", lambda _: None)
    ran = cli("--lang", "id", "run", "obrolan", "hai", "--model", "local")
    assert ran.err == 'Gagal: mesin model lokal tidak terpasang. Pasang dengan: pip install "tukang[local]"\n'


def test_a_group_without_a_command_shows_its_commands_and_is_code_2(cli: Cli) -> None:
    for group in ("sessions", "approvals", "tasks", "knowledge", "kbli", "db"):
        ran = cli("--lang", "id", group)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == cli("--lang", "id", group, "--help").out


def test_what_is_not_known_is_shown_as_it_was_said() -> None:
    assert told("something new, never heard before", "id") == "something new, never heard before"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "def x(:",
            "mine tidak bisa dimuat: SyntaxError: invalid syntax (mine.py, line 1); --debug menunjukkan tempatnya",
        ),
        ("raise ValueError('salah')", "mine tidak bisa dimuat: ValueError: salah; --debug menunjukkan tempatnya"),
        ("import sys; sys.exit(3)", "mine tidak bisa dimuat: SystemExit: 3; --debug menunjukkan tempatnya"),
        ("import nosuchthing", "mine tidak bisa dimuat: perlu nosuchthing, yang tidak terpasang"),
        (
            "def agent(): raise KeyError('x')",
            "mine:agent tidak membuat agen: KeyError: 'x'; --debug menunjukkan tempatnya",
        ),
        ("from tukang import Agent\nagent = Agent('openai:x')", "api.openai.com perlu kunci: isi OPENAI_API_KEY"),
    ],
    ids=["syntax", "raises", "exits", "needs", "makes-none", "no-key"],
)
def test_a_fault_of_the_users_module_is_not_called_one_of_the_program(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    importlib.invalidate_caches()
    ran = cli("--lang", "id", "run", "mine:agent", "hai")
    assert said in ran.err
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "Traceback" in cli("--debug", "run", "mine:agent", "hai").err


def test_a_working_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone}; rm -r ../gone; {sys.executable} -m tukang --lang id sessions list --store sqlite:///x.db"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Gagal: Folder kerja ini sudah tidak ada. Pindahlah ke folder lain, lalu jalankan lagi.\n"


def test_a_home_that_the_system_does_not_know_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUKANG_DATA", "~nobody-of-that-name/data")
    ran = cli("--lang", "id", "sessions", "list")
    looked = cli("--lang", "id", "doctor")
    assert (looked.code, "✗ folder data" in looked.out) == (2, True)
    assert ran.err.startswith(
        "Gagal: tidak ada folder rumah untuk menyimpan data: isi TUKANG_DATA dengan jalur lengkap"
    )
    assert ran.code == 2


def test_a_dotenv_that_cannot_be_read_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfeO\x00P\x00")
    (tmp_path / "replies.jsonl").write_text('{"text": "halo"}')
    for command in (("doctor",), ("run", "obrolan", "hai", "--model", "scripted:replies.jsonl")):
        ran = cli("--lang", "id", *command)
        assert (
            ran.err
            == f"Gagal: {tmp_path / '.env'} tidak bisa dibaca: harus boleh dibaca pengguna ini, dan dalam UTF-8.\n"
        )
        assert ran.code == 2


def test_a_language_that_is_missing_is_told_in_that_of_the_environment(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUKANG_LANG", "id")
    assert cli("doctor", "--lang").err == "Gagal: --lang perlu bahasa: id atau en\n"
    assert cli("--lang", "jv", "doctor").err == "Gagal: --lang harus 'id' atau 'en', bukan 'jv'\n"
    assert cli("--lang", "en", "runn").err.startswith("Wrong usage: No such command")
    monkeypatch.setenv("TUKANG_LANG", "jv")
    assert cli("--lang", "id", "runn").err.startswith("Salah pakai: Tidak ada perintah")
    assert cli("doctor").err == "Error: TUKANG_LANG must be 'id' or 'en', not 'jv'\n"
