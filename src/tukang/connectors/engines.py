"""What search engines are asked, and what they say: SearXNG's and Brave's own JSON, made into results of one form. Pure.

Sources: SearXNG, `docs/dev/search_api.rst` and what `searx/webutils.py` writes; Brave, the reference of its Web Search API
(`GET /res/v1/web/search`, the header `X-Subscription-Token`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import msgspec
from yarl import URL

Engine = Literal["searxng", "brave"]
Freshness = Literal["day", "week", "month", "year"]

BRAVE = "https://api.search.brave.com/res/v1/web/search"
_BRAVE_MOST = 20
_BRAVE_LONGEST, _BRAVE_WORDS = 400, 50
_FRESH = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_TAG = re.compile(r"<[^<>]{0,200}>")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

LONGEST_SNIPPET = 500


class Sought(msgspec.Struct, frozen=True):
    """A question, in no engine's words.

    Args:
        query: the words.
        most: results that are wanted.
        fresh: no older than this, if said.
        domains, blocked: only pages of these, none of these.
        country: two letters.
        language: as the engine writes it.
    """

    query: str
    most: int
    fresh: Freshness | None = None
    domains: Sequence[str] = ()
    blocked: Sequence[str] = ()
    country: str = ""
    language: str = ""


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page that was found. `date` is a day (`2026-11-30`), where the engine knows one."""

    title: str
    url: str
    snippet: str = ""
    date: str = ""


class Unusable(Exception):
    """What came is not the engine's answer. The model reads it; `told` is for the developer."""

    def __init__(self, message: str, told: str = "") -> None:
        super().__init__(message)
        self.message, self.told = message, told


def asked(engine: Engine, sought: Sought) -> dict[str, str]:
    """The fields of the request's address."""
    sites = " OR ".join(f"site:{domain}" for domain in sought.domains)
    query = " ".join(filter(None, (sought.query, sites, *(f"-site:{domain}" for domain in sought.blocked))))
    if engine == "searxng":
        more = {"language": sought.language, "time_range": sought.fresh or ""}
        return {"q": query, "format": "json", **{name: value for name, value in more.items() if value}}
    words = query.split()[:_BRAVE_WORDS]
    fields = {
        "q": " ".join(words)[:_BRAVE_LONGEST],
        "count": str(_BRAVE_MOST),  # the same price as fewer, and some are left out here
        "result_filter": "web",
        "text_decorations": "false",
        "country": sought.country,
        "search_lang": sought.language,
        "freshness": _FRESH[sought.fresh] if sought.fresh else "",
    }
    return {name: value for name, value in fields.items() if value}


def read(engine: Engine, status: int, body: bytes, sought: Sought) -> list[Result]:
    """What was found.

    Raises:
        Unusable: it is no answer.
    """
    if status != 200:
        raise _trouble(engine, status)
    try:
        answer = _fields(msgspec.json.decode(body))
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unusable("the search engine's answer cannot be read", f"{engine} sent no JSON") from error
    found = answer.get("results") if engine == "searxng" else _fields(answer.get("web")).get("results", [])
    if not isinstance(found, list):
        raise Unusable("the search engine's answer cannot be read", f"{engine} sent JSON without results")
    result_of = _searxng if engine == "searxng" else _brave
    kept: dict[str, Result] = {}
    for one in cast("list[Any]", found):
        result = result_of(_fields(one))
        if _wanted(result.url, sought) and result.url not in kept:
            kept[result.url] = result
    return list(kept.values())[: sought.most]


def _searxng(one: Mapping[str, Any]) -> Result:
    return Result(
        _words(one.get("title")), _text(one.get("url")), _words(one.get("content")), _day(one.get("publishedDate"))
    )


def _brave(one: Mapping[str, Any]) -> Result:
    snippet = one.get("description") or next(iter(cast("list[Any]", one.get("extra_snippets") or [])), "")
    return Result(_words(one.get("title")), _text(one.get("url")), _words(snippet), _day(one.get("page_age")))


def _wanted(address: str, sought: Sought) -> bool:
    """Whether it is an address of the web, and one that was asked for: engines take `site:` for a wish."""
    try:
        url = URL(address)
    except ValueError:
        return False
    host = (url.raw_host or "").lower()
    if url.scheme not in ("http", "https") or not host:
        return False
    if sought.domains and not any(_below(host, domain) for domain in sought.domains):
        return False
    return not any(_below(host, domain) for domain in sought.blocked)


def _below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _trouble(engine: Engine, status: int) -> Unusable:
    if engine == "searxng" and status == 403:
        return Unusable(
            "the search engine does not answer programs",
            "SearXNG answered 403: allow the format in its settings.yml (search: formats: [html, json]), or its limiter",
        )
    if status in (401, 403, 422) and engine == "brave":
        return Unusable(
            "the search engine did not take the request", f"Brave answered {status}: check the key and its plan"
        )
    if status == 429:
        return Unusable("the search engine has been asked too often; try a little later", f"{engine} answered 429")
    return Unusable(f"the search engine failed ({status})", f"{engine} answered {status}")


def _words(value: object) -> str:
    """A text without markup, on one line."""
    plain = " ".join(html.unescape(_TAG.sub("", _text(value))).split())
    return plain if len(plain) <= LONGEST_SNIPPET else f"{plain[:LONGEST_SNIPPET]}…"


def _day(value: object) -> str:
    found = _DATE.match(_text(value))
    return found[0] if found else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _fields(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
