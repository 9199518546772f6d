"""Every command that the pages show with what it prints (`console` blocks) is run, and prints that; times apart.

Run in this process, on the stage of `conftest`; both streams in one, as a terminal shows them.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Iterator

import pytest

from tests.docs.conftest import Stage
from tests.docs.pages import MODELS, PAGES, README, blocks
from tukang.cli import main
from tukang.cli import mock as mock_command
from tukang.mock.protocols import PROTOCOLS
from tukang.models.names import choose

_TIME = re.compile(r"\b\d+ ms\b|\b\d+\.\d s\b")


def commands() -> Iterator[object]:
    """Each command of a page with the output after it."""
    for page in PAGES:
        for block in blocks(page, "console"):
            for number, shown in enumerate(re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]):
                line, _, output = shown.partition("\n")
                yield pytest.param(line, output, id=f"{block.name}.{number}")


@pytest.mark.parametrize(("line", "output"), list(commands()))
def test_it_prints_what_the_page_says(line: str, output: str, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(stage.here(line), comments=True)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(name, value)
    assert words[0] == "tukang"
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    monkeypatch.setattr(sys, "stderr", printed)
    main(words[1:])
    assert _TIME.sub("T", printed.getvalue()) == _TIME.sub("T", output)
    assert [one.refused for one in stage.asked if one.refused] == []


def test_a_single_shot_is_shown_for_each_provider() -> None:
    shown = "\n".join(block.code for page in MODELS for block in blocks(page, "console"))
    for provider in ("openai", "openrouter", "responses", "anthropic", "bedrock", "ollama", "gemini"):
        assert re.search(rf"^\$ tukang run .* --single-shot --model {provider}:", shown, re.MULTILINE), provider


def test_what_the_mock_prints_is_what_the_page_shows() -> None:
    page = MODELS[0].read_text("utf-8")
    for variable in mock_command._VARIABLES:  # pyright: ignore[reportPrivateUsage]
        assert f"  export {variable.format(url='http://127.0.0.1:8123')}\n" in page
    assert f"{mock_command._SENTENCES['en'].point}\n" in page  # pyright: ignore[reportPrivateUsage]


FILES = [pytest.param(block.code, page.stem, id=block.name) for page in MODELS for block in blocks(page, "ini")]


@pytest.mark.parametrize(("file", "provider"), FILES)
@pytest.mark.usefixtures("nothing_set")
def test_a_dotenv_of_a_page_configures_its_provider(file: str, provider: str) -> None:
    with open(".env", "w", encoding="utf-8") as dotenv:
        dotenv.write(file)
    assert choose(f"{provider}:any-model").model.name == f"{provider}:any-model"


def test_every_provider_page_shows_a_dotenv() -> None:
    assert {param.values[1] for param in FILES} >= {protocol.name for protocol in PROTOCOLS} - {"bedrock-invoke"}
    assert "`.env`" in README.read_text("utf-8")
