"""What HTTP adds to an answer, against a bare FastAPI route that says the same.

``python performance/service.py`` asks about ten nodes of a synthetic graph (or of ``--dataset``) at
a fixed rate: a bare route whose answer is ready, and the service, in turns; then the service while
another caller teaches and undoes a class every second. Latencies count from when a request was due,
so that a server that falls behind cannot hide it. ``--minutes 10`` goes on so, and says how much
memory the service has, its process that teaches included. ``--workers 1,2,4`` asks a service of so
many processes each instead, at the same rate.
"""

import argparse
import http.client
import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep

import numpy as np
import uvicorn
from fastapi import FastAPI
from performance.process_family import family, processor_seconds

from nodegraft.analysis.predictions import predict_rows
from nodegraft.analysis.results.nodes import Predictions
from nodegraft.graph.keys import Key
from nodegraft.lab.datasets.templates.dataset import load_dataset
from nodegraft.service.routes.predict import PredictRequest
from nodegraft.service.server import serve
from nodegraft.service.settings import Settings
from nodegraft.store.store import Store

BARE, OURS = 8811, 8812
NODES, TOP, CALLERS = 10, 3, 8


def bare(answer: str) -> None:
    """A server of one route, which reads the question and has its answer ready."""
    app, ready = FastAPI(), Predictions(**json.loads(answer.replace('"class"', '"name"')))

    @app.post("/v1/predict")
    def predict(question: PredictRequest) -> Predictions:
        return ready

    uvicorn.run(app, port=BARE, http="h11", access_log=False, log_level="error")


def ours(place: Path, port: int, workers: int = 1) -> None:
    """The service."""
    # Uvicorn would reopen it in its workers, by a number that means nothing there.
    sys.stdin = None
    serve(Settings(place, port=port, workers=workers, rate=0.0))


@contextmanager
def running(port: int, work: Callable[..., None], *given: object) -> Iterator[int]:
    """A server as a process of its own, that listens; its number."""
    process = get_context("spawn").Process(target=work, args=given)
    process.start()
    while True:
        try:
            http.client.HTTPConnection("127.0.0.1", port).connect()
            break
        except OSError:
            sleep(0.1)
    try:
        yield process.pid or 0
    finally:
        process.terminate()
        process.join()


def post(connection: http.client.HTTPConnection, path: str, body: str) -> bytes:
    """One request; anything but success is an error."""
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status >= 300:
        raise RuntimeError(content)
    return content


def latencies(port: int, question: str, rate: float, seconds: float) -> np.ndarray:
    """Milliseconds from when each request was due to its answer."""
    began = perf_counter() + 0.1

    def call(caller: int) -> list[float]:
        connection, took = http.client.HTTPConnection("127.0.0.1", port), []
        for number in range(caller, int(rate * seconds), CALLERS):
            due = began + number / rate
            sleep(max(0.0, due - perf_counter()))
            post(connection, "/v1/predict", question)
            took.append(1000 * (perf_counter() - due))
        return took

    with ThreadPoolExecutor(CALLERS) as pool:
        return np.concatenate(list(pool.map(call, range(CALLERS))))


def in_process(store: Store, keys: list[Key], times: int = 300) -> np.ndarray:
    """Milliseconds of the answer itself."""
    state, took = store.state(), []
    for _ in range(times):
        began = perf_counter()
        predict_rows(state, state.graph.rows_of(keys), 1, TOP)
        took.append(1000 * (perf_counter() - began))
    return np.array(took[10:])


@contextmanager
def teaching(lesson: str) -> Iterator[None]:
    """Meanwhile a class comes and goes, a change every second."""
    done, made = Event(), list[float]()

    def teach() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", OURS)
        while not done.wait(1.0):
            began = perf_counter()
            version = json.loads(post(connection, "/v1/classes?promote=1", lesson))
            made.append(perf_counter() - began)
            done.wait(1.0)
            post(connection, f"/v1/versions/{version['model_version']}:undo?promote=1", "")

    teacher = Thread(target=teach)
    teacher.start()
    try:
        yield
    finally:
        done.set()
        teacher.join()
        print(f"teaching: {len(made)} times, {np.median(made):.2f} s each")


def tell(what: str, took: np.ndarray) -> tuple[float, float]:
    """One line."""
    middle, last = np.percentile(took, (50, 99))
    print(f"{what:28} p50 {middle:7.2f} ms   p99 {last:7.2f} ms", flush=True)
    return float(middle), float(last)


def memory(number: int) -> float:
    """MiB of a process and of those that it started; what they share is counted once."""
    return float(sum(one.memory_full_info().pss for one in family(number)) / 2**20)


def settle(number: int) -> None:
    """Wait until all workers have started: who has not yet is busy, and the others answer."""
    spent = -1.0
    while True:
        now = processor_seconds(number)
        if now - spent < 0.2:
            return
        spent = now
        sleep(1.0)


def measure_workers(
    place: Path, keys: list[Key], rate: float, seconds: float, numbers: list[int]
) -> None:
    """The same rate, against more and more processes."""
    question = json.dumps({"keys": keys, "top": TOP})
    for workers in numbers:
        with running(OURS, ours, place, OURS, workers) as number:
            settle(number)
            latencies(OURS, question, rate, 2.0)
            tell(f"{workers} workers", latencies(OURS, question, rate, seconds))
            print(f"{'':28} {memory(number):.0f} MiB", flush=True)


def measure(
    place: Path, keys: list[Key], lesson: str, rate: float, seconds: float, minutes: int
) -> None:
    """All of it, against one store."""
    question = json.dumps({"keys": keys, "top": TOP})
    with Store.open(place) as store:
        own, _ = tell("in process", in_process(store, keys))
    with running(OURS, ours, place, OURS) as number:
        answer = post(http.client.HTTPConnection("127.0.0.1", OURS), "/v1/predict", question)
        with running(BARE, bare, answer.decode()):
            for port in (BARE, OURS):
                latencies(port, question, rate, 2.0)
            rounds = [
                latencies(port, question, rate, seconds / 2) for port in (BARE, OURS, OURS, BARE)
            ]
        route, _ = tell("bare route", np.concatenate((rounds[0], rounds[3])))
        whole, idle = tell("service", np.concatenate((rounds[1], rounds[2])))
        print(f"HTTP adds {whole - own:.2f} ms, x{(whole - own) / route:.2f} of a bare route")
        with teaching(lesson):
            busy = latencies(OURS, question, rate, seconds)
        _, last = tell("service while it is taught", busy)
        print(f"p99 while it is taught: x{last / idle:.2f}")
        for minute in range(minutes):
            with teaching(lesson):
                latencies(OURS, question, rate, 60.0)
            print(f"after minute {minute + 1}: {memory(number):.0f} MiB", flush=True)


def main() -> None:
    """Make a store and measure."""
    parser = argparse.ArgumentParser(description="What HTTP adds to an answer.")
    parser.add_argument("--dataset", default="synthetic", help="which graph")
    parser.add_argument("--data", type=Path, help="the folder that holds the data folders")
    parser.add_argument("--rate", type=float, default=50.0, help="requests in a second")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each is asked")
    parser.add_argument("--minutes", type=int, default=0, help="how long memory is watched")
    parser.add_argument("--workers", default="", help="numbers of processes, as 1,2,4")
    given = parser.parse_args()
    loaded = load_dataset(given.dataset, given.data)
    graph, names = loaded.graph, sorted(loaded.labels)
    labels = {name: graph.keys_of(loaded.labels[name]) for name in names}
    new = names[-1]
    with TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        known = {name: keys for name, keys in labels.items() if name != new}
        Store.init(place, graph, known).close()
        keys = graph.keys_of(graph.sampled(NODES, graph.rows[:0]))
        lesson = json.dumps({"classes": {new: labels[new][:5]}})
        print(f"{given.dataset}: {graph.num_nodes:,} nodes, {given.rate:g} requests a second")
        if given.workers:
            numbers = [int(number) for number in given.workers.split(",")]
            measure_workers(place, keys, given.rate, given.seconds, numbers)
        else:
            measure(place, keys, lesson, given.rate, given.seconds, given.minutes)


if __name__ == "__main__":
    main()
