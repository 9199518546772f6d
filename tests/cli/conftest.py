"""What every test of the command line needs: a quiet environment, scripts as files, and a way to run it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.terminal import terminals
from tukang.cli import main
from tukang.models.scripted import Says

__all__ = ["terminals"]  # for every test that wants a real terminal

_ALOOF = ("OPENAI_", "TUKANG_", "LC_", "LANG", "NO_COLOR", "FORCE_COLOR", "XDG_")


class Ran(msgspec.Struct, frozen=True):
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _aloof(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of this machine's settings reaches a test, and nothing of a test stays on this machine."""
    for name in list(os.environ):
        if name.startswith(_ALOOF):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Writes replies to a file and names the model that says them."""

    def write(*replies: Says | str, name: str = "replies.jsonl") -> str:
        says = [reply if isinstance(reply, Says) else Says(text=reply) for reply in replies]
        (tmp_path / name).write_bytes(b"\n".join(msgspec.json.encode(one) for one in says))
        return f"scripted:{name}"

    return write


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs a command in this process."""

    def run(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


Cli = Callable[..., Ran]
Script = Callable[..., str]


def calls(*named: tuple[str, dict[str, Any] | str]) -> Says:
    """A scripted reply that asks for calls."""
    body: Sequence[dict[str, Any]] = [{"name": name, "arguments": arguments} for name, arguments in named]
    return msgspec.convert({"calls": body}, Says)
