"""An X display: what is seen on it, and a mouse and a keyboard for it, by the programs `xdotool` and `import`.

Nothing here knows what a model asks for. Coordinates are those of the screen as it is *shown*, which may be smaller than it
is. A program that is under way when its caller is cancelled, or that hangs, is killed.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Sequence

from tukang.errors import ConfigurationError
from tukang.machine.making import program
from tukang.tools.outcome import NothingDone

_SLOWEST = 20
"""Seconds one program may take, beside what it is told to wait."""


class Display:
    """One display.

    Args:
        name: as in `DISPLAY`, such as `:99`.
        longest: pixels of its longer side as it is shown; it is never shown larger than it is.

    Raises:
        ConfigurationError: a program is not installed, or there is no such display.
    """

    def __init__(self, name: str, longest: int) -> None:
        self.name = name
        self._xdotool = program("xdotool", "xdotool", "the tool computer")
        self._import = program("import", "imagemagick", "the tool computer")
        kept = {word: os.environ[word] for word in ("XAUTHORITY", "HOME", "PATH") if word in os.environ}
        self._environment = {**kept, "DISPLAY": name, "LANG": "C.UTF-8"}
        self.width, self.height = self._size()
        scale = min(1.0, longest / max(self.width, self.height))
        self.shown = max(1, round(self.width * scale)), max(1, round(self.height * scale))

    def _size(self) -> tuple[int, int]:
        try:
            found = subprocess.run(
                [self._xdotool, "getdisplaygeometry"],
                env=self._environment,
                capture_output=True,
                timeout=_SLOWEST,
                check=True,
                text=True,
            )
            width, height = map(int, found.stdout.split())
        except (OSError, ValueError, subprocess.SubprocessError):
            raise ConfigurationError(
                f"there is no X display {self.name!r}: start one (Debian and Ubuntu: apt install xvfb; "
                f"Xvfb {self.name} -noreset -screen 0 1280x800x24), or name another"
            ) from None
        return width, height

    async def picture(self, region: tuple[int, int, int, int] | None = None) -> bytes:
        """A PNG of the screen, as large as it is shown; or of a part of it (left, top, right, bottom), as large as fits."""
        line = [self._import, "-silent", "-window", "root"]
        width, height = self.shown
        if region is None:
            line += ["-resize", f"{width}x{height}!"]
        else:
            left, right = (edge * self.width // width for edge in (region[0], region[2]))
            top, bottom = (edge * self.height // height for edge in (region[1], region[3]))
            line += ["-crop", f"{right - left}x{bottom - top}+{left}+{top}", "+repage"]
            line += ["-resize", f"{width}x{height}"]
        return await self._run([*line, "-depth", "8", "-strip", "png:-"])

    async def pointer(self) -> tuple[int, int]:
        """Where the mouse is."""
        said = await self._run([self._xdotool, "getmouselocation", "--shell"])
        x, y = (int(one.partition("=")[2]) for one in said.decode().splitlines()[:2])  # X=…, Y=…, and more
        return min(x * self.shown[0] // self.width, self.shown[0] - 1), min(
            y * self.shown[1] // self.height, self.shown[1] - 1
        )

    async def do(self, *words: str, typing: str = "") -> None:
        """Let xdotool do something; `typing` is what it reads."""
        await self._run([self._xdotool, *words], typing)

    def at(self, x: int, y: int) -> list[str]:
        """The words with which xdotool moves the mouse there.

        Raises:
            NothingDone: it is not on the screen.
        """
        if not (0 <= x < self.shown[0] and 0 <= y < self.shown[1]):
            raise NothingDone(
                f"({x}, {y}) is not on the screen, which is {self.shown[0]} wide and {self.shown[1]} high",
                "Take a screenshot, and count its pixels from the upper left, from 0.",
            )
        return ["mousemove", *map(str, self._real(x, y))]

    def _real(self, x: int, y: int) -> tuple[int, int]:
        """The middle of a pixel that is shown, on the screen as it is."""
        return int((x + 0.5) * self.width / self.shown[0]), int((y + 0.5) * self.height / self.shown[1])

    async def _run(self, line: Sequence[str], typing: str = "") -> bytes:
        process = await asyncio.create_subprocess_exec(
            *line,
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_SLOWEST + len(typing) / 5):
                said, wrong = await process.communicate(typing.encode())
        except TimeoutError:
            raise DisplayFailed("the display did not answer in time") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode or b"No such key" in wrong:
            raise DisplayFailed(wrong.decode("utf-8", "replace").strip()[:200] or "the display did not take it")
        return said


class DisplayFailed(Exception):
    """A program that works the display failed; the message is its own."""
