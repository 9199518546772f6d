"""What the pages say a server's fault is called and how to mend it is what the adapters say of it.

Each fault is played by the mock; the hint that comes of it stands in the page, with a word of its own for the model's name.
"""

from __future__ import annotations

import re

import pytest

from tests.docs.conftest import Stage
from tests.docs.pages import ROOT
from tukang import Agent, ConfigurationError, ModelError, tool
from tukang.errors import ModelErrorKind
from tukang.mock import MockServer, in_thread
from tukang.models.bedrock_errors import reported_error as bedrock_error
from tukang.models.gemini_errors import reported_error as gemini_error
from tukang.models.openai_chat_errors import reported_error as openai_error
from tukang.models.scripted import Fails, Says

CLAUDE = "anthropic.claude-sonnet-4-5"
FAULTS = [
    ("openai:any", Fails("authentication", "Incorrect API key provided"), "authentication"),
    ("openai:any", Fails("not_found", "The model does not exist"), "not_found"),
    ("openrouter:any", Fails("authentication", "No auth credentials found"), "authentication"),
    ("openrouter:any", Fails("not_found", "No endpoints found that support tool use."), "not_found"),
    ("responses:any", Fails("authentication", "Incorrect API key provided"), "authentication"),
    ("anthropic:any", Fails("authentication", "invalid x-api-key"), "authentication"),
    ("anthropic:any", Fails("not_found", "model: any"), "not_found"),
    ("anthropic:any", Fails("bad_request", "prompt is too long: 200001 tokens > 200000 maximum"), "bad_request"),
    (f"bedrock:{CLAUDE}", Fails("authentication", "You don't have access to the model"), "authentication"),
    (
        f"bedrock:{CLAUDE}",
        Fails("bad_request", f"Invocation of model ID {CLAUDE} with on-demand throughput isn't supported."),
        "bad_request",
    ),
    (f"bedrock:{CLAUDE}", Fails("bad_request", "The provided model identifier is invalid."), "not_found"),
    ("ollama:any", Fails("not_found", "model 'any' not found"), "not_found"),
    ("ollama:any", Fails("bad_request", "registry.ollama.ai/library/any does not support tools"), "bad_request"),
    ("ollama:any", Fails("bad_request", '"any" does not support thinking'), "bad_request"),
    (
        "ollama:any",
        Fails("overloaded", "model requires more system memory (9 GiB) than is available (7 GiB)", status=500),
        "configuration",
    ),
    ("gemini:any", Fails("authentication", "API key not valid. Please pass a valid API key."), "authentication"),
    ("gemini:any", Fails("bad_request", "Function call is missing a thought_signature"), "bad_request"),
    ("gemini:any", Fails("not_found", "models/any is not found for API version v1beta"), "not_found"),
]
_DAILY = {"message": "Quota exceeded", "details": [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}]}


@tool(effect="read")
def cek_stok(kode: str) -> str:
    """Cek stok."""
    return kode


@pytest.mark.parametrize(("name", "fails", "kind"), FAULTS)
def test_the_page_gives_the_hint_of_the_adapter(
    name: str, fails: Fails, kind: ModelErrorKind, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, _, model = name.partition(":")
    with in_thread(MockServer([Says(fails=fails)])) as server:
        for variable in ("ANTHROPIC_BASE_URL", "OLLAMA_HOST", "GOOGLE_GEMINI_BASE_URL"):
            monkeypatch.setenv(variable, server.url)
        for variable in ("OPENAI_BASE_URL", "OPENROUTER_BASE_URL"):
            monkeypatch.setenv(variable, f"{server.url}/v1")
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
        error = Agent(name, tools=[cek_stok]).run("Berapa?").error
    assert error is not None
    assert (error.kind, stage.asked) == (kind, [])
    assert error.hint is not None
    said = re.escape(error.hint).replace(re.escape(model), "(?:NAME|MODEL)")
    assert re.search(said, (ROOT / f"docs/models/{page}.md").read_text("utf-8")), error.hint


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ("openai", openai_error({"message": "You exceeded your quota", "code": "insufficient_quota"}, status=429)),
        (
            "bedrock",
            bedrock_error("ExpiredTokenException", b'{"message": "The security token is expired"}', status=403),
        ),
        ("gemini", gemini_error(_DAILY, status=429)),
    ],
    ids=["openai", "bedrock", "gemini"],
)
def test_the_page_gives_the_hint_for_what_the_mock_does_not_play(page: str, error: ModelError) -> None:
    assert error.hint is not None
    assert error.hint in (ROOT / f"docs/models/{page}.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "missing", "said"),
    [
        ("openai:any", ["OPENAI_API_KEY", "OPENAI_BASE_URL"], "api.openai.com needs a key"),
        ("openrouter:any", ["OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"], "set OPENROUTER_API_KEY"),
    ],
)
@pytest.mark.usefixtures("nothing_set")
def test_what_is_missing_is_said_as_the_page_says(name: str, missing: list[str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        Agent(name)
    assert any(variable in str(raised.value) for variable in missing)
    assert said in (ROOT / f"docs/models/{name.partition(':')[0]}.md").read_text("utf-8")
