"""The examples of the pages about workers run as they stand, with a worker that runs the agent they show."""

from __future__ import annotations

import asyncio
import contextlib
import io
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks
from tests.workers.crew import at_work
from tukang.models.scripted import Scripted, call

PAGES = [ROOT / "docs/workers.md", ROOT / "docs/id/pekerja.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_the_page_submits_is_answered_by_the_agent_it_shows(page: Any, queue_url: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    shown, submitting = (block.code for block in blocks(page, "py"))
    module: dict[str, Any] = {"__name__": "toko_saya"}
    exec(compile(shown, str(page), "exec"), module)
    agent = module["agent"]
    agent.models = (Scripted([call("harga", product_id="PRD002"), "Rp 1.250.000."]),)
    program = compile(submitting.replace("postgresql://tukang@localhost/tukang", queue_url), str(page), "exec")
    printed = io.StringIO()

    async def run() -> None:
        async with at_work(queue_url, agent):
            await asyncio.to_thread(exec, program, {"__name__": "__main__"})

    with contextlib.redirect_stdout(printed):
        asyncio.run(run())
    lines = printed.getvalue().splitlines()
    assert lines[0] == "1 TurnStarted"
    assert lines[-1] == "Rp 1.250.000. answer"
