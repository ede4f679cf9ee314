"""Two hosts that share no folder: a database, an object store, and nothing else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from performance.networks import Host, separate_hosts

from nodegraft.base.errors import StoreError
from nodegraft.store.scope import Scope
from nodegraft.store.store import Store
from tests.networks import or_skip
from tests.service.running import Running, free_port
from tests.service.served import asked, lesson
from tests.service.token_help import added
from tests.slow_suite import slow
from tests.store import postgresql, s3
from tests.store.small import made

pytestmark = pytest.mark.xdist_group("server")

New = dict[str, list[Any]]
OBJECTS = "s3://tests/shop"
SECONDS_TO_FOLLOW = 2.0


def other_host(place: Path) -> Path:
    """What another host is given: where things are, and who may ask."""
    other = place.with_name("other") / place.name
    other.mkdir(parents=True)
    for path in place.iterdir():
        if path.is_file():
            shutil.copy(path, other)
    return other


def seconds_until(reached: Callable[[], bool], longest: float = 60.0) -> float:
    began = monotonic()
    while not reached():
        assert monotonic() - began < longest
        sleep(0.02)
    return monotonic() - began


@pytest.fixture(scope="module")
def bucket() -> Iterator["subprocess.Popen[bytes]"]:
    port = free_port()
    with s3.running(port) as process, s3.reached(port):
        yield process


@pytest.mark.usefixtures("bucket")
def test_a_class_taught_on_one_host_is_answered_by_the_other(tmp_path: Path) -> None:
    with postgresql.running() as server:
        database = server.url(server.new_database())
        store, new = made(tmp_path / "shop", method="graft", database=database, objects=OBJECTS)
        store.close()
        assert not (tmp_path / "shop" / "objects").exists()
        other = other_host(tmp_path / "shop")
        with asked(other) as second:
            with asked(tmp_path / "shop") as first:
                taught = first.post("/v1/classes", json=lesson(new), params={"promote": True})
                assert taught.status_code == 201

                def followed() -> bool:
                    return bool(second.get("/readyz").json()["model_version"] == 2)

                assert seconds_until(followed) < SECONDS_TO_FOLLOW
            assert second.post("/v1/classes", json=lesson(new, 1)).status_code == 201
        with Store.open(other) as reader:
            assert set(new) <= set(reader.predict(version=3).predictions)
            reader.undo()
            assert reader.prune(keep=1).versions == (3,)
            assert sorted(new)[0] in reader.predict(version=4).predictions


def test_a_place_of_objects_is_of_one_store_and_may_be_away(
    bucket: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    made(tmp_path / "one", objects=f"{OBJECTS}-1")[0].close()
    with pytest.raises(StoreError, match="give each store a place of its own"):
        made(tmp_path / "two", objects=f"{OBJECTS}-1")
    assert not list((tmp_path / "two").glob("*"))
    bucket.kill()
    with Store.open(tmp_path / "one") as store, pytest.raises(StoreError, match="cannot be read"):
        store.predict()


@contextmanager
def service(host: Host, place: Path, port: int) -> Iterator[Running]:
    """A service from the command line, in the network of one host."""
    code = "from nodegraft.cli.entry import main; main()"
    command = [*host.within, sys.executable, "-c", code, "serve", str(place)]
    told = {**os.environ, **s3.environment(host.peer, port)}
    with (
        (place / "log").open("wb") as log,
        subprocess.Popen([*command, "--host", host.address], env=told, stderr=log) as process,
    ):
        try:
            s3.wait_for((host.address, 8000))
            yield Running(process.pid, 8000, host.address)
        finally:
            process.kill()


@slow
def test_hosts_in_networks_of_their_own(tmp_path: Path) -> None:
    port, place = free_port(), tmp_path / "shop"
    with (
        or_skip(separate_hosts()) as hosts,
        s3.running(port, "0.0.0.0"),  # noqa: S104
        s3.reached(port),
        postgresql.running(",".join(one.peer for one in hosts)) as server,
    ):
        name = server.new_database()
        store, new = made(place, method="graft", database=server.url(name), objects=OBJECTS)
        store.close()
        secret = added(place, "tests", Scope.ADMIN)
        other = other_host(place)
        for host, one in zip(hosts, (place, other), strict=True):
            settings = (one / "store.json").read_text()
            (one / "store.json").chmod(0o644)
            (one / "store.json").write_text(settings.replace(str(server.folder), host.peer))
        bearer = {"Authorization": f"Bearer {secret}"}
        with (
            service(hosts[0], place, port) as first,
            service(hosts[1], other, port) as second,
        ):
            path = "/v1/classes?promote=1"
            assert first.ask("POST", path, lesson(new), **bearer)[0] == 201

            def followed() -> bool:
                return bool(second.ask("GET", "/readyz")[1]["model_version"] == 2)

            assert seconds_until(followed) < SECONDS_TO_FOLLOW
            first.kill()
            assert second.ask("POST", path, lesson(new, 1), **bearer)[0] == 201
            assert second.ask("POST", "/v1/predict", {"keys": [1]}, **bearer)[0] == 200
