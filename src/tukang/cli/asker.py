"""Asks at the terminal whether a call may run: shows tool, arguments and effect, and takes the answer. One at a time.

Whoever was named on the command line (`--approve`) is not asked about; where there is no terminal, nobody is.
"""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, cast

import msgspec

from tukang.agent import Agent
from tukang.approvals.standing import Bound, Standing, standing_verdict
from tukang.cli import keyboard
from tukang.cli.approval_texts import APPROVAL_TEXTS
from tukang.cli.screen import Screen, one_line
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.runtime.people import Approval, Verdict
from tukang.tools.names import nearest

_LONGEST = 400

ON_THE_LINE = "--approve"
"""Who decided, where it was the command line."""


def user() -> str:
    """Who is at this terminal."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user that the system does not know
        return ""


def must_have(agent: Agent, names: Collection[str], target: str, texts: Texts, option: str = ON_THE_LINE) -> None:
    """Hold what an option names against the tools there are.

    Raises:
        ConfigurationError: one of the names is no tool's.
    """
    known = [tool.name for tool in agent.toolbox]
    for name in names:
        if name not in known:
            raise ConfigurationError(
                APPROVAL_TEXTS[texts.language].no_tool.format(
                    option=option, name=name, target=target, near=near(name, known), known=", ".join(known) or "-"
                )
            )


def near(name: str, known: Collection[str]) -> str:
    """`; X?` for the name that was probably meant."""
    close = nearest(name, known, most=1)
    return f" ({close[0]}?)" if close else ""


class Asker:
    """Decides about calls; see `tukang.runtime.people.Approver`.

    Args:
        screen, texts: where to ask, and in which language.
        allowed: the tools that may run without being asked about.
        may_wait: whether a call may be left for later.
        given: permissions for the session, given before.
        give: is told when another one is given, so that it can be kept.
        asks: whether there is somebody to ask.
    """

    def __init__(
        self,
        screen: Screen,
        texts: Texts,
        allowed: Collection[str] = (),
        *,
        may_wait: bool = False,
        given: tuple[Standing, ...] = (),
        give: Callable[[tuple[Standing, ...]], Awaitable[None]] | None = None,
        asks: bool | None = None,
    ) -> None:
        self._screen = screen
        self._texts = APPROVAL_TEXTS[texts.language]
        self._allowed = frozenset(allowed)
        self._may_wait = may_wait
        self._given = given
        self._give = give
        self._asks = keyboard.at_terminal() if asks is None else asks
        self._one_at_a_time = asyncio.Lock()

    @property
    def decides(self) -> bool:
        """Whether it can decide about anything at all."""
        return self._asks or bool(self._allowed) or bool(self._given)

    async def __call__(self, asked: Approval) -> Verdict | None:
        if asked.tool in self._allowed:
            return asked.approve(by=ON_THE_LINE)
        async with self._one_at_a_time:
            if known := standing_verdict(self._given, asked):
                return known
            if not self._asks:
                return (
                    None if self._may_wait else asked.refuse(self._texts.hint.format(options=f"--approve {asked.tool}"))
                )
            self._screen.hold()
            try:
                return await self._decide(asked)
            finally:
                self._screen.let_go()

    async def _decide(self, asked: Approval) -> Verdict | None:
        texts = self._texts
        self._show(asked, asked.arguments)
        while True:
            choice = await self._line(texts.choices + (texts.later if self._may_wait else ""))
            if choice is None:  # nobody is there any more
                return None
            match texts.keys.get(choice.lower()):
                case "approve":
                    return asked.approve(by=user())
                case "refuse":
                    return asked.refuse(await self._line(texts.reason) or "", by=user())
                case "edit":
                    if verdict := await self._edited(asked):
                        return verdict
                case "always":
                    if verdict := await self._always(asked):
                        return verdict
                case "later" if self._may_wait:
                    return None
                case _:
                    self._screen.prompted(texts.which, "yellow")

    def _show(self, asked: Approval, arguments: Mapping[str, Any]) -> None:
        texts = self._texts
        self._screen.prompted(
            texts.asks.format(tool=asked.tool), "bold yellow", f"  [{asked.effect}: {texts.effects[asked.effect]}]"
        )
        if asked.why:
            self._screen.prompted(f"  {one_line(asked.why, _LONGEST)}", "bold")
        for name, value in arguments.items():
            self._screen.prompted(f"    {name} = {_shown(value)}")

    async def _edited(self, asked: Approval) -> Verdict | None:
        """The call with what the user made of it; None when they thought better of it."""
        self._screen.prompted(self._texts.edit_how, "dim")
        arguments: dict[str, Any] = {}
        for name, value in asked.arguments.items():
            given = await self._line(f"{name} [{_shown(value)}]")
            if given is None:
                return None
            arguments[name] = value if given == "" else read(given, value)
        if arguments == asked.arguments:
            self._screen.prompted(self._texts.edit_none, "dim")
            return None
        self._show(asked, arguments)
        sure = await self._line(self._texts.edit_sure)
        if sure is None or self._texts.keys.get(sure.lower()) != "approve":
            return None
        return asked.edit(arguments, by=user())

    async def _always(self, asked: Approval) -> Verdict | None:
        self._screen.prompted(self._texts.always_how, "dim")
        bounds: dict[str, Bound] = {}
        for name, value in asked.arguments.items():
            bound = await self._bound(name, value)
            if bound is None:
                return None
            bounds[name] = bound
        standing = Standing(asked.tool, bounds, user())
        self._given = (*self._given, standing)
        if self._give is not None:
            await self._give(self._given)
        self._screen.prompted(self._texts.always_given.format(what=standing), "dim")
        return standing_verdict(
            (standing,), asked
        )  # a bound below what is asked for now permits it no more than any other

    async def _bound(self, name: str, value: Any) -> Bound | None:
        while (given := await self._line(f"{name} [{_shown(value)}]")) is not None:
            given = given.strip()
            if given == "":
                return Bound(equals=(value,))
            if given == "*":
                return Bound(anything=True)
            try:
                return Bound(at_most=float(given.removeprefix("<=").removeprefix("≤")))
            except ValueError:
                self._screen.prompted(self._texts.no_number.format(text=one_line(given, 40)), "yellow")
        return None

    async def _line(self, question: str) -> str | None:
        self._screen.question(f"  {question} › ")
        line = await keyboard.line()
        return None if line is None else line.strip()


def read(text: str, before: Any) -> Any:
    """A new value as it was typed: text for a text, else JSON where it is, so that `2` is a number."""
    if isinstance(before, str):
        return text
    try:
        return cast("object", msgspec.json.decode(text))
    except msgspec.DecodeError:
        return text


def _shown(value: Any) -> str:
    return one_line(msgspec.json.encode(value).decode(), _LONGEST)
