"""What came back from the web, as a model reads it: JSON as a value, text as text, a page as its words. Nothing else is read.

Pages are read by the reader that documents of that form have in `knowledge`.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from email.message import Message
from typing import Any

import msgspec

from tukang.connectors.fetching import Reached

_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([A-Za-z0-9_-]+)""", re.IGNORECASE)
_CHARSETS = re.compile(
    r"(?:utf-?(?:8|16|16le|16be)|us-ascii|ascii|latin-?1|iso-8859-\d{1,2}|windows-125\d|cp125\d|koi8-[ru]|shift_jis|euc-(?:jp|kr)"
    r"|gb(?:k|2312|18030)|big5)",
    re.IGNORECASE,
)
"""Encodings of text that pages are in. Python has others that are no encodings of text, or that are slow on purpose."""

_MARKUP = ("text/html", "application/xhtml+xml")
_TEXTUAL = re.compile(
    r"text/[\w.+-]+|application/(?:[\w.-]+\+)?(?:xml|yaml|x-yaml|toml|javascript|x-ndjson|jsonl|sql|x-www-form-urlencoded)"
)


class Unread(Exception):
    """A body that is not read. The model reads why."""


def told(reached: Reached) -> dict[str, Any]:
    """Status, address and content.

    Raises:
        Unread: it is of a kind that is not read.
    """
    kind, charset = _kind(reached.headers)
    said: dict[str, Any] = {"status": reached.status, "url": str(reached.url)}
    if place := reached.headers.get("location"):
        said["location"] = place
    if not reached.body.strip():
        return said
    if not reached.whole:
        said["cut"] = f"Only the first {len(reached.body)} bytes were read."
    if kind in _MARKUP or (not kind and reached.body.lstrip()[:1] == b"<"):
        return {**said, **_page(_text(reached.body, charset or _declared(reached.body)))}
    if kind == "application/json" or kind.endswith("+json"):
        return {**said, **_json(reached.body, charset)}
    if kind and not _TEXTUAL.fullmatch(kind):
        raise Unread(f"it is {kind}, of which only JSON, text and HTML are read")
    text = _text(reached.body, charset)
    if "\0" in text:
        raise Unread("it is neither JSON, text nor HTML")
    return {**said, "text": text}


def _kind(headers: Mapping[str, str]) -> tuple[str, str | None]:
    message = Message()
    message["Content-Type"] = " ".join(headers.get("content-type", "").split()) or "application/octet-stream"
    kind = message.get_content_type() if "content-type" in headers else ""
    charset = message.get_param("charset")
    return kind, charset if isinstance(charset, str) else None


def _declared(body: bytes) -> str | None:
    found = _CHARSET.search(body[:4096])
    return found[1].decode() if found else None


def _text(body: bytes, charset: str | None) -> str:
    known = charset if charset and _CHARSETS.fullmatch(charset.strip()) else "utf-8"
    try:
        text = body.decode(known.strip(), "replace")
    except LookupError:
        text = body.decode("utf-8", "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _json(body: bytes, charset: str | None) -> dict[str, Any]:
    text = _text(body, charset)
    try:
        return {"data": msgspec.json.decode(text)}
    except (msgspec.DecodeError, RecursionError):
        return {"text": text}  # it was cut, or is not what it says


def _page(markup: str) -> dict[str, Any]:
    if importlib.util.find_spec("selectolax") is None:
        raise Unread("it is HTML, and what reads that is not installed here: pip install 'tukang[knowledge]'")
    from tukang.knowledge.reading.html import of_markup

    page = of_markup(markup)
    lines = [f"{'#' * block.level} {block.text}" if block.kind == "heading" else block.text for block in page.blocks]
    title = {"title": page.title} if page.title else {}
    return {**title, "text": "\n\n".join(lines)}
