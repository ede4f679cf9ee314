"""What a new user gets wrong, and the sentence that each mistake is answered with."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from nodegraft.cli.app import app

WORDS = {"hats": "felt brim wool cap", "shoes": "sole lace heel leather"}
KEYS = [f"{name}{number}" for name in WORDS for number in range(12)]
NODES: dict[str, list[Any]] = {
    "id": KEYS,
    "text": [f"{text} item{number % 5}" for text in WORDS.values() for number in range(12)],
    "price": [float(number) for number in range(24)],
}
EDGES = {"a": KEYS[:-1], "b": KEYS[1:]}
LABELLED = [key for key in KEYS if int(key[-1]) < 5]
LABELS = {"id": LABELLED, "class": [key.rstrip("0123456789") for key in LABELLED]}
INIT = ("--key", "id", "--source", "a", "--target", "b", "--label", "class", "--text", "text")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables, and a store that nobody spoils."""
    folder = tmp_path_factory.mktemp("user")
    for name, columns in {"nodes": NODES, "edges": EDGES, "labels": LABELS}.items():
        parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
    csv.write_csv(pa.table(NODES), folder / "nodes.csv")
    (folder / "empty.csv").write_text("id,class\n")
    (folder / "notes.txt").write_text("not a table")
    (folder / "broken.parquet").write_bytes(b"PAR1 broken")
    parquet.write_table(pa.table({"id": ["x9"], "class": ["hats"]}), folder / "strangers.parquet")
    parquet.write_table(pa.table({"a": ["x9"], "b": ["hats1"]}), folder / "dangling.parquet")
    more = {"key": ["x9", "hats9"], "label": ["caps", "hats"]}
    parquet.write_table(pa.table(more), folder / "more.parquet")
    twice = {name: [*values, values[0]] for name, values in NODES.items()}
    parquet.write_table(pa.table(twice), folder / "twice.parquet")
    done = invoke(folder, f"init shop {tables()}")
    assert done[0] == 0, done[1]
    return folder


def tables(**others: str) -> str:
    """The usual tables as options, or others."""
    names = {"nodes": "nodes.parquet", "edges": "edges.parquet", "labels": "labels.parquet"}
    given = {**names, **others}
    return " ".join([*INIT, *(f"--{name} {file}" for name, file in given.items())])


def invoke(folder: Path, line: str) -> tuple[int, str]:
    """Exit code and all output of a command, given in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner().invoke(app, line.split(), env={"COLUMNS": "400"})
    return done.exit_code, done.output


WRONG = {
    "init new --nodes none.parquet --labels labels.parquet --text text": "none.parquet",
    f"init new {tables(nodes='notes.txt')}": r"notes\.txt.*(parquet|csv)",
    f"init new {tables(nodes='broken.parquet')}": r"broken\.parquet",
    f"init new {tables(nodes='twice.parquet')}": "node key seen before",
    f"init new {tables(edges='dangling.parquet')}": "x9",
    f"init new {tables(labels='strangers.parquet')}": "x9",
    f"init new {tables(labels='empty.csv')}": "has no label",
    f"init new {tables()} --text description": "no column 'description'",
    f"init new {tables()} --features text": "text",
    f"init new {tables()} --type kind": "no column 'kind'.*for example --source from.*--type",
    f"init new {tables()} --method grft": "Did you mean 'graft'",
    f"init new {tables()} --set hop=3": "hop",
    f"init new {tables()} --set hops=many": "hops",
    f"init new {tables()} --database nowhere": "database",
    f"init shop {tables()}": "shop already exists",
    "add nowhere --class x --nodes hats7": "nowhere is not a store",
    "add . --class x --nodes hats7": "is not a store",
    "add shop --class x": "Give a class and its nodes",
    "add shop --nodes hats7": "Give a class and its nodes",
    "add shop --class x --nodes ,": "No node key was given",
    "add shop --class x --nodes hats77": "hats77",
    "add shop --class x --nodes hats1": "'hats1' already has the label 'hats'",
    "add shop --class x --nodes hats7,hats7": "listed twice",
    "add shop --class hats --nodes hats7": "already has the class 'hats'",
    "add shop --class x --nodes hats7 --labels labels.parquet": "not both",
    "add shop --labels labels.parquet --key node --label class": "no column 'node'",
    "add shop --labels more.parquet": "2 problems.*not in the table of nodes.*has the class 'hats'",
    "label shop --class hts --nodes hats7": "has no class 'hts'",
    "label shop --class hats --nodes shoes1": "already has the label 'shoes'",
    "relabel shop --class shoes --nodes hats9": "'hats9' has no label",
    "unlabel shop --nodes hats9": "'hats9' has no label",
    "unlabel shop --nodes hats0,hats1,hats2,hats3,hats4,hats10,hats11": "use `remove`",
    "remove shop caps": "has no class 'caps'",
    "remove shop hats shoes": "at least one class",
    "rename shop hats shoes": "use `merge`",
    "rename shop hats hats": "called 'hats' already",
    "add shop --class shoes --nodes hats7,hats7,hats1,x9": (
        "4 problems:.*'hats7' is listed twice.*class 'shoes'.*'hats1' already.*not in .*'x9'"
    ),
    "label shop --class x --nodes hats1,x9": "3 problems:.*class 'x'.*'hats1' already.*'x9'",
    "unlabel shop --nodes hats0,hats0,hats9,x9": "2 problems:.*listed twice.*'hats9', 'x9'",
    "remove shop caps hts hats hats": "2 problems:.*'hats' is listed twice.*'caps', 'hts'",
    "split shop hats --into caps=x9 --into shoes=hats1": "2 problems:.*class 'shoes'.*'x9'",
    "init new --nodes no.csv --edges none.csv --labels l.csv": "no.csv.*none.csv.*l.csv",
    "init new --nodes nodes.parquet --key k --text t --edges edges.parquet --labels empty.csv": (
        "'k'.*'t'.*'source'.*'target'.*'label'"
        ".*--key id.*--source from.*--target to.*--label class.*--label-key id"
    ),
    "predict shop --nodes \udcff --csv -": "not UTF-8",
    "merge shop hats --into all": "at least two classes",
    "split shop hats --into caps": "caps",
    "split shop hats --into caps=hats1": "two new classes",
    "move shop hats": "--parent NAME or --no-parent",
    "move shop --parent wear": "Give class names",
    "move shop hats --parent hats": "its own ancestor: 'hats' → 'hats'",
    "move shop hats --no-parent": "change nothing",
    "move shop caps --parent wear": "has no class 'caps'",
    "move shop --classes labels.parquet": "no column 'parent'",
    "add shop --class x --nodes hats7 --parent Shoes": "'Shoes'",
    f"init new {tables()} --classes empty.csv": "no column 'class'|no column 'parent'",
    "undo shop": "Version 1 is the first",
    "undo shop 7": "no version 7",
    "promote shop": "No candidate version waits for review",
    "promote shop 5": "no version 5",
    "rollback shop": "none to roll back to",
    "diff shop 1 4": "no version 4",
    "diff shop": "Version 1 is the first live version.*numbers of two versions",
    "label shop --class hats --nodes hats7 --override why --promote": "without --promote",
    "prune nowhere": "nowhere is not a store",
    "prune shop --keep 0": "keep",
    "purge nowhere hats1 --yes": "nowhere is not a store",
    "purge shop hats77 --yes": "names 'hats77'",
    "purge shop hats1 hats77 --yes": "names 'hats77'",
    "purge shop hats1 hats77 --json": "names 'hats77'",
    "predict shop": "Choose the nodes with one of",
    "predict shop --nodes hats1 --all": "Choose the nodes with one of",
    "predict shop --nodes ghost": "ghost",
    "predict shop --nodes hats1 --min-confidence 1.5": "min_confidence",
    "predict shop --nodes hats1 --top 0": "top",
    "predict shop --nodes hats1 --version 3": "no version 3",
    "predict shop --table nodes.csv --key node": "no column 'node'",
    "predict shop --all --csv no/answers.csv": r"no/answers\.csv cannot be written",
    "explain shop ghost": "ghost",
    "suggest shop --count 0": "count",
    "suggest shop --version 7": "no version 7",
    "suggest nowhere": "nowhere is not a store",
    "migrate nowhere": "nowhere is not a store",
    "migrate .": "is not a store",
    "evaluate nowhere": "nowhere is not a store",
    "evaluate shop": "4 classes with 10 labels each.*'hats' has 7.*--shots",
    "evaluate shop --shots 3": "this version has 2 such classes.*`add`",
    "evaluate shop --shots 0": "shots",
    "evaluate shop --seeds 0": "seeds",
    "evaluate shop --method grft": "Did you mean 'graft'",
    "evaluate shop --method joint": "joint gets most labels",
    "evaluate shop --version 3": "no version 3",
    "evaluate shop --out notes.txt": "notes.txt cannot be written to",
    "card nowhere": "nowhere is not a store",
    "card shop --version 3": "no version 3",
    "card shop --out card.html": r"must end in \.md",
    "card shop --out nowhere/card.md": "cannot be written",
    "grow shop": "No table was given",
    "grow shop --nodes nodes.parquet": "graph has already",
    "sync shop --nodes strangers.parquet": "text",
    "serve nowhere": "nowhere is not a store",
    "serve shop --host 0.0.0.0": "no API token",
    "serve shop --host no.such.host.invalid": "no API token",
    "token add nowhere --name ci": "nowhere is not a store",
    "token revoke shop --name ci": "no token called 'ci'",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_mistake_is_answered_with_a_sentence(line: str, made: Path) -> None:
    code, output = invoke(made, line)
    assert code == 2, output
    assert "Traceback" not in output
    told = " ".join(output.split())

    assert re.search(WRONG[line], told), told
    assert len(told) < 700


def damaged(made: Path, tmp_path: Path, spoil: Callable[[Path], object]) -> str:
    store = tmp_path / "shop"
    shutil.copytree(made / "shop", store)
    spoil(store)
    code, output = invoke(tmp_path, "predict shop --nodes hats1")
    assert code == 2, output
    assert "Traceback" not in output
    return output


def _rewritten(path: Path, content: bytes) -> int:
    path.chmod(0o644)
    return path.write_bytes(content)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda store: _rewritten(store / "store.json", b"{"),
        lambda store: _rewritten(store / "store.json", json.dumps({"format": 99}).encode()),
        lambda store: _rewritten(store / "store.db", b"not a database" * 200),
        lambda store: (store / "store.db").unlink(),
        lambda store: [_rewritten(path, b"\x80\x04.") for path in (store / "objects").iterdir()],
        lambda store: [path.unlink() for path in (store / "objects").iterdir()],
    ],
    ids=["settings", "format", "database", "no database", "objects", "no objects"],
)
def test_a_damaged_store_is_told(
    spoil: Callable[[Path], object], made: Path, tmp_path: Path
) -> None:
    damaged(made, tmp_path, spoil)
