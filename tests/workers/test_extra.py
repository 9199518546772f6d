"""Workers are an extra: nothing else needs what they need, and who lacks it is told."""

from __future__ import annotations

import subprocess
import sys

import pytest


def _said(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_nothing_else_imports_what_workers_need() -> None:
    code = (
        "import sys, tukang, tukang.cli.app; print({'procrastinate', 'psycopg', 'tukang.workers'} & set(sys.modules))"
    )
    assert _said(code) == "set()\n"


@pytest.mark.parametrize("missing", ["procrastinate", "psycopg", "psycopg_pool"])
def test_what_is_missing_is_named(missing: str) -> None:
    code = f"""
import sys
sys.modules[{missing!r}] = None
from tukang.cli import main
print(main(["worker", "status", "--store", "postgresql://localhost/x"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "2\n"
    assert "pip install 'tukang[workers]'" in done.stderr
