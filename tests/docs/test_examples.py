"""Every Python example of the README and the guides runs, as it stands, against a server that speaks Chat Completions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.servers import ChatServer, Say

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}:{number}")
    for page in PAGES
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    )
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_it_runs(code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with ChatServer([Say("Baik.")] * 20) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("OPENAI_MODEL", "any")
        monkeypatch.chdir(tmp_path)
        exec(compile(code, "example", "exec"), {"__name__": "__main__"})
