"""A week of somebody who keeps the sections of a Linux distribution: real packages, one new class.

    python examples/a_week_with_debian.py --data ../shared/data

Needs the extra `store`, and below --data a folder `debian-packages` with the package index and the
English descriptions of Debian 12 (Packages.xz, Translation-en.xz): on Debian 12,
`sh examples/debian_index.sh data` brings them. Without them, it says so and ends. It takes about a
minute of one core. The tutorial `docs/tutorials/a-week-with-debian.md` tells the same, and a test
holds both together.
"""

import argparse
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable
from contextlib import chdir, redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

import nodegraft as ng
from nodegraft.cli.app import app
from nodegraft.graph.keys import Key
from nodegraft.lab.datasets.debian import Debian, read_descriptions, read_packages
from nodegraft.lab.datasets.templates.readers import read_stanzas
from nodegraft.lab.datasets.templates.text_graph import TextNode

KNOWN = ("golang", "haskell", "javascript", "net", "ocaml", "php", "ruby", "utils", "vcs")
NEW, LATER = "rust", "perl"
"""An excerpt, so that it takes minutes: nine sections that are known from the start, one that is to
be learned, and one whose packages come on Friday."""

WIDTH = shutil.get_terminal_size().columns

RUST = "librust-serde-dev,librust-rand-dev,librust-tokio-dev,librust-regex-dev,librust-syn-dev"
MIXED = "php-curl,php-soap,ruby-activerecord,node-bootstrap,libghc-aeson-dev"


def say(text: str) -> None:
    """A paragraph of the story, as a comment between commands."""
    print("", *(f"# {line}" for line in textwrap.wrap(text, WIDTH - 2)), sep="\n")


def run(command: str) -> None:
    """A command as it would be typed, and what comes out."""
    together = re.sub(r"(--\S+) (?!--)", "\\1\xa0", command)  # an option and its value
    lines = textwrap.wrap(together, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    print("\n$", " \\\n    ".join(lines).replace("\xa0", " "), flush=True)
    with redirect_stderr(sys.stdout):
        app(shlex.split(command)[1:], standalone_mode=False)


def read_sections(folder: Path) -> list[TextNode]:
    """The packages of the sections above: name, section, description, dependencies."""
    files = Debian().locate(folder)
    stanzas = list(read_stanzas(files["Packages.xz"]))
    packages = read_packages(stanzas, read_descriptions(files["Translation-en.xz"]))
    return [one for one in packages if one.label in {*KNOWN, NEW, LATER}]


def write_tables(packages: list[TextNode], known: Iterable[str], start: str = "") -> None:
    """Nodes with their description; edges, whose kind is the field that names the other package."""
    there = {one.key for one in packages} | {*known}
    nodes = {
        "key": [one.key for one in packages],
        "description": [one.text for one in packages],
    }
    edges = [
        (one.key, other, kind)
        for one in packages
        for kind, others in one.links.items()
        for other in sorted(others)
        if other in there
    ]
    columns = zip(*edges, strict=True)
    pq.write_table(pa.table(nodes), f"{start}nodes.parquet")
    names = ("source", "target", "kind")
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), f"{start}edges.parquet")


def write_labels(labels: dict[str, list[Key]]) -> None:
    """Two columns: a package, and the section it is in."""
    pairs = [(key, name) for name, keys in labels.items() for key in keys]
    keys, names = zip(*pairs, strict=True)
    pq.write_table(pa.table({"key": keys, "label": names}), "labels.parquet")


def week(packages: list[TextNode]) -> None:
    """From Monday to Friday, in the working folder."""
    monday = [one for one in packages if one.label != LATER]
    sections: dict[str, list[Key]] = {}
    for one in monday:
        sections.setdefault(one.label, []).append(one.key)
    rust = sections.pop(NEW)
    # Two thirds are kept from the store, to see later whether its answers are right.
    labels, unseen = ng.hold_out(sections, share=2 / 3)
    write_tables(monday, ())
    write_labels(labels)
    say(
        f"Monday. {len(monday):,} packages of Debian, what is written about them, and what needs "
        "what. A third of them has a label: its section. "
        f"{len(rust):,} packages are in a section that nobody has told the store of: {NEW}."
    )
    run(
        "nodegraft init packages --nodes nodes.parquet --edges edges.parquet "
        "--labels labels.parquet --text description --type kind --directed"
    )
    run("nodegraft predict packages --nodes git,ripgrep,librust-rand-core-dev --top 3")

    say("Tuesday. The section is to be taught, from five packages. What would change?")
    run(f"nodegraft add packages --class {NEW} --nodes {RUST} --dry-run")
    say("It costs next to nothing. A class that is none is refused, though:")
    run(f"nodegraft add packages --class web --nodes {MIXED}")
    run(f"nodegraft add packages --class {NEW} --nodes {RUST}")
    store = ng.Store.open("packages")
    answers = store.predict(version=2)
    called = {
        node for node, name in zip(answers.nodes, answers.predictions, strict=True) if name == NEW
    }
    right = len(called & {*rust})
    say(
        f"Was that right? Version 2 calls {len(called):,} packages {NEW}. {right:,} of them are, "
        f"of {len(rust):,} that there are."
    )

    say("Wednesday. Somebody wants to talk about it first, so it is taken back; then it comes.")
    run("nodegraft undo packages --note 'not yet'")
    first, *_, last = store.history()
    assert (first.graph, first.labels, first.model) == (last.graph, last.labels, last.model)
    say(f"Version {last.number} is version 1 again, byte for byte.")
    run(f"nodegraft add packages --class {NEW} --nodes {RUST} --note agreed")
    run("nodegraft promote packages")

    say("Thursday. Every package gets its answer, and the unsure ones are kept back.")
    run("nodegraft predict packages --all --min-confidence 0.9 --csv answers.csv")
    truth = unseen | {NEW: [key for key in rust if key not in RUST.split(",")]}
    sure = store.confusion_matrix(truth, min_confidence=0.9).counts
    say(
        f"Of packages whose section the store was never told {100 * store.score(truth):.1f} % are "
        f"answered rightly; of the {sure.sum():,} among them that it is 90 % sure of, "
        f"{100 * sure.trace() / sure.sum():.1f} %."
    )
    run("nodegraft explain packages ripgrep")
    run("nodegraft suggest packages --count 5")

    say(f"Friday. {len(packages) - len(monday):,} packages of another section come in: {LATER}.")
    write_tables(
        [one for one in packages if one.label == LATER], [one.key for one in monday], "new-"
    )
    run("nodegraft grow packages --nodes new-nodes.parquet --edges new-edges.parquet")
    run("nodegraft drift packages")
    run("nodegraft suggest packages --count 5")
    run("nodegraft history packages")
    store.close()


def main() -> None:
    """Find the packages, and live through the week in a folder that goes afterwards."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("NODEGRAFT_DATA", "data")))
    folder = parser.parse_args().data
    try:
        packages = read_sections(folder)
    except ng.errors.MissingFileError as error:
        print(
            f"skipped: {error}\nOn Debian 12 this brings them: sh examples/debian_index.sh {folder}"
        )
        return
    with TemporaryDirectory() as place, chdir(place):
        week(packages)


if __name__ == "__main__":
    main()
