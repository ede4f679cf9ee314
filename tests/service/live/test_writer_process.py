"""Versions are made in a process of its own: nothing of that is seen from outside."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nodegraft.analysis import preview
from nodegraft.analysis.version import Version
from nodegraft.base.errors import StoreError
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.clearing import Cleared
from nodegraft.methods.graft import evidence
from nodegraft.service.errors import HttpError
from nodegraft.service.live import writer_process
from nodegraft.service.live.writer_process import WriterProcess
from nodegraft.service.service import make_once
from nodegraft.store.intent import IdempotencyKey, Intent
from nodegraft.store.objects import states as state
from nodegraft.store.objects.states import States
from nodegraft.store.store import Store
from nodegraft.tables.read import read_graph
from tests.service.running import Running, free_port, running, started
from tests.service.served import asked, lesson

pytestmark = [
    pytest.mark.xdist_group("server"),
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread makes versions"),
]

New = dict[str, list[Any]]


def pause(_: Store) -> None:
    sleep(30.0)


def writer_of(life: Running) -> int:
    """The process beside a service."""
    # A process belongs to the thread that started it.
    threads = Path(f"/proc/{life.process}/task").glob("*/children")
    (child,) = (int(number) for thread in threads for number in thread.read_text().split())
    return child


def test_answers_are_those_of_a_thread(shop: Path, new: New) -> None:
    wrong = {"classes": {"x": [99_999]}}
    questions: list[tuple[str, str, Any]] = [
        ("POST", "/v1/classes", wrong),
        ("POST", "/v1/classes:preview", lesson(new)),
        ("POST", "/v1/classes:preview", wrong),
        ("DELETE", "/v1/classes/nothing", None),
        ("POST", "/v1/versions/7:undo", None),
        ("POST", "/v1/versions/1:undo", None),
        ("POST", "/v1/nodes", {"nodes": [{"strange": 1}]}),
    ]
    with asked(shop) as client:
        wanted = [client.request(how, path, json=body) for how, path, body in questions]
    with running(shop) as life:
        found = [life.ask(*question) for question in questions]
    assert found == [(answer.status_code, answer.json()) for answer in wanted]


def test_a_writer_process_that_died_while_idle_is_replaced(shop: Path, new: New) -> None:
    with running(shop) as life:
        assert life.ask("POST", "/v1/classes?promote=1", lesson(new))[0] == 201
        first = writer_of(life)
        os.kill(first, signal.SIGKILL)
        assert life.ask("POST", "/v1/classes?promote=1", lesson(new, 1))[0] == 201
        assert life.ask("GET", "/readyz")[1]["model_version"] == 3
        assert writer_of(life) != first


def die(_: Store) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def exhaust_memory(_: Store) -> None:
    raise MemoryError


def process_number(_: Store) -> int:
    return os.getpid()


@pytest.mark.parametrize(
    ("job", "seconds", "code", "said"),
    [
        (die, 60.0, "writer_died", "out of memory"),
        (exhaust_memory, 60.0, "out_of_memory", "more memory"),
        (pause, 1.0, "job_timeout", "timeout of 1 s"),
    ],
)
def test_a_job_that_ends_its_process_is_told_and_not_repeated(
    job: Callable[[Store], None], seconds: float, code: str, said: str, shop: Path
) -> None:
    writer = WriterProcess.start(shop, seconds)
    assert writer is not None
    first = writer.run(process_number)
    with pytest.raises(HttpError, match=said) as told:
        writer.run(job)
    assert (told.value.status, told.value.code) == (503, code)
    writer._job_seconds = 60.0
    # The next job has a process of its own, and this one does none.
    assert writer.run(process_number) not in (first, os.getpid())
    writer.close()


@pytest.fixture
def writer(shop: Path) -> Iterator[WriterProcess]:
    """A writer process that has started, whose jobs may take two seconds."""
    writer = WriterProcess.start(shop, 2.0)
    assert writer is not None
    writer.run(process_number)
    yield writer
    writer.close()


def stop_process(writer: WriterProcess) -> int:
    """Let the writer process hang; return its number."""
    os.kill(writer._process.pid, signal.SIGSTOP)
    return writer._process.pid


def length(text: str, _: Store) -> int:
    return len(text)


def test_the_deadline_covers_a_job_that_does_not_fit_into_the_pipe(writer: WriterProcess) -> None:
    stop_process(writer)
    began = monotonic()
    with pytest.raises(HttpError, match="timeout of 2 s") as refused:
        writer.run(partial(length, "x" * 10**7))
    assert refused.value.code == "job_timeout"
    assert monotonic() - began < 10
    # The new process takes longer to start than a job may take.
    assert writer.run(partial(length, "x" * 10**7)) == 10**7


def test_the_start_of_a_process_is_no_part_of_a_job(
    writer: WriterProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer._job_seconds = 0.2
    os.kill(stop_process(writer), signal.SIGKILL)
    assert writer.run(process_number) > 0
    monkeypatch.setattr(writer_process, "START_SECONDS", 0.01)
    os.kill(stop_process(writer), signal.SIGKILL)
    with pytest.raises(HttpError, match=r"did not start within 0\.21 s") as caught:
        writer.run(process_number)
    assert caught.value.code == "writer_not_started"


def test_closing_kills_a_job_that_hangs_and_starts_no_process(
    writer: WriterProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_process, "CLOSE_SECONDS", 0.2)
    writer._job_seconds = 60.0
    process, began = stop_process(writer), monotonic()
    with ThreadPoolExecutor() as threads:
        job = threads.submit(writer.run, process_number)
        sleep(0.2)
        writer.close()
        refused = job.exception()
    assert isinstance(refused, HttpError)
    assert refused.code == "stopping"
    assert monotonic() - began < 10
    assert not Path(f"/proc/{process}").exists()
    with pytest.raises(HttpError, match="is being stopped"):
        writer.run(process_number)


def test_closing_kills_an_idle_process_that_hangs(
    writer: WriterProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_process, "CLOSE_SECONDS", 0.2)
    process = stop_process(writer)
    writer.close()
    assert not Path(f"/proc/{process}").exists()


def test_a_writer_process_ends_with_its_service(shop: Path) -> None:
    life = started(shop, free_port())
    writer, began = writer_of(life), monotonic()
    life.kill()
    while Path(f"/proc/{writer}/cmdline").exists() and monotonic() - began < 10:
        if "Z" in Path(f"/proc/{writer}/stat").read_text().split()[2]:
            break
        sleep(0.02)
    assert monotonic() - began < 10


def look_at_few(_: Store) -> None:
    # Of a large graph neither the comparison before and after a growth looks at all of it, nor a
    # model's guess how large its classes are.
    vars(preview)["SAMPLE"] = vars(evidence)["POOL"] = 50


def test_what_a_growth_made_stale_is_made_while_nobody_wants_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "SAMPLE", 50)
    monkeypatch.setattr(evidence, "POOL", 50)
    for name in ("here", "writer"):
        make_of_lists(tmp_path / name)
    with Store.open(tmp_path / "here") as store:
        growing(store)
        assert clearing(store) > 0
    writer = WriterProcess.start(tmp_path / "writer")
    assert writer is not None
    writer.run(look_at_few)
    writer.run(growing)
    sleep(1.0)
    assert writer.run(clearing) == 0
    writer.close()


def fill_memory_when_clearing(_: Store) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    setattr(States, "clear_stale", full)  # noqa: B010


def test_a_clearing_that_fails_ends_no_writer_process(tmp_path: Path) -> None:
    make_of_lists(tmp_path / "store")
    writer = WriterProcess.start(tmp_path / "store")
    assert writer is not None
    writer.run(fill_memory_when_clearing)
    process = writer.run(process_number)
    assert (writer.run(number), writer.run(process_number)) == (1, process)
    writer.close()


def test_the_latest_version_is_cleared_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_of_lists(tmp_path / "store")
    cleared = list[int]()

    def told(graph: Graph, most: int, until: object) -> Cleared:
        cleared.append(graph.num_edges)
        return Cleared()

    monkeypatch.setattr(state, "clear_stale", told)
    with Store.open(tmp_path / "store") as store:
        growing(store)
        store.parts.states.clear_stale(100)
    assert len(cleared) > 1
    assert cleared == sorted(cleared, reverse=True)


def number(store: Store) -> int:
    return store.version().number


def make_of_lists(place: Path, nodes: int = 2000) -> None:
    draws = np.random.default_rng(0)
    rows = draws.standard_normal((nodes, 4)).tolist()
    source, target = draws.integers(nodes, size=(2, 3 * nodes))
    graph = read_graph(
        pa.table({"key": np.arange(nodes), "x": rows}),
        pa.table({"source": source, "target": target}),
        features="x",
    )
    Store.init(place, graph, {"a": list(range(20)), "b": list(range(20, 40))}).close()


def growing(store: Store) -> None:
    # Asking for all makes layers, of which growth makes a part stale.
    state = store.state()
    state.predict(state.graph.rows)
    store.grow(edges=pa.table({"source": [0, 1], "target": [900, 901]}))


def clearing(store: Store) -> int:
    return store.parts.states.clear_stale(10**6).rows


def test_what_another_process_did_meanwhile_is_found(shop: Path, new: New) -> None:
    request = IdempotencyKey("key", "1")

    def late(store: Store) -> Version:
        with Store.open(shop) as other:
            other.add(new, intent=Intent(idempotency_key=request))
        raise StoreError("All of it is there already.")

    with Store.open(shop) as store:
        assert make_once(request, late, store).number == 2
        with pytest.raises(StoreError, match="already"):
            make_once(IdempotencyKey("other", "1"), refusing, store)


def refusing(_: Store) -> Version:
    raise StoreError("It is so already.")
