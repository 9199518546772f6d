"""`tukang mock`: it starts, says where it is, serves, tells what comes, and ends with Ctrl-C. In a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import typer

from tukang.cli.mock import add
from tukang.cli.texts import TEXTS
from tukang.errors import ConfigurationError

PROGRAM = """
import sys, typer
from tukang.cli.mock import add
from tukang.cli.texts import TEXTS
app = typer.Typer(add_completion=False)
add(app, TEXTS[sys.argv.pop(1)])
sys.exit(typer.main.get_command(app).main(sys.argv[1:], standalone_mode=False))
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent as a signal")
def test_it_serves_until_it_is_stopped(tmp_path: Path) -> None:
    script = tmp_path / "naskah.jsonl"
    script.write_text('{"text": "Halo!"}\n')
    arguments = [sys.executable, "-c", PROGRAM, "id", str(script), "--port", "0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hai"}]}).encode()
        request = urllib.request.Request(f"{url}/toko/v1/chat/completions", body)
        with urllib.request.urlopen(request) as response:
            assert json.load(response)["choices"][0]["message"]["content"] == "Halo!"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"OPENAI_BASE_URL={url}/v1" in said
    assert "1 jawaban" in said
    assert "✓ openai toko m" in said


@pytest.mark.parametrize("language", ["id", "en"])
def test_what_cannot_be_started_says_why(language: str, tmp_path: Path) -> None:
    app = typer.Typer()
    add(app, TEXTS[language])
    command = typer.main.get_command(app)
    with pytest.raises(ConfigurationError, match="cannot read the script"):
        command.main([str(tmp_path / "none.jsonl")], standalone_mode=False)
    with pytest.raises(ConfigurationError, match="--port"):
        command.main(["--host", "192.0.2.1", "--port", "1"], standalone_mode=False)
