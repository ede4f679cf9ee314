"""A service that is killed under load: nothing acknowledged is lost, nothing is done twice."""

import http.client
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import pytest

from nodegraft.store.store import Store
from tests.service.running import LONGEST, Running, free_port, started
from tests.service.served import lesson
from tests.slow_suite import slow
from tests.store import postgresql
from tests.store.small import made

pytestmark = pytest.mark.xdist_group("server")

New = dict[str, list[Any]]
SECONDS_TO_READY = 5.0
LOST = (OSError, http.client.HTTPException, ValueError)


class Teacher:
    """Teaches a class and takes it back, again and again; sends again what was not answered."""

    def __init__(self, port: int, new: New) -> None:
        self._life, self._new = Running(0, port), new
        self.acknowledged: list[dict[str, Any]] = []
        self.sent_again = 0
        self.ending = Event()

    def work(self) -> None:
        while not self.ending.is_set():
            step = len(self.acknowledged)
            path, body = "/v1/classes", lesson(self._new) if step % 2 == 0 else None
            if body is None:
                path = f"/v1/versions/{self.acknowledged[-1]['model_version']}:undo"
            path += "?promote=1"
            self.acknowledged.append(self._answered(path, body, f"step {step}"))

    def wait_for_an_answer(self) -> None:
        before, began = len(self.acknowledged), monotonic()
        while len(self.acknowledged) == before:
            assert monotonic() - began < LONGEST
            sleep(0.01)

    def _answered(self, path: str, body: Any, key: str) -> dict[str, Any]:
        while True:
            try:
                status, answer = self._life.ask("POST", path, body, Idempotency_Key=key)
            except LOST:
                self.sent_again += 1
                sleep(0.02)
                continue
            assert status in (200, 201), answer
            return answer


def read_until(done: Event, port: int, statuses: set[int]) -> None:
    life = Running(0, port)
    while not done.is_set():
        try:
            statuses.add(life.ask("POST", "/v1/predict", {"keys": [1, 2, 3]})[0])
        except LOST:
            sleep(0.02)


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A store of one's own, in either database."""
    with ExitStack() as stack:
        database = None
        if request.param == "postgresql":
            server = stack.enter_context(postgresql.running())
            database = server.url(server.new_database())
        made(tmp_path / "shop", method="graft", database=database)[0].close()
        yield tmp_path / "shop"


@pytest.mark.parametrize("times", [3, pytest.param(60, marks=slow)])
def test_a_service_killed_again_and_again_keeps_its_word(times: int, shop: Path, new: New) -> None:
    port, moments, statuses = free_port(), Random(0), set[int]()  # noqa: S311
    life = started(shop, port)
    teacher = Teacher(port, new)
    threads = [Thread(target=teacher.work)]
    threads += [Thread(target=read_until, args=(teacher.ending, port, statuses)) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(times):
            # A new service answers a change when its writer process has started.
            teacher.wait_for_an_answer()
            sleep(moments.uniform(0.0, 0.8))
            life.kill()
            began = monotonic()
            life = started(shop, port)
            assert monotonic() - began < SECONDS_TO_READY
        sleep(0.5)
    finally:
        teacher.ending.set()
        for thread in threads:
            thread.join()
        life.kill()
    assert statuses == {200}
    assert teacher.sent_again
    with Store.open(shop) as store:
        history, champion = store.history(), store.live
    # Every step made one version, in its order, and each is what was acknowledged.
    assert [one.number for one in history[1:]] == [
        answer["model_version"] for answer in teacher.acknowledged
    ]
    keys = [one.measures["request"]["key"] for one in history[1:]]
    assert keys == [f"step {step}" for step in range(len(keys))]
    assert champion == history[-1].number
