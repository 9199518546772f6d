"""MCP is an extra: nothing else needs what it needs, and who lacks it is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_nothing_else_imports_the_sdk(tmp_path: Path) -> None:
    code = """
import sys, tukang, tukang.cli.app, tukang.mcp
assert "mcp" not in sys.modules and "httpx2" not in sys.modules
sys.modules["mcp"] = None
from tukang.cli import main
print(main(["tools", "--mcp", "mcp.json", "--lang", "en"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "2\n", done.stderr
    assert "pip install 'tukang[mcp]'" in done.stderr
