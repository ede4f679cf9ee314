"""Time and memory of the page's map with 100,000 nodes of 500 classes in Chromium.

``python -m performance.page_map`` serves a small store, but replaces the response of ``/v1/map`` by
random positions of ``--nodes`` nodes. It prints the seconds from the end of that response until the
map is drawn and has reacted to a zoom key; the CPU seconds of the tab, which depend little on other
programs; the time of a zoom step; and the largest memory of the tab (proportional set size).
"""

import argparse
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from performance.process_tree import process_tree
from performance.service import run_service, running_server
from playwright.sync_api import Page, Route, expect, sync_playwright

from nodegraft.graph.block_model import BlockModel
from nodegraft.store.store import Store

CLASSES, ZOOMS, TIMEOUT_MS = 500, 20, 300_000

FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SINCE_RESPONSE = """() => {
  const entries = performance.getEntriesByType("resource");
  const maps = entries.filter(({ name }) => name.includes("/v1/map"));
  return performance.now() - maps.at(-1).responseEnd;
}"""


def make_store(path: Path) -> list[str]:
    """Create a small store with many classes; return their names."""
    graph, labels = BlockModel(nodes=1_500, classes=CLASSES, features=32).draw()
    known = {name: graph.keys_of(np.sort(labels[name])[:2]) for name in labels}
    Store.init(path, graph, known).close()
    return list(known)


def map_response(names: list[str], nodes: int) -> dict[str, Any]:
    """Return a response of ``/v1/map`` in which classes are clusters."""
    draws = np.random.default_rng(0)
    classes = draws.integers(len(names), size=nodes)
    positions = draws.random((len(names), 2))[classes] + draws.normal(0, 0.02, (nodes, 2))
    shares = draws.random((nodes, 3)).round(4).tolist()
    rows = [
        {
            "node": number,
            "x": round(x, 4),
            "y": round(y, 4),
            "prediction": names[classes[number]],
            "label": None,
            "confidence": confidence,
            "probability": probability,
            "known": known,
        }
        for number, ((x, y), (confidence, probability, known)) in enumerate(
            zip(positions.tolist(), shares, strict=True)
        )
    ]
    return {"model_version": 1, "graph_version": "", "nodes": rows}


def tab() -> psutil.Process:
    """Return the process of the tab: the largest renderer that this process started."""
    processes = process_tree(os.getpid())
    renderers = [process for process in processes if "--type=renderer" in process.cmdline()]
    return max(renderers, key=lambda process: process.memory_info().rss)


def tab_memory() -> float:
    """Return the memory of the tab in MiB."""
    return float(tab().memory_full_info().pss / 2**20)


def measure(page: Page, nodes: int) -> tuple[float, float, float, float]:
    """Return seconds until the map reacts, CPU seconds, milliseconds of a zoom step, and MiB."""
    canvas = page.locator("#map-canvas")
    expect(page.locator("#map-status")).to_contain_text(f"{nodes:,} nodes", timeout=TIMEOUT_MS)
    canvas.press("+")
    page.evaluate(FRAME)
    used = tab().cpu_times()
    ready, largest, frames = page.evaluate(SINCE_RESPONSE) / 1000, tab_memory(), []
    for zoom in range(ZOOMS):
        start = page.evaluate("performance.now()")
        canvas.press("-" if zoom % 2 else "+")
        page.evaluate(FRAME)
        frames.append(page.evaluate("performance.now()") - start)
        largest = max(largest, tab_memory())
    return ready, used.user + used.system, float(np.median(frames)), largest


def main() -> None:
    """Print time and memory of the map."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="path of the program")
    options = parser.parse_args()
    nodes = options.nodes
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "blocks"
        body = json.dumps(map_response(make_store(path), nodes))
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=options.chromium, args=arguments)

        def fulfil(route: Route) -> None:
            route.fulfill(body=body, content_type="application/json")

        with running_server(run_service, path) as (_, port):
            page = browser.new_page()
            page.route("**/v1/map*", fulfil)
            page.goto(f"http://localhost:{port}/")
            ready, cpu, frame, largest = measure(page, nodes)
        browser.close()
    load = psutil.getloadavg()[0]
    print(f"{nodes:,} nodes, {len(body) / 2**20:.1f} MiB of JSON (load average {load:.1f})")
    print(f"map drawn and zoomed {ready:.2f} s after the response; zoom step {frame:.0f} ms")
    print(f"CPU seconds of the tab until then, loading the page included: {cpu:.2f}")
    print(f"largest memory of the tab {largest:.0f} MiB")


if __name__ == "__main__":
    main()
