"""`tukang approvals collect`: decisions that a state machine's people made, and the turn that goes on with them."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.approvals.flow import Flow
from tests.cli.conftest import Cli, Script, calls
from tests.cli.test_approvals import CHECK, ORDER, ordered
from tests.moto_server import Amazon
from tukang.assistants.katalog import data_folder
from tukang.cli.target import open_target
from tukang.memory.stores.addresses import store_at


def test_what_people_decided_is_collected(
    cli: Cli, script: Script, amazon: Amazon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", amazon.url)
    flow = Flow(amazon)
    data_folder().mkdir(parents=True, exist_ok=True)
    model = script(calls(CHECK), calls(ORDER), "Jadi.")
    target = open_target("toko", model=model, user="USR042")

    async def ask() -> None:
        store = store_at(f"sqlite:///{data_folder() / 'sessions.db'}")
        chat = target.agent.session("budi", store=store)
        answer = await chat.arun("Pesan 2 SSD", context=target.context, approve=flow.channel(store))
        assert answer.stopped == "waiting"
        await store.close()

    asyncio.run(ask())
    ran = cli("approvals", "collect", flow.arn, "--lang", "id")
    assert (ran.code, ran.err) == (0, "Belum ada keputusan baru dari izin.\n")
    token, asked = flow.asked()
    assert asked["arguments"] == ORDER[1]
    asyncio.run(flow.token(token).decide(asked, "approve", by="ibu", reason="boleh"))
    flow.ended()
    ran = cli("approvals", "collect", flow.arn, "--withdraw")
    assert (ran.code, ordered()) == (0, [])
    assert "approved (ibu)" in ran.err
    assert "tukang sessions resume budi" in ran.err
    ran = cli("sessions", "resume", "budi", "--user", "USR042", "--model", script("Jadi."))
    assert ran.out == "Jadi.\n"
    assert ordered() == [2]


def test_what_was_decided_at_the_terminal_is_withdrawn(
    cli: Cli, script: Script, amazon: Amazon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", amazon.url)
    flow = Flow(amazon)
    data_folder().mkdir(parents=True, exist_ok=True)
    target = open_target("toko", model=script(calls(CHECK), calls(ORDER), "Jadi."), user="USR042")

    async def ask() -> None:
        store = store_at(f"sqlite:///{data_folder() / 'sessions.db'}")
        await target.agent.session("budi", store=store).arun(
            "Pesan", context=target.context, approve=flow.channel(store)
        )
        await store.close()

    asyncio.run(ask())
    (one,) = json.loads(cli("approvals", "list", "--json").out)
    cli("approvals", "refuse", one["key"])
    assert cli("approvals", "collect", flow.arn, "--withdraw").err == f"asked about no longer: {one['key']}\n"


def test_what_is_no_state_machine_is_said(cli: Cli) -> None:
    ran = cli("approvals", "collect", "izin")
    assert ran.code == 2
    assert "arn:aws:states:" in ran.err
