"""A shell for a model, in a sandbox of bubblewrap's, over one directory.

Its arguments are those of Anthropic's bash tool, whose models were trained on it:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool. What a command did not come to its end for (time,
output, processes, memory) is said with what it had written until then; the next command finds a new shell.
"""

from __future__ import annotations

import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from tukang.errors import ConfigurationError
from tukang.machine.editor import SHOWN
from tukang.machine.making import folder, made, program
from tukang.machine.sandbox import Bounds, command_line
from tukang.machine.shell import LONGEST, End, Said, Shell
from tukang.machine.walking import same
from tukang.tools.context import CallContext
from tukang.tools.contract import Defined
from tukang.tools.outcome import NothingDone
from tukang.tools.policy import Predicate
from tukang.tools.tool import Tool

NAME = "bash"

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "What to run. Needed, except with restart."},
        "restart": {"type": "boolean", "description": "True ends the shell and all it started, and begins a new one."},
    },
}

_MOST = 30_000
"""Characters of a result that the model reads at once; it reads on with a handle."""

_RESERVE = 0.25
"""Seconds before the turn's end in which a command is ended, so that what it has said is heard."""


def bash(
    directory: str | Path,
    *,
    network: bool = False,
    read_only: Iterable[str | Path] = (),
    bounds: Bounds | None = None,
    approval: Literal["ask", "never"] | Predicate | None = None,
) -> Tool:
    """A shell that sees one directory, the programs of `/usr`, and nothing else of this machine. It stays for a session
    (outside of one: for a turn), and is ended with the program.

    Args:
        directory: what it may write; it is called `/workspace` inside, as for the editor.
        network: whether it may reach the network, with what that can carry away.
        read_only: more places that it may read, such as the environment a project needs.
        bounds: what it may take; see `Bounds`.
        approval: who permits a command; None: every command asks.

    Raises:
        ConfigurationError: bubblewrap is not installed or not allowed to work here, or a directory is not there.
    """
    place, more = folder(directory, "the tool bash"), [Path(one).expanduser().resolve() for one in read_only]
    for one in more:
        if not one.exists():
            raise ConfigurationError(f"{one} is not there: make it, or name another")
    bounds = bounds or Bounds()
    bwrap = program("bwrap", "bubblewrap", "the tool bash")

    def line(info: int | None = None) -> list[str]:
        return command_line(bwrap, place, SHOWN, bounds, read_only=more, network=network, info=info)

    _must_work(line())
    places = {SHOWN: place, **{str(one): one for one in more}}

    def right(root: str) -> bool:
        return all(same(one, root + told) for told, one in places.items())

    shells = _Shells(lambda: Shell(line, bounds, right), bounds)
    described = (
        f"Run commands in bash, over the files in {SHOWN}. The shell stays: directory, variables and what runs in the "
        f"background are there for the next command. A command has {bounds.seconds:g} seconds and no terminal to ask on. "
        + ("" if network else "There is no network.")
    )
    return made(
        NAME,
        described.strip(),
        _SCHEMA,
        shells.run,
        Defined("bash"),
        {
            "effect": "write",
            "repeatable": True,
            "approval": approval,
            "untrusted": network,
            "max_output": _MOST,
        },
    )


def _must_work(line: list[str]) -> None:
    """Try the sandbox, so that what this system does not allow is said before a model is asked.

    Raises:
        ConfigurationError: it does not work.
    """
    try:
        tried = subprocess.run([*line, "/bin/bash", "-c", "true"], env={}, capture_output=True, timeout=20, check=False)
        said = tried.stderr.decode("utf-8", "replace").strip() if tried.returncode else None
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    if said is not None:
        raise ConfigurationError(
            f"the tool bash cannot make its sandbox here: {said or 'bubblewrap failed'}. It needs bubblewrap 0.8 or newer, "
            "and a system that allows user namespaces"
        )


class _Shells:
    """The shells of one tool: one for each session, so that no user finds another's."""

    def __init__(self, new: Callable[[], Shell], bounds: Bounds) -> None:
        self._new = new
        self._bounds = bounds
        self._open: dict[str, Shell] = {}
        self._ended = deque[str](maxlen=1000)  # those that had to make room for others

    async def run(self, context: CallContext, command: str | None = None, restart: bool = False) -> str:
        whose = context.session or context.call_id.rsplit("-", 2)[0]
        if restart:
            self._end(whose)
            if not command:
                return "The shell was restarted."
        if command is None or not command.strip():
            raise NothingDone("there is no command", "Give command, or restart.")
        if "\0" in command or len(command.encode("utf-8", "replace")) > LONGEST:
            raise NothingDone(f"a command has at most {LONGEST} bytes and no NUL", "Write a file first, and run that.")
        shell, before = self._shell(whose)
        if shell.busy:
            raise NothingDone("another command is under way in this shell", "Wait for its end.")
        left = context.seconds_left()
        seconds = self._bounds.seconds if left is None else max(_RESERVE, min(self._bounds.seconds, left - _RESERVE))
        said = await shell.run(command, seconds)
        if said.end != "done":
            self._end(whose)  # which is said in the result
        if said.end == "not_started":
            raise NothingDone(  # what bubblewrap says of it has paths of the host's in it
                "the sandbox could not be started: its directory is not there any more, is another now, or is out of reach",
                "Somebody has to look after this machine.",
            )
        return before + _told(said, seconds, self._bounds)

    def _shell(self, whose: str) -> tuple[Shell, str]:
        """The shell of a session; and what there is to say, where it is not the one that was there before."""
        shell, before = self._open.pop(whose, None), ""
        if shell is None or not shell.alive:
            if shell is not None or whose in self._ended:
                if whose in self._ended:
                    self._ended.remove(whose)
                before = "[the shell from before has ended, with what was set and started in it; this is a new one]\n"
            idle = [name for name, one in self._open.items() if not one.busy]
            for name in idle[: max(0, len(self._open) + 1 - self._bounds.shells)]:
                self._end(name)
                self._ended.append(name)
            shell = self._new()
        self._open[whose] = shell  # last: the others were not used for longer
        return shell, before

    def __del__(self) -> None:
        for shell in self._open.values():
            shell.end()

    def _end(self, whose: str) -> None:
        if shell := self._open.pop(whose, None):
            shell.end()


_ENDS: Mapping[End, str] = {
    "shell_ended": "the shell itself ended, with status {status}",
    "timed_out": "it was ended after {seconds:g} seconds",
    "too_much_output": "it was ended because its output did not stop",
    "too_many_processes": "it was ended because more than {processes} processes ran",
    "too_much_memory": "it was ended because it took more than {memory} megabytes",
}


def _told(said: Said, seconds: float, bounds: Bounds) -> str:
    """What the model reads: the output, and how it ended where that is not with status 0."""
    text = said.text.rstrip("\n")
    if said.end == "done":
        note = "" if said.status == 0 else f"[exit status {said.status}]"
        return "\n".join(filter(None, (text, note))) or "[no output]"
    how = _ENDS[said.end].format(status=said.status, seconds=seconds, processes=bounds.processes, memory=bounds.memory)
    note = f"[{how}; everything it had started is gone, and the next command finds a new shell in {SHOWN}]"
    return "\n".join(filter(None, (text, note)))
