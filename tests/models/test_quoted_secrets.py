"""A server that quotes what it was sent: no form of a key gets into an error."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import pytest

from tests.servers import ChatServer, Raw
from tukang import Agent
from tukang.models.openai_chat import OpenAIChat

KEY = "vault-0123456789abcdef"
BASIC = b64encode(f"budi:{KEY}".encode()).decode()


def told(words: str, *, address: str = "{base}", **options: Any) -> str:
    """All that the answer says about a request that was refused with these words."""
    with ChatServer([Raw([words.encode()], status=400)]) as server:
        base_url = address.format(base=server.base_url, rest=server.base_url.partition("//")[2])
        model = OpenAIChat("any", base_url=base_url, **options)
        answer = asyncio.run(Agent(model).arun("ya?"))
        assert answer.error is not None
        return repr(answer) + repr(model)


@pytest.mark.parametrize(
    ("address", "options", "quoted"),
    [
        ("{base}", {"api_key": KEY}, KEY),
        ("{base}", {"headers": {"Authorization": f"Bearer {KEY}"}}, KEY),
        ("{base}", {"headers": {"Authorization": f"Bearer {KEY}"}}, f"Bearer {KEY}"),
        ("{base}", {"headers": {"X-Key": KEY}}, KEY),
        ("{base}?subscription-key=" + KEY, {}, KEY),
        ("http://budi:" + KEY + "@{rest}", {}, KEY),
        ("http://budi:" + KEY + "@{rest}", {}, BASIC),
    ],
)
def test_a_key_is_not_quoted(address: str, options: dict[str, Any], quoted: str) -> None:
    said = told(f"no such key: {quoted}, sorry", address=address, **options)
    assert quoted not in said
    assert "no such key: …, sorry" in said


@pytest.mark.parametrize("before", range(175, 205))
def test_a_key_that_is_cut_with_the_words_is_not_quoted_either(before: int) -> None:
    said = told("x" * before + KEY, api_key=KEY)
    assert "x" * 175 in said
    assert KEY[:4] not in said


def test_what_is_no_secret_stays() -> None:
    assert "2024-10-21 is not known" in told("2024-10-21 is not known", address="{base}?api-version=2024-10-21")
