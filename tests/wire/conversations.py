"""Random neutral conversations and requests, for showing that what an adapter sends is what its protocol takes.

They hold what a long life leaves in a conversation: switches of provider, crashes (calls without results, results without
calls), malformed arguments, invented names, ids that are missing or occur twice, empty texts, pictures in results, thinking
and parts of providers that are not asked now, an assistant that speaks first, last, or twice. Strategies only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tukang.conversation import (
    Citation,
    File,
    Image,
    Message,
    Opaque,
    Part,
    ServerCall,
    ServerResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tukang.models.base import ModelRequest, Settings
from tukang.tools.contract import Contract

NOBODY = "another-provider"
"""A provider whose own parts mean nothing to anyone else."""

TOOLS = (
    Contract("harga", "Harga sebuah produk.", {"type": "object", "properties": {"id": {"type": "string"}}}),
    Contract("sekarang", "", {"type": "object", "properties": {}}),
    Contract(
        "pesan-2",
        "Buat pesanan.",
        {
            "type": "object",
            "properties": {
                "baris": {"type": "array", "items": {"$ref": "#/$defs/Baris"}, "minItems": 1},
                "catatan": {"type": ["string", "null"], "default": None},
            },
            "required": ["baris"],
            "additionalProperties": False,
            "$defs": {
                "Baris": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "pattern": "^P"},
                        "jumlah": {"type": "integer", "minimum": 1},
                    },
                    "required": ["id", "jumlah"],
                }
            },
        },
    ),
)

RETURNS = {
    "type": "object",
    "properties": {"total": {"type": "integer"}, "mata_uang": {"type": "string"}},
    "required": ["total", "mata_uang"],
    "additionalProperties": False,
}

words = st.sampled_from(["", " ", "Halo", "Berapa harganya?", "héllo\nдом 家 🏠", '{"a": 1}', "x" * 300]) | st.text(
    max_size=8
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
names = st.sampled_from(["harga", "sekarang", "pesan-2", "", "toko.harga v2", "9hidup", "ключ", "n" * 90]) | st.text(
    max_size=6
)
_json_texts = st.sampled_from(
    ["", " ", "null", "{}", '{"id": "PRD002"}', "{broken", '"text"', "[1]", '{"n": 12345678901234567890}']
)
_ids = st.none() | st.sampled_from(["call_1", "toolu_01", "a", "x" * 70, "tidak sah !", "fc|rs"])
_bytes = st.sampled_from([b"", b"\x89PNG\r\n", b"%PDF-1.7", b"teks biasa"])
_addresses = st.none() | st.just("https://example.com/gambar.png")

texts = st.builds(Text, words)
images = st.builds(Image, st.sampled_from(["image/png", "image/jpeg", "image/gif"]), st.none() | _bytes, _addresses)
files = st.builds(
    File,
    st.sampled_from(["application/pdf", "text/plain", "application/zip"]),
    st.none() | st.sampled_from(["nota.pdf", "catatan (1).txt"]),
    st.none() | _bytes,
    _addresses,
)
foreign: st.SearchStrategy[Part] = st.one_of(
    st.builds(Thinking, words),
    st.builds(Thinking, words, st.just("c2VhbA=="), st.just(NOBODY), st.booleans()),
    st.builds(ServerCall, st.just("srv_1"), st.just("web_search"), st.just("{}"), st.just(NOBODY), json_values),
    st.builds(ServerResult, st.just("srv_1"), st.just(NOBODY), json_values),
    st.builds(Citation, st.none() | words, _addresses, st.none() | words, st.just(NOBODY), json_values),
    st.builds(Opaque, st.just(NOBODY), json_values),
)
"""Parts of providers that are not the one asked."""


@st.composite
def conversations(draw: st.DrawFn, own: st.SearchStrategy[Part] | None = None, longest: int = 6) -> tuple[Message, ...]:
    """A conversation.

    Args:
        own: parts of the provider that is asked, as its own decoder makes them.
        longest: contributions at most; an assistant's calls and their results are one.
    """
    said: st.SearchStrategy[Part] = st.one_of(texts, texts, foreign, images, files, *([own] if own is not None else []))
    messages: list[Message] = []
    calls = 0
    for _ in range(draw(st.integers(0, longest))):
        if draw(st.booleans()):
            shown = st.lists(st.one_of(texts, texts, images, files), max_size=3)
            messages.append(Message("user", tuple(draw(shown))))
            continue
        parts = draw(st.lists(said, max_size=4))
        asked: list[ToolCall] = []
        for _ in range(draw(st.integers(0, 3))):
            asked.append(ToolCall(f"t1.{calls}", draw(names), draw(_json_texts), draw(_ids)))
            calls += 1
        for call in asked:
            parts.insert(draw(st.integers(0, len(parts))), call)
        messages.append(Message("assistant", tuple(parts)))
        if asked or draw(st.integers(0, 9)) == 0:
            messages += draw(_results([part for part in parts if isinstance(part, ToolCall)]))
    return tuple(messages)


@st.composite
def _results(draw: st.DrawFn, asked: Sequence[ToolCall]) -> list[Message]:
    """What followed the calls: mostly a result for each, sometimes too few, too many, twice, or none at all."""
    contents = st.lists(st.one_of(texts, texts, images, files), max_size=3)
    fate = draw(st.sampled_from(["whole", "whole", "whole", "lost", "some", "split", "stray"]))
    given = [call for call in asked if fate not in ("lost", "some") or (fate == "some" and draw(st.booleans()))]
    results = [ToolResult(call.id, call.name, tuple(draw(contents)), draw(st.booleans())) for call in given]
    if fate == "stray":
        results.append(ToolResult("t0.99", "harga", (Text("basi"),)))
    if fate == "split" and len(results) > 1:
        return [Message("tool", tuple(results[:1])), Message("tool", tuple(results[1:]))]
    return [Message("tool", tuple(results))] if results else []


settings = st.builds(
    Settings,
    temperature=st.none() | st.just(0.1),
    max_tokens=st.none() | st.just(2000),
    top_p=st.none() | st.just(0.9),
    stop=st.sampled_from([(), ("STOP",)]),
    think=st.sampled_from([None, None, True, False, "low", "medium", "high"]),
    seed=st.none() | st.just(7),
    parallel_calls=st.none() | st.booleans(),
    cache=st.booleans(),
)


@st.composite
def requests(draw: st.DrawFn, own: st.SearchStrategy[Part] | None = None) -> ModelRequest:
    """A whole request; `own` as in `conversations`."""
    tools: tuple[Contract, ...] = draw(st.sampled_from([(), TOOLS, TOOLS[:1]]))
    choices = ["auto", "auto", "none", "required", *(tool.name for tool in tools)] if tools else ["auto"]
    returns: Any = draw(st.sampled_from([None, None, RETURNS]))
    return ModelRequest(
        draw(st.sampled_from(["", "Kamu asisten belanja."])),
        draw(conversations(own)),
        tools,
        draw(st.sampled_from(choices)),
        tools_off=draw(st.booleans()),
        note=draw(st.none() | st.just("Jawab sekarang.")),
        settings=draw(settings),
        conversation=draw(st.none() | st.just("budi/1")),
        returns=returns,
    )
