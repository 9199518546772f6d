"""A wire to a server that can be cut: for tests of what happens when the network fails in the middle."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType

_STEP = 0.01
"""Seconds between two looks at whether the wire was cut."""


class Wire:
    """Passes bytes on between its own port and another, until it is cut.

    Args:
        port: the server's, on this machine.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._down = threading.Event()
        self._trap = b""
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def cut(self) -> None:
        """Break all connections, and let none be made."""
        self._down.set()
        time.sleep(3 * _STEP)  # every thread has looked

    def mend(self) -> None:
        """Let connections be made again."""
        self._down.clear()

    def cut_once_behind(self, words: bytes) -> None:
        """Deliver the next message that holds these words, and break the connection before the answer comes back."""
        self._trap = words

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        self._listener.settimeout(_STEP)
        while self._listener.fileno() >= 0:
            with contextlib.suppress(OSError):
                client, _ = self._listener.accept()
                self._start(self._pass, client)

    def _pass(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            if self._down.is_set():
                return
            with socket.create_connection(("127.0.0.1", self._target)) as server:
                while not self._down.is_set():
                    ready, _, _ = select.select([client, server], [], [], _STEP)
                    for source in ready:
                        data = source.recv(65536)
                        if not data:
                            return
                        (server if source is client else client).sendall(data)
                        if source is client and self._trap and self._trap in data:
                            self._trap = b""
                            server.settimeout(0.2)
                            server.recv(65536)  # it has been done
                            return

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._listener.close()
        for thread in self._threads:
            thread.join()
