"""The processes of a test: those that ask for tasks, and those that run them. All are gone when the block ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

_PATIENCE = 40.0


class Processes:
    """Processes of one store.

    Args:
        carrier: the name of the backend.
        url: the store.
        folder: where the ledger, the gates and the logs are.
        more: what else is in their environment.
    """

    def __init__(self, carrier: str, url: str, folder: Path, more: dict[str, str]) -> None:
        self._url = url
        self._folder = folder
        self._environment = {
            **os.environ,
            "TASKS_FOLDER": str(folder),
            "TASKS_CARRIER": carrier,
            "TASKS_STORE": url,
            **more,
        }
        self._running: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def ask(self, *wishes: str) -> list[str]:
        """Have tasks made; their ids. The process stays."""
        process = self._start("tests.tasks.asker", *wishes)
        assert process.stdout is not None
        return [process.stdout.readline().strip() for _ in wishes]

    def work(self) -> None:
        """Start a process that runs tasks."""
        self._start("tukang", "tasks", "work", "tests.tasks.shop:made", "--store", self._url)

    def kill(self) -> None:
        """SIGKILL, to all of them."""
        for process in self._running:
            process.kill()
        for process in self._running:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self._running.clear()

    def open(self, *gates: int) -> None:
        """Let the functions with these numbers go on."""
        for gate in gates:
            (self._folder / f"gate{gate}").touch()

    def until(self, true: Callable[[], bool], what: str) -> None:
        """Wait for something, looking now and then."""
        give_up = time.monotonic() + _PATIENCE
        while not true():
            assert time.monotonic() < give_up, f"waited in vain for {what}\n{self._logs()}"
            time.sleep(0.03)

    def _logs(self) -> str:
        return "\n".join(log.read_text()[-3000:] for log in sorted(self._folder.glob("log*")))

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[str]:
        command: Sequence[str] = (sys.executable, "-m", module, *arguments)
        with (self._folder / f"log{time.monotonic_ns()}").open("w") as log:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=self._environment, stdin=subprocess.DEVNULL
            )
        self._running.append(process)
        return process
