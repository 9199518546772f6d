"""`tukang demo`: the shop's scenarios, run for real on a fresh catalogue, shown and judged."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from msgspec.structs import replace

from tukang.agent import Agent
from tukang.answer import Answer
from tukang.assistants import toko
from tukang.assistants.demo import CUSTOMER, SCENARIOS, Scenario, Shop, judge
from tukang.assistants.katalog import Katalog
from tukang.cli import exits
from tukang.cli.approval_texts import APPROVAL_TEXTS
from tukang.cli.language import why
from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.target import choose_telling
from tukang.cli.texts import Texts
from tukang.cli.turns import follow
from tukang.cli.view import View
from tukang.models.base import Model
from tukang.runtime.people import Approval, Verdict

_PATIENCE = 600.0
"""Seconds a scenario may take: this judges what a model does, not how fast the machine is."""


def demo(screen: Screen, texts: Texts, *, model: str | Model) -> int:
    """Run the scenarios and say how they went. The catalogue is a new file each time, and named.

    Returns:
        0 when every scenario went as it should.
    """
    katalog = Katalog(Path(tempfile.mkdtemp(prefix="tukang-demo-")) / "toko.db")
    choice = choose_telling(model, progress(screen, texts))
    screen.note((texts.model.format(name=choice.model.name, why=why(choice.why, texts.language)), "dim"))
    screen.note((APPROVAL_TEXTS[texts.language].demo, "dim"))
    agent = toko.agent(choice.model, katalog.path)
    agent.limits = replace(agent.limits, seconds=_PATIENCE)
    wrong = 0
    with asyncio.Runner() as runner:
        for number, scenario in enumerate(SCENARIOS, 1):
            head = texts.demo_scenario.format(number=number, count=len(SCENARIOS), question=scenario.question)
            screen.note()
            screen.note((head, "bold"))
            right = _play(runner, screen, texts, agent, katalog, scenario)
            if right is None:
                screen.note((texts.interrupted, "yellow"))
                return exits.INTERRUPTED
            wrong += not right
    _show_shop(screen, texts, katalog)
    return exits.PARTIAL if wrong else exits.ANSWERED


def _play(
    runner: asyncio.Runner, screen: Screen, texts: Texts, agent: Agent, katalog: Katalog, scenario: Scenario
) -> bool | None:
    """Whether it went as it should; None when the user stopped it."""
    before = Shop.of(katalog)
    view = View(screen, texts)
    screen.busy(texts.preparing + " …")
    answer = runner.run(_turn(agent, scenario, view))
    if answer is None or answer.stopped == "cancelled":
        screen.still()
        return None
    view.finish(answer)
    misses = judge(scenario, answer, before, Shop.of(katalog))
    if misses:
        said = ", ".join(texts.demo_misses[miss] for miss in misses)
        screen.note((texts.demo_wrong.format(misses=said), "bold red"))
    else:
        screen.note((texts.demo_right, "bold green"))
    return not misses


def _approve(asked: Approval) -> Verdict:
    """What the demonstration says it does."""
    return asked.approve(by="tukang demo") if asked.tool == "buat_pesanan" else asked.refuse()


async def _turn(agent: Agent, scenario: Scenario, view: View) -> Answer | None:
    return await follow(agent.stream(scenario.question, context=toko.Pelanggan(CUSTOMER), approve=_approve), view.see)


def _show_shop(screen: Screen, texts: Texts, katalog: Katalog) -> None:
    shop = Shop.of(katalog)
    screen.note()
    screen.note((texts.demo_orders, "bold"))
    for order in shop.orders:
        total = toko.rupiah(order.total)
        screen.note(f"  {order.nomor}  {order.product_id} × {order.quantity}  {total}  {order.user_id}  {order.status}")
    if not shop.orders:
        screen.note("  " + texts.demo_no_orders)
    screen.note((texts.demo_stock, "bold"))
    for product in shop.products:
        screen.note(f"  {product.product_id}  {product.nama}  {toko.rupiah(product.harga)}  {product.stok}")
    screen.note((texts.demo_database.format(path=katalog.path), "dim"))
