"""What the HTTP tool sends: methods that are writes, headers, secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from tests.connectors.conftest import acall, value
from tests.connectors.http_calls import leads, run, silent
from tests.connectors.site import Site, serving
from tukang import Agent, Secret
from tukang.connectors import http_tool
from tukang.errors import ConfigurationError, ToolDefinitionError
from tukang.models.scripted import Scripted
from tukang.models.scripted import call as asks
from tukang.tools.outcome import Fault
from tukang.tools.tool import Tool

# ── methods ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def writer(site: Site, **options: Any) -> Tool:
    return http_tool([site.here], http=True, private=True, methods=["GET", "POST", "DELETE"], **options)


def test_only_a_get_is_possible_unless_more_is_said() -> None:
    tool = http_tool(["api.example.com"])
    assert set(tool.contract.parameters["properties"]) == {"url"}
    more = http_tool(["api.example.com"], methods=["HEAD", "GET"])
    assert more.contract.parameters["properties"]["method"]["enum"] == ["GET", "HEAD"]
    assert more.policy.effect == "read"
    only = http_tool(["api.example.com"], methods=["POST"])
    assert set(only.contract.parameters["properties"]) == {"url", "body"}
    assert only.policy.effect_of({"url": "https://api.example.com"}) == "write"


def test_any_other_method_is_a_write_and_asks() -> None:
    async def asked() -> None:
        async with serving(lambda _: web.json_response({"id": 7}, status=201)) as site:
            tool = writer(site)
            assert tool.policy.effect_of({"method": "POST"}) == "write"
            assert tool.policy.effect_of({"method": "GET"}) == "read"
            assert tool.policy.approving_of("write") == "ask"
            url = f"http://{site.here}/pesanan"
            model = Scripted([asks("fetch", url=url, method="POST", body='{"n": 1}'), "Sudah."])
            answer = await Agent(model, tools=[tool]).arun("Pesan satu.", approve=lambda _: False)
            assert site.asked == []
            fault_ = answer.steps[0].fault
            assert fault_ is not None
            assert fault_.kind == "refused"
            model = Scripted([asks("fetch", url=url, method="POST", body='{"n": 1}'), "Sudah."])
            answer = await Agent(model, tools=[tool]).arun("Pesan satu.", approve=lambda _: True)
            assert '"status":201' in answer.steps[0].result
            assert [(one.method, one.headers["Content-Type"]) for one in site.asked] == [("POST", "application/json")]
            with pytest.raises(ToolDefinitionError, match="cannot be 'read'"):
                writer(site, effect="read")

    run(asked)


def test_a_write_is_not_led_elsewhere_and_a_lost_answer_is_unknown() -> None:
    async def asked() -> None:
        async with serving(leads(lambda: "/akhir", 307)) as site:
            said = value(await acall(writer(site), url=f"http://{site.here}/awal", method="DELETE"))
            assert (said["status"], said["location"]) == (307, "/akhir")
            assert site.paths == ["/awal"]
        async with serving(silent) as site:
            outcome = await acall(writer(site, seconds=0.3), url=f"http://{site.here}/", method="POST", body="x")
            assert outcome.fault is not None
            assert outcome.fault.kind == "outcome_unknown"
        outcome = await acall(writer(site, seconds=0.3), url=f"http://{site.here}/", method="POST", body="x")
        assert outcome.fault is not None
        assert outcome.fault.kind == "nothing_done"

    run(asked)


# ── headers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_secret_goes_to_its_host_and_to_no_other() -> None:
    async def asked() -> None:
        async with (
            serving(lambda request: web.Response(text=str(dict(request.headers)))) as other,
            serving(leads(lambda: f"http://{other.here}/akhir")) as site,
        ):
            headers = {site.here: {"Authorization": Secret("KUNCI"), "X-Toko": "7"}}
            tool = http_tool([site.here, other.here], http=True, private=True, headers=headers)
            assert "secret" not in json.dumps(tool.contract.parameters).lower()
            assert isinstance(tool.validate({"url": f"http://{site.here}/", "secret_1": "palsu"}), Fault)
            model = Scripted([asks("fetch", url=f"http://{site.here}/awal"), "Sudah."])
            agent = Agent(model, tools=[tool], secrets={"KUNCI": "Bearer sangat-rahasia-1"})
            answer = await agent.arun("Ambil.")
            assert site.asked[0].headers["Authorization"] == "Bearer sangat-rahasia-1"
            assert site.asked[0].headers["X-Toko"] == "7"
            assert "Authorization" not in other.asked[0].headers
            assert "X-Toko" not in other.asked[0].headers
            assert "sangat-rahasia" not in str(answer.events) + str(model.requests)

    run(asked)


def test_a_server_that_repeats_what_it_was_sent_gives_no_secret_away() -> None:
    async def asked() -> None:
        async with serving(lambda request: web.json_response(dict(request.headers))) as site:
            fixed = {site.here: {"X-Api-Key": "tetap-rahasia-9"}}
            tool = http_tool([site.here], http=True, private=True, headers=fixed)
            assert "tetap-rahasia" not in (await acall(tool, url=f"http://{site.here}/")).text
            held = http_tool([site.here], http=True, private=True, headers={site.here: {"X-Api-Key": Secret("K")}})
            outcome = await acall(held, {"secret_1": "titipan-rahasia-9"}, url=f"http://{site.here}/")
            assert site.asked[-1].headers["X-Api-Key"] == "titipan-rahasia-9"
            assert "titipan-rahasia" not in outcome.text

    run(asked)


def test_headers_that_cannot_be_are_told_to_the_developer() -> None:
    for headers in (
        {"lain.example.com": {"A": "b"}},
        {"api.example.com": {"Host": "x"}},
        {"api.example.com": {"A b": "x"}},
        {"api.example.com": {"A": "x\r\nB: y"}},
        {"api.example.com": "A: b"},
    ):
        with pytest.raises(ToolDefinitionError):
            http_tool(["api.example.com"], headers=headers)  # pyright: ignore[reportArgumentType]
    tool = http_tool(["api.example.com"], headers={"api.example.com": {"A": Secret("KUNCI")}})
    with pytest.raises(ConfigurationError, match="needs the secret 'KUNCI'"):
        Agent(Scripted([]), tools=[tool])
    with pytest.raises(ToolDefinitionError, match="in the open"):
        http_tool(["api.example.com"], http=True, headers={"api.example.com": {"Authorization": "Bearer x"}})
    with pytest.raises(ToolDefinitionError, match="methods are some of"):
        http_tool(["api.example.com"], methods=["TRACE"])
