"""The way in: language, usage, help, versions, what is missing."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import tukang.cli as cli_package
from tests.cli.conftest import Cli
from tukang.cli import entry, main
from tukang.cli.language import language_of, why
from tukang.cli.texts import TEXTS, Texts
from tukang.errors import ConfigurationError
from tukang.models import names


@pytest.mark.parametrize(
    ("asked", "environment", "language"),
    [
        (None, {}, "en"),
        (None, {"LANG": "id_ID.UTF-8"}, "id"),
        (None, {"LANG": "id_ID.UTF-8", "LC_ALL": "C"}, "en"),
        (None, {"LC_ALL": "", "LANG": "id"}, "id"),
        (None, {"LANG": "ideographic"}, "en"),
        (None, {"LANG": "id_ID.UTF-8", "TUKANG_LANG": "en"}, "en"),
        ("id", {"TUKANG_LANG": "en"}, "id"),
        ("EN", {"LANG": "id_ID"}, "en"),
    ],
)
def test_the_language(asked: str | None, environment: dict[str, str], language: str) -> None:
    assert language_of(asked, environment) == language


@pytest.mark.parametrize(("asked", "environment"), [("fr", {}), (None, {"TUKANG_LANG": "jawa"})])
def test_a_language_that_is_not_spoken_is_refused(asked: str | None, environment: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="'id' or 'en'"):
        language_of(asked, environment)


def test_both_languages_fill_in_the_same() -> None:
    for field in Texts.__struct_fields__:
        said, also = getattr(TEXTS["id"], field), getattr(TEXTS["en"], field)
        if isinstance(said, str):
            assert set(re.findall(r"{\w+}", said)) == set(re.findall(r"{\w+}", also)), field
        else:
            assert said.keys() == also.keys(), field


def test_every_reason_for_a_model_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = {names.choose("scripted:/dev/null").why}
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    reasons.add(names.choose().why)
    monkeypatch.setenv("OPENAI_MODEL", "m")
    reasons.add(names.choose().why)
    reasons.add(names.choose(names.choose().model).why)
    assert len(reasons) == 4
    for reason in reasons:
        assert why(reason, "en") == reason
        assert why(reason, "id") != reason


def test_lang_and_debug_may_stand_anywhere_before_a_double_dash() -> None:
    preferences, rest = entry.split(["--lang=id", "run", "toko", "--debug", "hai", "--", "--debug"])
    assert preferences == entry.Preferences("id", True)
    assert rest == ["run", "toko", "hai", "--", "--debug"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "tokoo", "hai"],
        ["run", "toko", "hai", "--nope"],
        ["sing"],
        ["run"],
        ["run", "toko", ""],
        ["--lang"],
        ["run", "toko", "hai", "--model", "gpt"],
        ["run", "toko", "hai", "--model", "scripted:none.jsonl"],
        ["run", "toko"],
    ],
)
def test_wrong_usage_is_code_2_and_says_why_briefly(cli: Cli, arguments: list[str]) -> None:
    ran = cli(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert 1 <= len(ran.err.splitlines()) <= 2
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_no_crash(closed: str, tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text('{"text": "halo"}')
    command = f"{shlex.quote(sys.executable)} -m tukang run obrolan hai --model scripted:replies.jsonl {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert done.stdout == ("" if ">&-" in closed.replace("2>&-", "") else "halo\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_an_output_that_takes_no_more_is_said_and_is_no_fault_of_ours(tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text('{"text": "halo"}')
    command = [sys.executable, "-m", "tukang", "--lang", "en", "run", "obrolan", "hai", "-m", "scripted:replies.jsonl"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "Error: No space left on device" in done.stderr
    assert "fault of the program" not in done.stderr


def test_help_is_in_the_users_language(cli: Cli) -> None:
    assert "Menanyakan satu hal" in cli("--help", "--lang", "id").out
    assert "Ask one thing" in cli("--lang", "en", "--help").out
    assert "--single-shot" in cli("run", "--help").out
    assert cli().out == cli("--help").out


def test_the_version(cli: Cli) -> None:
    assert cli("--version").out == f"tukang {version('tukang')}\n"


def test_without_the_extra_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tukang.cli.find_spec", lambda name: None if name == "rich" else object())
    assert main(["--version"]) == 2
    assert 'pip install "tukang[cli]"' in capsys.readouterr().err


def test_it_runs_as_a_module_and_loads_no_provider_for_nothing() -> None:
    code = (
        "import sys; sys.argv = ['tukang', '--version']; from tukang.cli import main; main(); "
        "print([m for m in sys.modules if m in ('aiohttp', 'xllamacpp', 'tukang.models.local', 'tukang.models.openai_chat')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    done = subprocess.run([sys.executable, "-m", "tukang", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tukang ")


def test_ctrl_c_while_it_is_still_loading_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_package, "find_spec", interrupted)
    assert cli_package.main([]) == 130
