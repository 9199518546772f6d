"""Every Python example of the README and the guides runs, as it stands, and prints what the page says it prints.

The providers are played by `tukang.mock`; what their models say stands in `script`. An example of a page about models uses
what the page's first one defines; all others stand alone.
"""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.docs.conftest import Stage
from tests.docs.pages import INDONESIAN, MODELS, PAGES, README, Block, blocks, tables

EXAMPLES = [pytest.param(block, id=block.name) for page in PAGES for block in blocks(page, "python")]

SPOKEN_TO = {
    "openai": {"openai"},
    "openrouter": {"openrouter"},
    "responses": {"responses"},
    "anthropic": {"anthropic"},
    "bedrock": {"bedrock", "bedrock-invoke"},
    "ollama": {"ollama"},
    "gemini": {"gemini"},
}
"""Whom the examples of a page may ask."""


def run(code: str, names: dict[str, Any], stage: Stage) -> str:
    """What the code prints, to both streams. It adds its names to `names`; a server on this machine is the stage."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        exec(compile(stage.here(code), "example", "exec"), names)
    return printed.getvalue()


def started(page: Path, number: int, stage: Stage) -> dict[str, Any]:
    """The names an example finds: on a page about models, those of the page's first example."""
    names: dict[str, Any] = {"__name__": "__main__"}
    if page in MODELS and number > 0:
        run(blocks(page, "python")[0].code, names, stage)
    return names


@pytest.mark.parametrize("block", EXAMPLES)
def test_it_runs_and_prints_what_the_page_says(block: Block, stage: Stage) -> None:
    if "import bash" in block.code and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed (apt install bubblewrap)")
    printed = run(block.code, started(block.page, block.number, stage), stage)
    if block.output is not None:
        assert printed == block.output
    assert [one.refused for one in stage.asked if one.refused] == []


@pytest.mark.parametrize("page", [page for page in MODELS if page.stem in SPOKEN_TO], ids=lambda page: page.stem)
def test_the_examples_of_a_page_ask_its_provider(page: Path, stage: Stage) -> None:
    for block in blocks(page, "python"):
        run(block.code, started(page, block.number, stage), stage)
    assert stage.providers <= SPOKEN_TO[page.stem]
    assert page.stem in stage.providers


@pytest.mark.parametrize("page", [page for page in MODELS if page.stem in SPOKEN_TO], ids=lambda page: page.stem)
def test_a_page_shows_the_four_uses(page: Path) -> None:
    """Single-shot, parallel, several rounds and streaming, each with what it prints."""
    shown = [block for block in blocks(page, "python") if block.output is not None]
    text = page.read_text("utf-8")
    for heading in ("### Single-shot", "### Parallel calls", "### Several rounds", "### Streaming"):
        assert f"\n{heading}\n" in text
        after = text.partition(f"\n{heading}\n")[2]
        assert any(after.partition("\n#")[0].count(block.code) for block in shown)


NAMES = [row[1].strip("`") for row in tables(README, "on", "the name", "set")]
DAFTAR = [row[1].strip("`") for row in tables(INDONESIAN, "di", "nama", "yang diisi")]


@pytest.mark.parametrize("name", DAFTAR)
def test_the_four_uses_in_indonesian_run_on_every_provider(name: str, stage: Stage) -> None:
    begin, *uses = blocks(INDONESIAN, "python")[:5]
    names: dict[str, Any] = {"__name__": "__main__"}
    run(begin.code.replace("openai:gpt-4o-mini", name), names, stage)
    for use in uses:
        assert run(use.code, names, stage) == use.output
    assert stage.providers == {name.partition(":")[0]}
    assert [one.refused for one in stage.asked if one.refused] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_ten_lines_run_on_every_provider(name: str, stage: Stage) -> None:
    block = blocks(README, "python")[0]
    assert len([line for line in block.code.splitlines() if line.strip()]) == 10
    assert run(block.code.replace("openai:gpt-4o-mini", name), started(README, 0, stage), stage) == block.output
    assert stage.providers == {name.partition(":")[0]}
    assert {one.model for one in stage.asked} == {name.partition(":")[2]}


def test_the_readme_shows_the_six_providers() -> None:
    six = ["openai", "openrouter", "anthropic", "bedrock", "ollama", "gemini"]
    assert [name.partition(":")[0] for name in NAMES] == six
    assert {name.partition(":")[0] for name in DAFTAR} >= set(six)
