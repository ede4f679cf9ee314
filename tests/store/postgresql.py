"""A real PostgreSQL for tests, with databases that are made in a moment."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

LONGEST = 60.0


def program(name: str) -> str:
    """Where a program of PostgreSQL is; Debian keeps those of the server off the PATH."""
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = shutil.which(name) or (str(beside[-1]) if beside else None)
    if found:
        return found
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} of PostgreSQL is required and not installed")
    pytest.skip(f"{name} of PostgreSQL is not installed")


class Server:
    """PostgreSQL on a socket in a folder; no port is opened unless a host is given."""

    def __init__(self, folder: Path, host: str = "") -> None:
        self.folder, self.host, self._numbers = folder, host, count()
        # PostgreSQL refuses to run as root.
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._run(
            program("initdb"), "-A", "trust", "-U", "tests", "-E", "UTF8", "--locale=C", "-N"
        ).wait(LONGEST)
        if host:
            with (folder / "data" / "pg_hba.conf").open("a") as file:
                file.write("host all all samenet trust\n")
        self.start()

    def start(self) -> None:
        told = f"listen_addresses={self.host}"
        options = ("-k", str(self.folder), "-c", told, "-c", "fsync=off")
        self._process = self._run(program("postgres"), *options)
        began = monotonic()
        while True:
            try:
                return self.connect().close()
            except psycopg.OperationalError:
                if monotonic() - began > LONGEST or self._process.poll() is not None:
                    raise
                sleep(0.05)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(LONGEST)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nobody is let in meanwhile."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.go_on()

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def new_database(self, template: str = "template1") -> str:
        """The name of a new one, which may be a copy of another."""
        name = f"store_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://tests@/{database}?host={self.folder}"

    def twin(self, place: Path) -> Path:
        """A copy of a store, with a copy of its database."""
        old = url_of(place)
        name = self.new_database(str(make_url(old).database))
        twin = place.with_name(name)
        shutil.copytree(place, twin)
        (twin / "store.json").chmod(0o644)
        settings = (place / "store.json").read_text()
        (twin / "store.json").write_text(settings.replace(old, self.url(name)))
        return twin

    def connect(self, database: str = "postgres") -> "psycopg.Connection[Any]":
        """To a database, by its name or its URL."""
        name = make_url(database).database if ":" in database else database
        return psycopg.connect(
            host=str(self.folder), user="tests", dbname=name, autocommit=name == "postgres"
        )

    def _run(self, *command: str) -> "subprocess.Popen[bytes]":
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [command[0], "-D", str(self.folder / "data"), *command[1:]],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._as,
            )


def url_of(place: Path) -> str:
    """The database of a store."""
    url: str = json.loads((place / "store.json").read_text())["database"]
    return url


@contextmanager
def running(host: str = "") -> Iterator[Server]:
    """A server until the end."""
    # Not in a folder of pytest's: nobody else may look into those, and paths of sockets are short.
    with tempfile.TemporaryDirectory(prefix="postgresql-") as folder:
        server = Server(Path(folder), host)
        try:
            yield server
        finally:
            server.stop()
