"""A screen, a mouse and a keyboard for a model, on an X display.

Its actions are those of Anthropic's computer use tool, whose models were trained on it:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/computer-use-tool. What is on a screen may be anybody's words,
so its results count as coming from outside. An action that failed takes the ones behind it in the same reply with it: they
were meant for another screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from tukang.machine.display import Display
from tukang.machine.keys import combination, modifiers
from tukang.machine.making import made
from tukang.tools.context import CallContext
from tukang.tools.contract import Defined
from tukang.tools.outcome import NothingDone
from tukang.tools.policy import Predicate
from tukang.tools.tool import Tool

NAME = "computer"
READING = ("screenshot", "cursor_position", "zoom")
_HARMLESS = (*READING, "wait")
_CLICKS: Mapping[str, tuple[str, str]] = {  # the button, and how often
    "left_click": ("1", "1"),
    "middle_click": ("2", "1"),
    "right_click": ("3", "1"),
    "double_click": ("1", "2"),
    "triple_click": ("1", "3"),
}
_WHEEL = {"up": "4", "down": "5", "left": "6", "right": "7"}
_ACTIONS = (
    *_HARMLESS,
    *_CLICKS,
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "mouse_move",
    "scroll",
    "type",
    "key",
    "hold_key",
)
MOST_TYPED, MOST_SECONDS, MOST_TIMES = 4000, 30, 100
"""Characters typed, seconds waited or held, clicks of the wheel or repeats of a key, in one action."""

_POINT = {"type": "array", "items": {"type": "integer"}}


def _schema(width: int, height: int) -> dict[str, Any]:
    point = f"[x, y] in pixels of the screenshot, which is {width} wide and {height} high"
    return {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(_ACTIONS), "description": "What to do."},
            "coordinate": {
                **_POINT,
                "description": f"Where: {point}. Without it, clicks and scrolls are where the mouse is.",
            },
            "start_coordinate": {**_POINT, "description": "left_click_drag: where it begins."},
            "region": {**_POINT, "description": "zoom: [left, top, right, bottom] of what to see enlarged."},
            "text": {
                "type": "string",
                "description": "type: what to type. key, hold_key: a key or combination, such as ctrl+s. Clicks, scroll: "
                "keys to hold meanwhile.",
            },
            "duration": {"type": "integer", "description": "wait, hold_key: seconds."},
            "repeat": {"type": "integer", "description": "key: how often; once by default."},
            "scroll_direction": {"type": "string", "enum": list(_WHEEL), "description": "scroll: where to."},
            "scroll_amount": {"type": "integer", "description": "scroll: clicks of the wheel."},
        },
        "required": ["action"],
    }


def computer(display: str, *, longest: int = 1280, approval: Literal["ask", "never"] | Predicate | None = None) -> Tool:
    """A screen, a mouse and a keyboard on an X display. Give it one of its own (Xvfb), with nothing on it that may not be
    clicked.

    Args:
        display: such as `:99`.
        longest: pixels of the longer side of what the model is shown; coordinates are scaled to the screen as it is.
        approval: who permits an action; None: to look and to wait asks nobody, all else asks.

    Raises:
        ConfigurationError: xdotool or ImageMagick is not installed, or there is no such display.
    """
    screen = Display(display, longest)
    width, height = screen.shown
    return made(
        NAME,
        "Work a computer's screen, mouse and keyboard. Take a screenshot first, and again to see what an action did.",
        _schema(width, height),
        _Computer(screen).run,
        Defined("computer", {"width": width, "height": height}),
        {
            "effect": "write",
            "repeatable": True,
            "reads_when": {"action": READING},
            "approval": _harmful if approval is None else approval,
            "untrusted": True,
            "max_output": None,
        },
    )


def _harmful(arguments: Mapping[str, Any], context: CallContext) -> bool:  # noqa: ARG001
    """Whether an action may change anything."""
    return arguments.get("action") not in _HARMLESS


class _Given(msgspec.Struct, frozen=True):
    """The arguments beside the action, as in the schema."""

    coordinate: list[int] | None
    start_coordinate: list[int] | None
    region: list[int] | None
    text: str | None
    duration: int | None
    repeat: int | None
    scroll_direction: str | None
    scroll_amount: int | None


class _Computer:
    """The actions, on a display."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._failed: str | None = None

    async def run(
        self,
        context: CallContext,
        action: str,
        coordinate: list[int] | None = None,
        start_coordinate: list[int] | None = None,
        region: list[int] | None = None,
        text: str | None = None,
        duration: int | None = None,
        repeat: int | None = None,
        scroll_direction: str | None = None,
        scroll_amount: int | None = None,
    ) -> str | bytes:
        reply = context.call_id.rpartition("-")[0] or context.call_id
        if self._failed == reply:
            raise NothingDone("an earlier action of this reply failed, so this one was not done", "Look, and go on.")
        given = _Given(coordinate, start_coordinate, region, text, duration, repeat, scroll_direction, scroll_amount)
        try:
            return await self._act(action, given)
        except BaseException:
            self._failed = reply
            raise

    async def _act(self, action: str, given: _Given) -> str | bytes:
        display, text = self._display, given.text
        match action:
            case "screenshot":
                return await display.picture()
            case "zoom":
                return await display.picture(self._region(given.region))
            case "cursor_position":
                x, y = await display.pointer()
                return f"X={x},Y={y}"
            case "wait":
                await asyncio.sleep(_number(action, "duration", given.duration, MOST_SECONDS))
                return "Waited."
            case "type":
                await self._type(text)
                return "Typed."
            case "key":
                times = 1 if given.repeat is None else _number(action, "repeat", given.repeat, MOST_TIMES)
                await display.do("key", "--delay", "12", *[_keys(action, text)] * times)
                return "Pressed."
            case "hold_key":
                keys = _keys(action, text)
                seconds = _number(action, "duration", given.duration, MOST_SECONDS)
                await self._holding([keys], lambda: asyncio.sleep(seconds))
                return "Held."
            case "mouse_move":
                await display.do(*self._at(action, given.coordinate))
                return "Moved."
            case "left_mouse_down" | "left_mouse_up":
                await display.do(action.removeprefix("left_").replace("_", ""), "1")
                return "Done."
            case "left_click_drag":
                words = [
                    *self._at(action, given.start_coordinate, "start_coordinate"),
                    "mousedown",
                    "1",
                    "sleep",
                    "0.05",
                ]
                words += [*self._at(action, given.coordinate), "sleep", "0.05", "mouseup", "1"]
                await self._holding(_held(text), lambda: display.do(*words))
                return "Dragged."
            case "scroll":
                await self._scroll(given)
                return "Scrolled."
            case _:
                if action not in _CLICKS:
                    raise NothingDone(f"there is no action {action[:40]!r}")
                button, times = _CLICKS[action]
                words = [*self._somewhere(given.coordinate), "click", "--repeat", times, "--delay", "40", button]
                await self._holding(_held(text), lambda: display.do(*words))
                return "Clicked."

    async def _scroll(self, given: _Given) -> None:
        times = _number("scroll", "scroll_amount", given.scroll_amount, MOST_TIMES)
        button = _WHEEL.get(given.scroll_direction or "")
        if button is None:
            raise NothingDone("scroll needs scroll_direction", "up, down, left or right.")
        words = [*self._somewhere(given.coordinate), "click", "--repeat", str(times), "--delay", "20", button]
        if times:
            await self._holding(_held(given.text), lambda: self._display.do(*words))

    async def _type(self, text: str | None) -> None:
        typed = _text("type", text)
        if len(typed) > MOST_TYPED:
            raise NothingDone(f"{len(typed)} characters are too many to type at once: {MOST_TYPED} are possible")
        if any(not one.isprintable() and one not in "\n\t" for one in typed):
            raise NothingDone("what is typed must be characters that are seen, newlines and tabs", "Use key for keys.")
        # What has no key is given one for a moment, which a program has to hear of before it is pressed.
        delay = 8 if typed.isascii() else 100
        await self._display.do("type", "--clearmodifiers", "--delay", str(delay), "--file", "-", typing=typed)

    async def _holding(self, keys: Sequence[str], act: Callable[[], Awaitable[None]]) -> None:
        """Do something with keys held down, which are let go whatever happens."""
        try:
            for key in keys:
                await self._display.do("keydown", key)
            await act()
        finally:
            for key in reversed(keys):
                await self._display.do("keyup", key)

    def _at(self, action: str, point: list[int] | None, name: str = "coordinate") -> list[str]:
        if point is None or len(point) != 2:
            raise NothingDone(f"{action} needs {name}", "[x, y], in pixels of the screenshot.")
        return self._display.at(point[0], point[1])

    def _somewhere(self, point: list[int] | None) -> list[str]:
        return [] if point is None else self._at("it", point)

    def _region(self, region: list[int] | None) -> tuple[int, int, int, int]:
        width, height = self._display.shown
        if region is None or len(region) != 4:
            raise NothingDone("zoom needs region", "[left, top, right, bottom], in pixels of the screenshot.")
        left, top, right, bottom = region
        if not (0 <= left < right <= width and 0 <= top < bottom <= height):
            raise NothingDone(f"{region} is not a part of the screen, which is {width} wide and {height} high")
        return left, top, right, bottom


def _held(text: str | None) -> list[str]:
    return modifiers(text) if text else []


def _keys(action: str, text: str | None) -> str:
    """Keys as xdotool is to read them: what begins so is never one of its own commands (`exec`)."""
    return "+" + combination(_text(action, text))


def _text(action: str, text: str | None) -> str:
    if not text:
        raise NothingDone(f"{action} needs text")
    return text


def _number(action: str, name: str, value: int | None, most: int) -> int:
    if value is None or not 0 <= value <= most:
        raise NothingDone(f"{action} needs {name}, from 0 to {most}")
    return value
