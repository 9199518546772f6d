"""The search tool against small servers that answer as SearXNG and Brave document their answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from tests.connectors.conftest import acall, fault, value
from tests.connectors.site import Site, serving
from tukang import Agent, Secret
from tukang.connectors import web_search
from tukang.connectors.engines import LONGEST_SNIPPET
from tukang.errors import ConfigurationError, ToolDefinitionError, ToolWarning
from tukang.models.scripted import Scripted
from tukang.models.scripted import call as asks
from tukang.tools.tool import Tool


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # pyright: ignore[reportArgumentType]


def of_searxng(*results: dict[str, Any]) -> dict[str, Any]:
    """As SearXNG's `format=json` writes it."""
    return {
        "query": "harga emas",
        "number_of_results": 0,
        "results": [
            {
                "engine": "duckduckgo",
                "engines": ["duckduckgo", "brave"],
                "template": "default.html",
                "parsed_url": ["https", "contoh.id", "/emas", "", "", ""],
                "positions": [1],
                "score": 2.0,
                "category": "general",
                "thumbnail": None,
                "publishedDate": None,
                **one,
            }
            for one in results
        ],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": ["harga emas hari ini"],
        "unresponsive_engines": [["google", "timeout"]],
    }


def of_brave(*results: dict[str, Any]) -> dict[str, Any]:
    """As Brave's Web Search API writes it."""
    return {
        "type": "search",
        "query": {"original": "harga emas", "spellcheck_off": False, "more_results_available": True},
        "web": {
            "type": "search",
            "results": [
                {
                    "language": "id",
                    "meta_url": {"scheme": "https", "netloc": "contoh.id", "hostname": "contoh.id", "path": "› emas"},
                    "profile": {"name": "Contoh", "url": "https://contoh.id", "long_name": "contoh.id", "img": "…"},
                    "age": "2 days ago",
                    **one,
                }
                for one in results
            ],
            "family_friendly": True,
        },
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}], "top": [], "side": []},
    }


EMAS = {
    "searxng": of_searxng(
        {
            "url": "https://contoh.id/emas",
            "title": "Harga <b>emas</b> &amp; perak",
            "content": "Rp 2.000.000\n per gram",
            "publishedDate": "2026-11-29T07:00:00",
        },
        {"url": "https://lain.id/", "title": "Lain", "content": ""},
        {"url": "https://contoh.id/emas", "title": "Sekali lagi", "content": ""},
        {"url": "javascript:alert(1)", "title": "Jahat", "content": ""},
    ),
    "brave": of_brave(
        {
            "url": "https://contoh.id/emas",
            "title": "Harga emas &amp; perak",
            "description": "<strong>Rp 2.000.000</strong> per gram",
            "page_age": "2026-11-29T07:00:00",
        },
        {"url": "https://lain.id/", "title": "Lain"},
    ),
}
ENGINES = pytest.mark.parametrize("engine", ["searxng", "brave"])


def made(engine: Any, site: Site, **options: Any) -> Tool:
    key = {"key": "kunci-brave-rahasia"} if engine == "brave" else {}
    return web_search(engine, url=f"http://{site.here}/cari", **{**key, **options})


@ENGINES
def test_results_of_every_engine_have_one_form(engine: str) -> None:
    async def asked() -> None:
        async with serving(lambda _: web.json_response(EMAS[engine])) as site:
            outcome = await acall(made(engine, site), query="harga emas")
            assert value(outcome)["results"] == [
                {
                    "title": "Harga emas & perak",
                    "url": "https://contoh.id/emas",
                    "snippet": "Rp 2.000.000 per gram",
                    "date": "2026-11-29",
                },
                {"title": "Lain", "url": "https://lain.id/"},
            ]
            assert outcome.origin == f"a web search ({engine})"

    run(asked)


def test_searxng_is_asked_in_its_own_words() -> None:
    async def asked() -> None:
        async with serving(lambda _: web.json_response(EMAS["searxng"])) as site:
            tool = made("searxng", site, language="id")
            await acall(tool, query="harga emas & perak?", fresh="week")
            (request,) = site.asked
            assert (request.method, request.path) == ("GET", "/cari/search")
            expected = {"q": "harga emas & perak?", "format": "json", "language": "id", "time_range": "week"}
            assert dict(request.query) == expected

    run(asked)


def test_brave_is_asked_in_its_own_words() -> None:
    async def asked() -> None:
        async with serving(lambda _: web.json_response(EMAS["brave"])) as site:
            tool = made("brave", site, near={"country": "ID", "city": "Bandung"}, language="en")
            await acall(tool, query="emas " * 60, fresh="month")
            (request,) = site.asked
            assert request.headers["X-Subscription-Token"] == "kunci-brave-rahasia"
            assert request.headers["Accept"] == "application/json"
            assert (request.headers["X-Loc-Country"], request.headers["X-Loc-City"]) == ("ID", "Bandung")
            query = dict(request.query)
            assert len(query.pop("q").split()) == 50
            assert query == {
                "count": "20",
                "result_filter": "web",
                "text_decorations": "false",
                "country": "ID",
                "search_lang": "en",
                "freshness": "pm",
            }

    run(asked)


@ENGINES
def test_domains_are_kept_whatever_the_engine_makes_of_the_wish(engine: str) -> None:
    async def asked() -> None:
        async with serving(lambda _: web.json_response(EMAS[engine])) as site:
            only = value(await acall(made(engine, site, domains=["lain.id", "go.id"]), query="emas"))
            assert [one["url"] for one in only["results"]] == ["https://lain.id/"]
            assert site.asked[0].query["q"] == "emas site:lain.id OR site:go.id"
            but = value(await acall(made(engine, site, blocked=["lain.id"]), query="emas"))
            assert [one["url"] for one in but["results"]] == ["https://contoh.id/emas"]
            assert site.asked[1].query["q"] == "emas -site:lain.id"
            none = value(await acall(made(engine, site, domains=["d.id"]), query="emas"))
            assert none == {"results": [], "note": "Nothing was found. Try other words."}

    run(asked)


@ENGINES
def test_results_and_snippets_are_bounded(engine: str) -> None:
    make = of_searxng if engine == "searxng" else of_brave
    long = "x" * 5000
    many = make(
        *({"url": f"https://a.id/{at}", "title": long, "content": long, "description": long} for at in range(30))
    )

    async def asked() -> None:
        async with serving(lambda _: web.json_response(many)) as site:
            found = value(await acall(made(engine, site, results=3), query="x"))["results"]
            assert len(found) == 3
            assert len(found[0]["snippet"]) == len(found[0]["title"]) == LONGEST_SNIPPET + 1

    run(asked)


@pytest.mark.parametrize(
    ("engine", "status", "body", "said", "told"),
    [
        ("searxng", 403, "<html>", "does not answer programs", "settings.yml"),
        ("searxng", 429, "", "asked too often", "429"),
        ("searxng", 200, "<html>SearXNG</html>", "cannot be read", "no JSON"),
        ("searxng", 200, '{"results": 7}', "cannot be read", "without results"),
        ("searxng", 302, "", "failed", "302"),
        (
            "brave",
            401,
            '{"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}',
            "did not take the request",
            "check the key",
        ),
        ("brave", 422, "{}", "did not take the request", "check the key"),
        ("brave", 429, "{}", "asked too often", "429"),
        ("brave", 500, "", "failed", "500"),
        ("brave", 200, "[1]", None, None),
        ("brave", 200, '{"type": "search", "query": {}}', None, None),
    ],
)
def test_what_is_no_answer_is_a_fault(engine: str, status: int, body: str, said: str | None, told: str | None) -> None:
    async def asked() -> None:
        headers = {"Location": "http://127.0.0.1:1/"} if status == 302 else {}
        async with serving(lambda _: web.Response(status=status, text=body, headers=headers)) as site:
            tool = made(engine, site)
            if said is None:
                assert value(await acall(tool, query="emas"))["results"] == []
                return
            if status == 302:
                assert "leads elsewhere" in fault(await acall(tool, query="emas"))[0]
                return
            with pytest.warns(ToolWarning, match=told):
                message, hint = fault(await acall(tool, query="emas"))
            assert said in message
            assert "kunci-brave" not in message + hint

    run(asked)


def test_an_engine_that_is_not_there_is_a_fault() -> None:
    tool = web_search("searxng", url="http://127.0.0.1:9", seconds=1)
    with pytest.warns(ToolWarning, match="takes no connections"):
        assert "could not be asked" in fault(asyncio.run(acall(tool, query="emas")))[0]


def test_a_key_comes_from_the_vault_and_reaches_nobody_else() -> None:
    async def asked() -> None:
        async with serving(
            lambda request: web.json_response(of_brave({"url": "https://a.id", "title": str(request.headers)}))
        ) as site:
            tool = made("brave", site, key=Secret("BRAVE"))
            model = Scripted([asks("web_search", query="emas"), "Rp 2 juta."])
            answer = await Agent(model, tools=[tool], secrets={"BRAVE": "kunci-dari-brankas"}).arun("Harga emas?")
            assert site.asked[0].headers["X-Subscription-Token"] == "kunci-dari-brankas"
            assert "kunci-dari-brankas" not in json.dumps(answer.steps[0].result) + str(model.requests)

    run(asked)


def test_what_is_not_said_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEARXNG_URL", "BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="set SEARXNG_URL"):
        web_search("searxng")
    with pytest.raises(ConfigurationError, match="set BRAVE_SEARCH_API_KEY"):
        web_search("brave")
    monkeypatch.setenv("BRAVE_API_KEY", "kunci")
    assert web_search("brave").name == "web_search"

    async def asked() -> None:
        async with serving(lambda _: web.json_response(EMAS["searxng"])) as site:
            monkeypatch.setenv("SEARXNG_URL", f"http://{site.here}/")
            assert len(value(await acall(web_search("searxng"), query="emas"))["results"]) == 2
            assert site.asked[0].path == "/search"

    run(asked)


@pytest.mark.parametrize(
    "options",
    [
        {"domains": ["a.id"], "blocked": ["b.id"]},
        {"domains": "a.id"},
        {"domains": ["https://a.id/"]},
        {"results": 0},
        {"seconds": 0},
        {"near": {"kota": "Bandung"}},
        {"near": {"country": "ID"}},
        {"url": "ftp://a.id"},
        {"url": "https://budi:kata@a.id"},
    ],
)
def test_what_cannot_be_is_told_to_the_developer(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        web_search("searxng", **{"url": "https://cari.contoh.id", **options})
    with pytest.raises(ToolDefinitionError, match="'searxng' or 'brave'"):
        web_search("google", url="https://a.id")  # pyright: ignore[reportArgumentType]
