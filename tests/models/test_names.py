"""From names to models, and from no name to what the environment offers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tukang.errors import ConfigurationError
from tukang.models.names import choose

VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "OPENROUTER_API_KEY",
    "OPENROUTER_BASE_URL",
    "ANTHROPIC_API_KEY",
)


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    yield
    for name in VARIABLES:  # what a `.env` file brought in; what was there before comes back after this
        os.environ.pop(name, None)


def test_a_key_without_a_model_gets_the_stated_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    choice = choose()
    assert choice.model.name == "openai:gpt-4o-mini"
    assert "OPENAI_API_KEY is set" in choice.why


def test_a_base_url_without_a_key_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("OPENAI_MODEL", "mine")
    assert choose().model.name == "openai:mine"


def test_a_dotenv_file_counts_and_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://localhost:1/v1\nOPENAI_MODEL=from-file\n", "utf-8")
    monkeypatch.setenv("OPENAI_MODEL", "from-environment")
    assert choose().model.name == "openai:from-environment"


def test_compatible_servers_have_names_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="set OPENROUTER_API_KEY"):
        choose("openrouter:some/model")
    monkeypatch.setenv("OPENROUTER_API_KEY", "not-a-key")
    model = choose("openrouter:some/model").model
    assert model.name == "openrouter:some/model"
    assert "openrouter.ai" in repr(model)


def test_a_compatible_server_may_be_somewhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_BASE_URL", "http://localhost:1/gateway/v1")
    assert "localhost:1/gateway/v1" in repr(choose("openrouter:some/model").model)
    with pytest.raises(ConfigurationError, match="name a model after the colon"):
        choose("openrouter:")


def test_nothing_said_and_no_local_model_says_what_could_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tukang.models.local.model.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"OPENAI_API_KEY .* so it would be the local one: .* not installed"):
        choose()


def test_an_unknown_provider_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'openai'"):
        choose("opena:gpt")


def test_a_missing_key_says_which_variable() -> None:
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        choose("anthropic:claude-sonnet-4-5")
