"""The map of the page with 100,000 nodes of 500 classes in Chromium: seconds and memory.

``python -m performance.page_map`` serves a small store, and gives the page another answer to
``/v1/map``, with random positions of as many nodes as ``--nodes`` says. It prints the seconds from
the end of that answer until the map is drawn and has reacted to a key that zooms, and the tab's
processor seconds, which other programs change little; the time of a zoom step; and the largest
memory of the tab's process (proportional set size).
"""

import argparse
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from performance.process_family import family
from performance.service import OURS, ours, running
from playwright.sync_api import Page, Route, expect, sync_playwright

from nodegraft.graph.block_model import BlockModel
from nodegraft.store.store import Store

CLASSES, ZOOMS, LONGEST = 500, 20, 300_000

FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SINCE_ANSWER = """() => {
  const answers = performance.getEntriesByType("resource");
  const ends = answers.filter(({ name }) => name.includes("/v1/map")).map((one) => one.responseEnd);
  return performance.now() - ends.at(-1);
}"""


def make_store(place: Path) -> list[str]:
    """Make a small store with many classes; return their names."""
    graph, labels = BlockModel(nodes=1_500, classes=CLASSES, features=32).draw()
    few = {name: graph.keys_of(np.sort(labels[name])[:2]) for name in labels}
    Store.init(place, graph, few).close()
    return list(few)


def answer(names: list[str], nodes: int) -> dict[str, Any]:
    """A map in which classes are clusters."""
    draws = np.random.default_rng(0)
    classes = draws.integers(len(names), size=nodes)
    places = draws.random((len(names), 2))[classes] + draws.normal(0, 0.02, (nodes, 2))
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
            zip(places.tolist(), shares, strict=True)
        )
    ]
    return {"model_version": 1, "graph_version": "", "nodes": rows}


def tab() -> psutil.Process:
    """The process of the tab: the largest renderer that this process started."""
    renderers = [one for one in family(os.getpid()) if "--type=renderer" in one.cmdline()]
    return max(renderers, key=lambda one: one.memory_info().rss)


def tab_memory() -> float:
    """MiB of the tab."""
    return float(tab().memory_full_info().pss / 2**20)


def measure(page: Page, nodes: int) -> tuple[float, float, float, float]:
    """Seconds until the map reacts, processor seconds, milliseconds of a zoom step, and MiB."""
    canvas = page.locator("#map-canvas")
    expect(page.locator("#map-status")).to_contain_text(f"{nodes:,} nodes", timeout=LONGEST)
    canvas.press("+")
    page.evaluate(FRAME)
    spent = tab().cpu_times()
    ready, largest, frames = page.evaluate(SINCE_ANSWER) / 1000, tab_memory(), []
    for zoom in range(ZOOMS):
        began = page.evaluate("performance.now()")
        canvas.press("-" if zoom % 2 else "+")
        page.evaluate(FRAME)
        frames.append(page.evaluate("performance.now()") - began)
        largest = max(largest, tab_memory())
    return ready, spent.user + spent.system, float(np.median(frames)), largest


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    nodes = (given := parser.parse_args()).nodes
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        place = Path(folder) / "blocks"
        body = json.dumps(answer(make_store(place), nodes))
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=given.chromium, args=arguments)

        def fulfil(route: Route) -> None:
            route.fulfill(body=body, content_type="application/json")

        with running(OURS, ours, place, OURS):
            page = browser.new_page()
            page.route("**/v1/map*", fulfil)
            page.goto(f"http://localhost:{OURS}/")
            ready, spent, frame, largest = measure(page, nodes)
        browser.close()
    load = psutil.getloadavg()[0]
    print(f"{nodes:,} nodes, {len(body) / 2**20:.1f} MiB of JSON (load average {load:.1f})")
    print(f"map drawn and zoomed {ready:.2f} s after the answer; zoom step {frame:.0f} ms")
    print(f"processor seconds of the tab until then, loading the page included: {spent:.2f}")
    print(f"largest memory of the tab {largest:.0f} MiB")


if __name__ == "__main__":
    main()
