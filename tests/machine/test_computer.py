"""A screen, a mouse and a keyboard on a real display, with real programs on it that tell what reached them."""

from __future__ import annotations

import asyncio
import os
import queue
import re
import shutil
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machine.calling import outcome, refused, said
from tests.machine.test_bash import soon
from tukang import ConfigurationError
from tukang.conversation import Image
from tukang.machine import computer
from tukang.machine.keys import combination, modifiers
from tukang.tools.outcome import NothingDone, Outcome
from tukang.tools.tool import Tool

NEEDED = {"Xvfb": "xvfb", "xdotool": "xdotool", "import": "imagemagick", "xev": "x11-utils", "xterm": "xterm"}
MISSING = [package for program, package in NEEDED.items() if shutil.which(program) is None]
on_a_display = pytest.mark.skipif(bool(MISSING), reason=f"not installed: apt install {' '.join(MISSING)}")
WIDE, HIGH = 1600, 1000
"""As it is; it is shown 800 wide and 500 high, half of that."""


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    reading, writing = os.pipe()
    # without -noreset it starts anew whenever its last client goes, and refuses whoever comes meanwhile
    line = ["Xvfb", "-displayfd", str(writing), "-noreset", "-screen", "0", f"{WIDE}x{HIGH}x24", "-nolisten", "tcp"]
    with subprocess.Popen(line, pass_fds=(writing,), stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
        server.terminate()


@pytest.fixture
def tool(display: str) -> Tool:
    return computer(display, longest=800)


class Events:
    """What a window was told, as `xev` prints it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def until(self, pattern: str) -> list[str]:
        """All that was said until something fits."""
        seen: list[str] = []
        while True:
            seen.append(self._lines.get(timeout=10))
            if re.search(pattern, seen[-1]):
                return seen


@pytest.fixture
def window(display: str) -> Iterator[Events]:
    """A window from (400, 200) to (1000, 600) of the screen as it is."""
    environment = {"DISPLAY": display, "PATH": os.environ["PATH"]}
    line = ["xev", "-geometry", "600x400+400+200"]
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True) as process:
        events = Events(process)
        events.until("^Expose")
        yield events
        process.terminate()


def size(picture: bytes) -> tuple[int, int]:
    return struct.unpack(">II", picture[16:24])


def seen(tool: Tool, **arguments: Any) -> bytes:
    (part,) = asyncio.run(outcome(tool, **arguments)).content
    assert isinstance(part, Image)
    assert part.media_type == "image/png"
    assert part.data is not None
    return part.data


@on_a_display
def test_a_screenshot_is_as_large_as_it_is_said_to_be(tool: Tool) -> None:
    assert tool.contract.defined is not None
    assert tool.contract.defined.options == {"width": 800, "height": 500}
    assert size(seen(tool, action="screenshot")) == (800, 500)


@on_a_display
def test_it_shows_what_is_there_and_zooms_into_it(tool: Tool, window: Events) -> None:
    whole, part = seen(tool, action="screenshot"), seen(tool, action="zoom", region=[200, 100, 300, 150])

    assert size(part) == (800, 400)  # as large as fits, of a region twice as wide as high
    window._process.terminate()  # pyright: ignore[reportPrivateUsage]
    window._process.wait()  # pyright: ignore[reportPrivateUsage]
    assert soon(lambda: seen(tool, action="screenshot") != whole)
    assert seen(tool, action="zoom", region=[200, 100, 300, 150]) != part


@on_a_display
@pytest.mark.parametrize(
    ("action", "button", "times"),
    [
        ("left_click", 1, 1),
        ("middle_click", 2, 1),
        ("right_click", 3, 1),
        ("double_click", 1, 2),
        ("triple_click", 1, 3),
    ],
)
def test_clicks_arrive_where_they_are_meant(tool: Tool, window: Events, action: str, button: int, times: int) -> None:
    assert said(tool, action=action, coordinate=[250, 150], text="ctrl") == "Clicked."
    assert said(tool, action="key", text="z") == "Pressed."

    lines = "".join(window.until("keysym 0x7a, z"))
    presses = re.findall(r"ButtonPress .*?root:\((\d+),(\d+)\),\s+state (0x\w+), button (\d)", lines, re.DOTALL)
    assert presses[0] == ("501", "301", "0x4", str(button))  # twice (250, 150), the middle of that pixel; ctrl is 0x4
    assert len(presses) == times
    assert said(tool, action="cursor_position") == "X=250,Y=150"


@on_a_display
def test_the_wheel_the_drag_and_the_buttons(tool: Tool, window: Events) -> None:
    said(tool, action="scroll", coordinate=[250, 150], scroll_direction="down", scroll_amount=3)
    said(tool, action="left_click_drag", start_coordinate=[210, 110], coordinate=[300, 200])
    said(tool, action="left_mouse_down")
    said(tool, action="mouse_move", coordinate=[220, 120])
    said(tool, action="left_mouse_up")
    said(tool, action="key", text="z")

    lines = "".join(window.until("keysym 0x7a, z"))
    buttons = re.findall(r"Button(Press|Release) .*?root:\((\d+),(\d+)\),\s+state 0x\w+, button (\d)", lines, re.DOTALL)
    assert [one for one in buttons if one[3] == "5"] == [
        ("Press", "501", "301", "5"),
        ("Release", "501", "301", "5"),
    ] * 3
    assert [one[:3] for one in buttons if one[3] == "1"] == [
        ("Press", "421", "221"),
        ("Release", "601", "401"),
        ("Press", "601", "401"),
        ("Release", "441", "241"),
    ]


@on_a_display
def test_keys_alone_together_repeated_and_held(tool: Tool, window: Events) -> None:
    said(tool, action="mouse_move", coordinate=[250, 150])
    for text in ("ctrl+shift+a", "Enter", "page_down", "?", "F5"):
        assert said(tool, action="key", text=text) == "Pressed."
    said(tool, action="key", text="x", repeat=3)
    said(tool, action="hold_key", text="shift", duration=0)
    said(tool, action="key", text="z")

    lines = "".join(window.until("keysym 0x7a, z"))
    pressed = re.findall(r"KeyPress .*?state (0x\w+),.*?keysym 0x\w+, (\w+)\)", lines, re.DOTALL)
    assert ("0x5", "A") in pressed
    names = [name for _, name in pressed]
    assert [name for name in names if name in ("Return", "Next", "question", "F5")] == [
        "Return",
        "Next",
        "question",
        "F5",
    ]
    assert names.count("x") == 3
    assert names[-2:] == ["Shift_L", "z"]


@on_a_display
def test_what_is_typed_is_what_a_program_reads(tool: Tool, display: str, tmp_path: Path) -> None:
    script = f'cd {tmp_path}; touch ready; read -r line; printf %s "$line" > read; sleep 60'
    line = ["xterm", "-geometry", "80x24+400+200", "-u8", "-e", "sh", "-c", script]
    environment = {"DISPLAY": display, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    with subprocess.Popen(line, env=environment) as process:
        try:
            assert soon((tmp_path / "ready").exists)
            said(tool, action="left_click", coordinate=[300, 180])
            assert said(tool, action="type", text="pesan 2 unit; (a|b) --file -\n") == "Typed."
            assert soon(lambda: (tmp_path / "read").exists() and (tmp_path / "read").read_text() != "")
        finally:
            process.terminate()

    assert (tmp_path / "read").read_text() == "pesan 2 unit; (a|b) --file -"


@on_a_display
@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "left_click", "coordinate": [800, 10]},
        {"action": "left_click", "coordinate": [10, -1]},
        {"action": "left_click", "coordinate": [10]},
        {"action": "left_click", "coordinate": [10, 10], "text": "ctrl --window 1"},
        {"action": "mouse_move"},
        {"action": "left_click_drag", "coordinate": [1, 1]},
        {"action": "zoom", "region": [10, 10, 10, 20]},
        {"action": "zoom", "region": [0, 0, 801, 10]},
        {"action": "zoom"},
        {"action": "key"},
        {"action": "key", "text": "--window"},
        {"action": "key", "text": "a b"},
        {"action": "key", "text": "a", "repeat": 1000},
        {"action": "hold_key", "text": "a", "duration": 3600},
        {"action": "wait", "duration": -1},
        {"action": "wait"},
        {"action": "type", "text": "x" * 5000},
        {"action": "type", "text": "\x1b[2J"},
        {"action": "type"},
        {"action": "scroll", "scroll_direction": "down"},
        {"action": "scroll", "scroll_amount": 1},
    ],
    ids=str,
)
def test_what_cannot_be_done_is_not_done(tool: Tool, arguments: dict[str, Any]) -> None:
    assert refused(tool, **arguments)


@on_a_display
def test_a_key_that_the_display_does_not_know_is_a_fault(tool: Tool) -> None:
    assert "No such key" in said(tool, action="key", text="nosuchkey")


@on_a_display
@pytest.mark.parametrize("word", ["exec", "type", "getdisplaygeometry", "windowkill"])
def test_a_word_that_is_a_command_of_the_program_below_is_no_key(tool: Tool, word: str) -> None:
    """`xdotool key exec exec` would run a program."""
    assert "No such key" in said(tool, action="key", text=word, repeat=2)
    assert "No such key" in said(tool, call="t-2-0", action="hold_key", text=word, duration=0)


@on_a_display
def test_an_action_that_failed_takes_the_ones_behind_it_with_it(tool: Tool) -> None:
    async def go() -> list[str]:
        await outcome(tool, "t-1-0", action="left_click", coordinate=[9999, 1])
        behind = await outcome(tool, "t-1-1", action="type", text="rm -rf\n")
        later = await outcome(tool, "t-2-0", action="cursor_position")
        return [behind.text, later.text]

    behind, later = asyncio.run(go())
    assert "an earlier action of this reply failed" in behind
    assert later.startswith("X=")


@on_a_display
def test_looks_of_one_reply_are_taken_together(tool: Tool) -> None:
    async def go() -> list[Outcome]:
        looks = [outcome(tool, f"t-1-{place}", action="cursor_position") for place in range(3)]
        return await asyncio.gather(*looks)

    assert [one.fault for one in asyncio.run(go())] == [None] * 3


@on_a_display
def test_a_cancelled_action_lets_go(tool: Tool, window: Events) -> None:
    async def go() -> None:
        await outcome(tool, action="mouse_move", coordinate=[250, 150])
        task = asyncio.create_task(outcome(tool, action="hold_key", text="a", duration=30))
        await asyncio.to_thread(window.until, "keysym 0x61, a")
        task.cancel()
        await asyncio.wait((task,))
        await asyncio.to_thread(window.until, "^KeyRelease")

    asyncio.run(go())


@on_a_display
def test_without_a_display_it_says_how_to_have_one() -> None:
    with pytest.raises(ConfigurationError, match=r"no X display ':4242'.*apt install xvfb"):
        computer(":4242")


def test_without_its_programs_it_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigurationError, match=r"computer needs xdotool.*apt install xdotool"):
        computer(":0")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Return", "Return"),
        ("CTRL+C", "ctrl+C"),
        ("cmd+plus", "super+plus"),
        ("+", "U002B"),
        ("ctrl++", "ctrl+U002B"),
        ("é", "U00E9"),
        ("f12", "F12"),
        ("XF86AudioMute", "XF86AudioMute"),
    ],
)
def test_keys_have_the_names_that_x_knows(text: str, keys: str) -> None:
    assert combination(text) == keys


@pytest.mark.parametrize("text", ["", "a+", "a++b+c+d+e+f+g", "-x", "$(ls)", "a\n"])
def test_what_is_no_key_is_refused(text: str) -> None:
    if text == "a\n":
        assert combination(text) == "a"
        return
    with pytest.raises(NothingDone):
        combination(text)


def test_only_modifiers_are_held_while_clicking() -> None:
    assert modifiers("ctrl+Shift") == ["ctrl", "shift"]
    with pytest.raises(NothingDone):
        modifiers("ctrl+a")
