"""A process that is killed while it takes documents in: each document is as it was, or whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tukang.knowledge import Knowledge

PROGRAM = """
import asyncio, os, sys
from tests.knowledge.conftest import Bag
from tukang.knowledge import Knowledge

store, folder, mortal = sys.argv[1:]

class Mortal(Bag):
    async def embed(self, texts, kind):
        if any(mortal in text for text in texts):
            print("here", flush=True)
            await asyncio.sleep(60)  # it is killed in here
        return await super().embed(texts, kind)

Knowledge(store, embedder=Mortal()).add(folder)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")
def test_nothing_is_lost_and_nothing_is_half(local: Callable[..., Knowledge], tmp_path: Path) -> None:
    folder = tmp_path / "dokumen"
    folder.mkdir()
    for number in range(6):
        parts = [f"## Bagian {part}\n\nIsi {number} {part} tentang parkir." for part in range(5)]
        (folder / f"{number}.md").write_text(f"# Dokumen {number}\n\n" + "\n\n".join(parts), "utf-8")
    knowledge = local()
    knowledge.add(folder / "3.md")
    (folder / "3.md").write_text((folder / "3.md").read_text("utf-8").replace("tentang", "baru tentang"), "utf-8")

    command = [sys.executable, "-c", PROGRAM, knowledge.store, str(folder), "Isi 3 2 baru"]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)

    kept = {one.name: one.passages for one in knowledge.documents()}
    assert kept == {"0.md": 5, "1.md": 5, "2.md": 5, "3.md": 5}
    assert all("baru" not in hit.text for hit in knowledge.search("dokumen 3 parkir", 30))
    outcomes = {Path(one.source).name: one.became for one in knowledge.add(folder)}
    assert outcomes == {
        "0.md": "unchanged",
        "1.md": "unchanged",
        "2.md": "unchanged",
        "3.md": "updated",
        "4.md": "added",
        "5.md": "added",
    }
