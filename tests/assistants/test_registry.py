"""Which assistants there are, and that each can be built and spoken with."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tukang.assistants import ASSISTANTS, find, toko
from tukang.errors import ConfigurationError
from tukang.models.scripted import Scripted


@pytest.mark.parametrize("name", list(ASSISTANTS))
def test_each_answers(name: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path))
    agent = find(name).agent(Scripted(["Halo!"]))
    assert agent.name == name
    assert agent.language == "id"
    assert agent.run("Halo").text == "Halo!"


@pytest.mark.parametrize("name", list(ASSISTANTS))
def test_each_tool_says_what_it_is_for_in_a_few_words(name: str) -> None:
    for contract in find(name).agent(Scripted([])).toolbox.contracts:
        assert 10 < len(contract.description) < 400  # what the local model reads of it
        assert all(member.get("description") for member in contract.parameters["properties"].values())


def test_an_unknown_name_gets_the_nearest_back() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'cuaca'"):
        find("cuacaa")


def test_only_an_assistant_with_a_caller_takes_a_user() -> None:
    assert find("toko").context("USR042") == toko.Pelanggan("USR042")
    assert find("toko").context(None) is None
    assert find("hitung").context(None) is None
    with pytest.raises(ConfigurationError, match="no caller"):
        find("hitung").context("USR042")


def test_naming_them_imports_none() -> None:
    code = "import sys, tukang.assistants; print([m for m in sys.modules if m.startswith('tukang.assistants.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_session_remembers_and_another_does_not() -> None:
    model = Scripted(["Baik.", "Tiga.", "Tidak tahu."])
    agent = find("obrolan").agent(model)
    chat = agent.session("satu")
    chat.run("Saya punya 4 pisang.")
    chat.run("Saya makan 1 pisang. Sekarang sisa berapa?")
    agent.session("dua").run("Saya makan 1 pisang. Sekarang sisa berapa?")
    said = [" ".join(message.text for message in request.messages) for request in model.requests]
    assert "4 pisang" in said[1]
    assert "4 pisang" not in said[2]
