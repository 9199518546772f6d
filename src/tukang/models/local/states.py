"""Prompt states on disk: what a slot computed for a fixed prompt, so that the next process need not compute it again.

A state file belongs to exact weights, an engine version and a prompt; its name is the hash of these. It holds numbers
derived from our own prompts, the agent's instructions, its tools and what the host told it, never from what a user said.
Losing it costs time only: every failure here is answered with "not restored".
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tukang.models.local.engine import Slot

MOST_STATES = 8
"""State files kept; the least recently used go first. One is about 30 kB for each token of its prompt."""

_SECONDS = 60.0


class SlotControl:
    """Saves and restores a slot through the engine's own server (llama.cpp: `POST /slots/{id}?action=save|restore`)."""

    def __init__(self, socket_file: Path | None, address: str, key: str) -> None:
        self._socket_file = socket_file
        self._address = address.removeprefix("http://")
        self._key = key

    def act(self, slot: Slot, action: str, filename: str) -> bool:
        """Whether the engine did it."""
        connection = self._connect()
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            body = msgspec.json.encode({"filename": filename})
            connection.request("POST", f"/slots/{int(slot)}?action={action}", body, headers)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if self._socket_file is None:
            return http.client.HTTPConnection(self._address, timeout=_SECONDS)
        return _SocketFileConnection(self._socket_file)


class _SocketFileConnection(http.client.HTTPConnection):
    """HTTP over a socket file."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock: Any = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(str(self._path))


class States:
    """The folder of state files.

    Args:
        control: saves and restores slots.
        folder: where the files stay between processes.
        exchange: the one folder the engine reads and writes.
        owner: what a state is good for: weights, engine version, context size.
    """

    def __init__(self, control: SlotControl, folder: Path, exchange: Path, owner: str) -> None:
        self._control = control
        self._folder = folder
        self._exchange = exchange
        self._owner = owner

    def restore(self, slot: Slot, prompt: str) -> bool:
        """Put a kept state into the slot; whether there was one."""
        kept, name = self._file(prompt), f"{slot.name.lower()}.state"
        try:
            _link(kept, self._exchange / name)
            if self._control.act(slot, "restore", name):
                os.utime(kept)
                return True
            kept.unlink()
        except OSError:
            pass
        return False

    def touch(self, prompt: str) -> None:
        """Mark a state as in use, so that it is not among the first to go: every agent needs the fixed beginnings."""
        with suppress(OSError):
            os.utime(self._file(prompt))

    def save(self, slot: Slot, prompt: str) -> None:
        """Keep the slot's state; the file appears whole or not at all."""
        kept, name = self._file(prompt), f"{slot.name.lower()}.state"
        exchanged = self._exchange / name
        with suppress(OSError):
            exchanged.unlink(missing_ok=True)
            if not self._control.act(slot, "save", name):
                return
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = kept.with_suffix(f".{os.getpid()}.part")
            shutil.move(exchanged, temporary)
            temporary.replace(kept)
            self._prune()

    def _file(self, prompt: str) -> Path:
        return self._folder / (hashlib.sha256(f"{self._owner}|{prompt}".encode()).hexdigest()[:32] + ".state")

    def _prune(self) -> None:
        files = sorted(self._folder.glob("*.state"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[MOST_STATES:]:
            file.unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    """Make `source` appear at `target` without copying where the system can."""
    target.unlink(missing_ok=True)
    try:
        target.symlink_to(source.resolve(strict=True))
    except (NotImplementedError, PermissionError):
        shutil.copyfile(source, target)
