"""Brokers of a test's own, on a socket or a free port, with their files in the test's folder."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest


class Redis:
    """A Redis that keeps nothing when it ends. Skips where there is none.

    Args:
        folder: where its socket is.
        password: what it asks for.
    """

    def __init__(self, folder: Path, password: str = "") -> None:
        pytest.importorskip("celery")
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not here: it comes with Debian's package redis-server")
        self._socket = folder / "redis.sock"
        self._command = [program, "--port", "0", "--unixsocket", str(self._socket), "--save", "", "--dir", str(folder)]
        self._command += ["--requirepass", password] if password else []
        self._server: subprocess.Popen[str] | None = None
        self.address = f"redis+socket://{f':{password}@' if password else ''}{self._socket}"

    def start(self) -> None:
        self._server = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._server.stdout is not None
        while "eady to accept connections" not in (line := self._server.stdout.readline()):
            assert line, "redis-server did not begin"

    def stop(self) -> None:
        """SIGKILL."""
        if self._server is not None and self._server.stdout is not None:
            self._server.kill()
            self._server.wait()
            self._server.stdout.close()
            self._server = None


class Rabbit:
    """A RabbitMQ, with its files in the test's folder. Skips where there is none; it takes ten seconds to begin.

    Args:
        folder: where its files are.
    """

    _PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("celery")
        if not self._PROGRAM.exists():
            pytest.skip("rabbitmq-server is not here: it comes with Debian's package rabbitmq-server")
        port, names, other = _free_ports(3)
        (folder / "plugins").write_text("[].")
        self._environment = {
            **os.environ,
            "HOME": str(folder),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "rabbit"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_NODENAME": f"tukang{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(other),
            "ERL_EPMD_PORT": str(names),
        }
        self._folder = folder
        self._names = str(names)
        self._port = port
        self._server: subprocess.Popen[bytes] | None = None
        self.address = f"amqp://guest:guest@127.0.0.1:{port}//"

    def start(self) -> None:
        with (self._folder / "rabbit.out").open("w") as out:
            self._server = subprocess.Popen(
                [self._PROGRAM], stdout=out, stderr=out, env=self._environment, start_new_session=True
            )
        until = time.monotonic() + 60
        while True:
            assert self._server.poll() is None, (self._folder / "rabbit.out").read_text()
            assert time.monotonic() < until, "RabbitMQ did not begin"
            try:
                socket.create_connection(("127.0.0.1", self._port)).close()
                return
            except OSError:
                time.sleep(0.1)

    def stop(self) -> None:
        """SIGKILL; and its register of names ends with it."""
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGKILL)  # the program is a script around another
            self._server.wait()
            self._server = None
            # it has to notice first that its only node is gone
            command = ["epmd", "-port", self._names, "-kill"]
            while subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
