"""Latency that HTTP adds to predictions, against a bare FastAPI route with the same response.

``python -m performance.service`` sends requests for ten nodes of a synthetic graph (or of
``--dataset``) at a fixed rate, in turns to a bare route with a prepared response and to the
service; then to the service while another client adds and undoes a class every second. Latency
counts from the time when a request was due, so that a slow server cannot hide a queue. A request
for 1,000 nodes, with a response as JSON and as Arrow stream, is compared with the same call in
process by its CPU time, which other load on the machine changes little.
``--minutes 10`` continues to add classes and prints the memory of the service and its writer
process. ``--workers 1,2,4`` instead measures services with these numbers of processes.
"""

import argparse
import http.client
import json
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, process_time, sleep

import numpy as np
import uvicorn
from fastapi import FastAPI
from performance.process_tree import cpu_seconds, process_tree
from pydantic import TypeAdapter

from nodegraft.analysis.predictions import predict_rows
from nodegraft.analysis.results.nodes import Predictions
from nodegraft.analysis.snapshot import State
from nodegraft.graph.keys import Key
from nodegraft.graph.view import GraphView
from nodegraft.lab.datasets.templates.dataset import load_dataset
from nodegraft.service.routes.predict import ARROW, PredictRequest
from nodegraft.service.server import serve
from nodegraft.service.settings import Settings
from nodegraft.store.store import Store

NODES, TOP, CLIENTS = 10, 3, 8

LARGE, LARGE_GOAL = 1_000, 2.5
"""Nodes of the large request, and the largest ratio of its CPU time to that of the same call."""


def run_bare(port: int, response: str) -> None:
    """Run a server with a route that parses the request and returns a prepared response."""
    fields = response.replace('"class":', '"class_":').replace('"set":', '"set_":')
    app, prepared = FastAPI(), TypeAdapter(Predictions).validate_json(fields)

    @app.post("/v1/predict")
    def predict(request: PredictRequest) -> Predictions:
        return prepared

    uvicorn.run(app, port=port, http="h11", access_log=False, log_level="error")


def run_service(port: int, path: Path, workers: int = 1) -> None:
    """Run the service."""
    # Uvicorn would reopen standard input in its workers, by a descriptor that they do not have.
    sys.stdin = None
    serve(Settings(path, port=port, workers=workers, rate=0.0))


@contextmanager
def running_server(run: Callable[..., None], *arguments: object) -> Iterator[tuple[int, int]]:
    """Run a server in a new process; yield its process id and port when it listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = get_context("spawn").Process(target=run, args=(port, *arguments))
    process.start()
    while process.is_alive():
        try:
            http.client.HTTPConnection("127.0.0.1", port).connect()
            break
        except OSError:
            sleep(0.1)
    try:
        if not process.is_alive():
            raise RuntimeError(f"The server ended with exit code {process.exitcode}.")
        yield process.pid or 0, port
    finally:
        process.terminate()
        process.join()


def post(
    connection: http.client.HTTPConnection, path: str, body: str, accept: str = "application/json"
) -> bytes:
    """Send a request and return the response; raise on any status but success."""
    headers = {"Content-Type": "application/json", "Accept": accept}
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    content = response.read()
    if response.status >= 300:
        raise RuntimeError(content)
    return content


def latencies(port: int, body: str, rate: float, seconds: float) -> np.ndarray:
    """Send requests at a fixed rate; return the milliseconds from when each was due."""
    start = perf_counter() + 0.1

    def send(client: int) -> list[float]:
        connection, times = http.client.HTTPConnection("127.0.0.1", port), []
        for number in range(client, int(rate * seconds), CLIENTS):
            due = start + number / rate
            sleep(max(0.0, due - perf_counter()))
            post(connection, "/v1/predict", body)
            times.append(1000 * (perf_counter() - due))
        return times

    with ThreadPoolExecutor(CLIENTS) as pool:
        return np.concatenate(list(pool.map(send, range(CLIENTS))))


def in_process(state: State, keys: list[Key], times: int = 300) -> np.ndarray:
    """Return the milliseconds of predictions in this process."""
    elapsed = []
    for _ in range(times):
        start = perf_counter()
        predict_rows(state, state.graph.rows_of(keys), 1, TOP)
        elapsed.append(1000 * (perf_counter() - start))
    return np.array(elapsed[10:])


def compare_large(state: State, pid: int, port: int, keys: list[Key], calls: int = 25) -> None:
    """Print the CPU time of a large request and of the same call in process, and their ratio.

    The response is once JSON and once an Arrow stream.
    """
    body = json.dumps({"keys": keys, "top": TOP})
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def request(times: int, accept: str) -> float:
        start = cpu_seconds(pid)
        for _ in range(times):
            post(connection, "/v1/predict", body, accept)
        return cpu_seconds(pid) - start

    def call(times: int) -> float:
        start = process_time()
        for _ in range(times):
            predict_rows(state, state.graph.rows_of(keys), 1, TOP)
        return process_time() - start

    for name, accept in (("JSON", "application/json"), ("Arrow", ARROW)):
        request(calls, accept), call(calls)  # not counted: caches are cold
        # Alternating, and many calls at a time, because the kernel counts in steps of 10 ms.
        rounds = [(request(calls, accept), call(calls)) for _ in range(4)]
        service, own = np.sum(rounds, axis=0) * 1000 / (calls * len(rounds))
        print(
            f"{len(keys):,} nodes as {name}: service {service:.1f} ms of CPU time, "
            f"in process {own:.1f} ms, x{service / own:.2f} (goal: at most {LARGE_GOAL})",
            flush=True,
        )


@contextmanager
def adding_classes(port: int, body: str) -> Iterator[None]:
    """Add and undo a class again and again in the background, with a change every second."""
    stop, seconds = Event(), list[float]()

    def change() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while not stop.wait(1.0):
            start = perf_counter()
            version = json.loads(post(connection, "/v1/classes?promote=1", body))
            seconds.append(perf_counter() - start)
            stop.wait(1.0)
            post(connection, f"/v1/versions/{version['model_version']}:undo?promote=1", "")

    thread = Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        print(f"classes added: {len(seconds)}, median {np.median(seconds):.2f} s")


def print_percentiles(title: str, times: np.ndarray) -> tuple[float, float]:
    """Print and return the median and the 99th percentile."""
    p50, p99 = np.percentile(times, (50, 99))
    print(f"{title:28} p50 {p50:7.2f} ms   p99 {p99:7.2f} ms", flush=True)
    return float(p50), float(p99)


def memory(pid: int) -> float:
    """Return the MiB of a process and its descendants; shared pages count once."""
    return float(sum(process.memory_full_info().pss for process in process_tree(pid)) / 2**20)


def wait_until_idle(pid: int) -> None:
    """Wait until all workers have started: until then they use CPU time."""
    before = -1.0
    while True:
        now = cpu_seconds(pid)
        if now - before < 0.2:
            return
        before = now
        sleep(1.0)


def measure_workers(
    path: Path, keys: list[Key], rate: float, seconds: float, numbers: list[int]
) -> None:
    """Measure services with different numbers of processes at the same rate."""
    body = json.dumps({"keys": keys, "top": TOP})
    for workers in numbers:
        with running_server(run_service, path, workers) as (pid, port):
            wait_until_idle(pid)
            latencies(port, body, rate, 2.0)
            times = latencies(port, body, rate, seconds)
            print_percentiles(f"{workers} workers", times)
            print(f"{'':28} {memory(pid):.0f} MiB", flush=True)


def measure(
    path: Path, example: str, state: State, rate: float, seconds: float, minutes: int
) -> None:
    """Measure latency, CPU time, and latency and memory while classes are added."""
    keys, many = (sample(state.graph, count) for count in (NODES, LARGE))
    body = json.dumps({"keys": keys, "top": TOP})
    own, _ = print_percentiles("in process", in_process(state, keys))
    with running_server(run_service, path) as (pid, port):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        response = post(connection, "/v1/predict", body)
        with running_server(run_bare, response.decode()) as (_, bare):
            for warm_up in (bare, port):
                latencies(warm_up, body, rate, 2.0)
            order = (bare, port, port, bare)
            rounds = [latencies(server, body, rate, seconds / 2) for server in order]
        route, _ = print_percentiles("bare route", np.concatenate((rounds[0], rounds[3])))
        total, idle = print_percentiles("service", np.concatenate((rounds[1], rounds[2])))
        print(f"HTTP adds {total - own:.2f} ms, x{(total - own) / route:.2f} of a bare route")
        compare_large(state, pid, port, many)
        with adding_classes(port, example):
            times = latencies(port, body, rate, seconds)
        _, busy = print_percentiles("service, classes are added", times)
        print(f"p99 while classes are added: x{busy / idle:.2f}")
        for minute in range(minutes):
            with adding_classes(port, example):
                latencies(port, body, rate, 60.0)
            print(f"after minute {minute + 1}: {memory(pid):.0f} MiB", flush=True)


def sample(graph: GraphView, count: int) -> list[Key]:
    """Return the keys of a fair sample of nodes."""
    return graph.keys_of(graph.sampled(count, graph.rows[:0]))


def main() -> None:
    """Create a store and measure its service."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--dataset", default="synthetic", help="name of the graph")
    parser.add_argument("--data", type=Path, help="folder with the data folders")
    parser.add_argument("--rate", type=float, default=50.0, help="requests per second")
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of each part")
    parser.add_argument("--minutes", type=int, default=0, help="duration of the memory test")
    parser.add_argument("--workers", default="", help="numbers of processes, such as 1,2,4")
    options = parser.parse_args()
    loaded = load_dataset(options.dataset, options.data)
    graph, names = loaded.graph, sorted(loaded.labels)
    labels = {name: graph.keys_of(loaded.labels[name]) for name in names}
    new = names[-1]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        known = {name: keys for name, keys in labels.items() if name != new}
        Store.init(path, graph, known).close()
        print(f"{options.dataset}: {graph.num_nodes:,} nodes, {options.rate:g} requests per second")
        if options.workers:
            numbers = [int(number) for number in options.workers.split(",")]
            keys = sample(graph, NODES)
            measure_workers(path, keys, options.rate, options.seconds, numbers)
            return
        example = json.dumps({"classes": {new: labels[new][:5]}})
        with Store.open(path) as store:
            limits = options.rate, options.seconds, options.minutes
            measure(path, example, store.state(), *limits)


if __name__ == "__main__":
    main()
