"""Every command's result as JSON: valid, alone on standard output, and with described fields."""

import json
import shutil
import sys
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
import typer
from pyarrow import csv, parquet
from typer.core import TyperGroup
from typer.testing import CliRunner, Result

from nodegraft.analysis.results import comparisons, nodes, versions
from nodegraft.analysis.results.result import described_fields, parts_of
from nodegraft.cli.app import app
from nodegraft.service.app import application
from nodegraft.service.settings import Settings
from tests.cli.test_bench import SUITE
from tests.cli.test_commands import SMALL
from tests.cli.test_wrong_inputs import INIT, made, tables
from tests.store.small import made as small_store

__all__ = ["made"]

NO_RESULT = {"serve"}
"""Commands that print no result."""

SEARCH = 'method = "sgc-mean"\ndatasets = ["synthetic"]\nseeds = [0]\ntrials = 1\n'
SEARCH += 'arrival = "with-class"\n[space]\nhops = [0, 1]\n'
RENAME = "rename shop hats caps"
MOVE = "move shop hats --parent wear"
BUILD = f"build nodes.parquet edges.parquet --out graph {' '.join(INIT[:6])} --text text"

EXAMPLES: dict[str, tuple[str, ...]] = {
    "example": ("example words",),
    "init": (f"init new {tables()}",),
    "grow": ("grow shop --edges edges.parquet",),
    "sync": ("sync shop --nodes nodes.parquet --dry-run",),
    "build": (BUILD,),
    "propagate": (BUILD, "propagate graph"),
    "add": ("add shop --class x --nodes hats7,hats8 --dry-run",),
    "label": ("label shop --class hats --nodes hats7 --promote",),
    "relabel": ("relabel shop --class shoes --nodes hats1",),
    "unlabel": ("unlabel shop --nodes hats1",),
    "remove": ("add shop --class x --nodes hats7,hats8 --override t", "remove shop x"),
    "rename": (RENAME,),
    "merge": ("add shop --class x --nodes hats7 --override t", "merge shop hats x --into all"),
    "split": ("split shop hats --into a=hats1 --into b=hats2 --override t",),
    "move": (MOVE,),
    "refit": ("refit shop",),
    "history": ("history shop",),
    "diff": (RENAME, "diff shop"),
    "promote": (RENAME, "promote shop"),
    "rollback": (RENAME, "promote shop", "rollback shop"),
    "discard": (RENAME, "discard shop"),
    "undo": (RENAME, "undo shop"),
    "predict": ("predict shop --nodes hats7,no --missing null --top 2",),
    "classes": (MOVE, "classes shop --version 2"),
    "explain": ("explain shop hats7",),
    "audit": ("audit shop",),
    "suggest": ("suggest small",),
    "drift": (RENAME, "drift shop"),
    "evaluate": ("evaluate small --method sgc-mean --method text-only --seeds 1",),
    "card": ("card shop",),
    "token add": ("token add shop --name ci --expires 30d",),
    "token list": ("token add shop --name ci", "token list shop"),
    "token revoke": ("token add shop --name ci", "token revoke shop --name ci"),
    "verify": ("verify shop",),
    "settings": ("settings shop",),
    "prune": ("prune shop",),
    "purge": ("purge shop hats1 --yes",),
    "migrate": ("migrate shop",),
    "doctor": ("doctor shop",),
    "lab run": (" ".join(["lab run --method sgc-mean", *SMALL]),),
    "lab bench": ("lab bench suite.toml --out new",),
    "lab results": ("lab results",),
    "lab matrix": ("lab matrix --run RUN",),
    "lab compact": ("lab compact",),
    "lab table": ("lab table suite.toml",),
    "lab report": ("lab report runs --out page --suites suite.toml",),
    "lab tune": ("lab tune search.toml",),
    "lab check": ("lab check text-only --nodes 200",),
    "lab map": ("lab map --dataset synthetic --method sgc-mean --out maps",),
    "lab info": ("lab info synthetic",),
    "lab methods": ("lab methods",),
    "lab datasets": ("lab datasets",),
}
"""Command -> command lines; the last one is the command itself."""


def commands() -> dict[str, Any]:
    """All commands by their words."""
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    found: dict[str, Any] = {}
    for name, command in program.commands.items():
        children = command.commands if isinstance(command, TyperGroup) else {}
        found |= {f"{name} {child}": own for child, own in children.items()} or {name: command}
    return found


def call(line: str) -> Result:
    done = CliRunner().invoke(app, line.split())
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def shared(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, its tables, a suite with its records, and a search."""
    folder = tmp_path_factory.mktemp("shared")
    shutil.copytree(made, folder, dirs_exist_ok=True)
    (folder / "suite.toml").write_text(SUITE)
    (folder / "search.toml").write_text(SEARCH)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        call("lab bench suite.toml")
    return folder


@pytest.fixture
def folder(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, of one's own, in the working folder."""
    shutil.copytree(shared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def undescribed(value: Any, kind: Any, path: str = "") -> list[str]:
    """Return fields of JSON that its type does not describe, or that are missing."""
    if is_dataclass(kind):
        own: Any = kind
        types = {field.name.rstrip("_"): field.type for field in fields(own)}
        # Fields with a default are those that only some stores have.
        optional = {field.name for field in fields(own) if field.default is not MISSING}
        wrong = [f"{path}.{name}" for name in ({*types} ^ {*value}) - (optional - {*value})]
        assert set(described_fields(own)) == set(types)
        return wrong + [
            bad
            for name in {*types} & {*value}
            for bad in undescribed(value[name], types[name], f"{path}.{name}")
        ]
    if get_origin(kind) in (list, tuple):
        inner = get_args(kind)[0]
        return [bad for part in value for bad in undescribed(part, inner, f"{path}[]")]
    if value is not None and get_origin(kind) is not dict and parts_of(kind):
        return undescribed(value, parts_of(kind)[0], path)
    return []


def test_every_command_prints_json_or_no_result() -> None:
    silent = {name for name, command in commands().items() if not command.callback.results}
    assert silent == NO_RESULT
    assert set(EXAMPLES) == set(commands()) - NO_RESULT


@pytest.mark.parametrize("name", EXAMPLES)
def test_json_is_alone_and_described(name: str, folder: Path) -> None:
    if " small" in EXAMPLES[name][-1]:
        small_store(folder / "small")[0].close()
    *before, line = EXAMPLES[name]
    for earlier in before:
        call(earlier)
    run = min(Path("runs").glob("*.json")).stem
    document = json.loads(call(f"{line.replace('RUN', run)} --json").stdout)
    results = commands()[name].callback.results
    problems = [undescribed(document, result) for result in results]
    assert min(problems, key=len) == []


def test_an_error_is_json_too(folder: Path) -> None:
    lines = {
        "history nowhere --json": "store_refused",
        "predict shop --nodes ghost,hats1 --json --csv x.csv": "parameter",
        "predict shop --nodes ghost,nobody --json": "unknown_node",
        "predict --json": "usage",
        "lab run --dataset synthetic --method nothing --json": "unknown_name",
        "rename shop hats shoes --json": "class_name",
        "history shop --json --nonsense": "usage",
    }
    for line, code in lines.items():
        done = CliRunner().invoke(app, line.split())
        error = json.loads(done.stdout)["error"]
        assert (done.exit_code, error["code"]) == (2, code), line
        assert error["message"]
        assert done.stderr == ""
    asked = CliRunner().invoke(app, ["purge", "shop", "hats1", "--json"], input="n\n")
    document = asked.stdout[asked.stdout.index("{") :]  # what was typed comes first
    assert (asked.exit_code, json.loads(document)["error"]["code"]) == (1, "aborted")


def test_tables_are_written_and_printed(folder: Path) -> None:
    call(RENAME)
    printed = call("history shop --csv -").stdout
    assert printed.splitlines()[0].startswith('"version","action","description"')
    told = call("history shop --parquet history.parquet").stdout
    assert told == "history.parquet: 2 rows written.\n"
    assert parquet.read_table("history.parquet")["action"].to_pylist() == ["rename", "init"]
    call("predict shop --all --coverage 0.9 --csv all.csv")
    assert csv.read_csv("all.csv")["set"][0].as_py().startswith('["')
    call("token list shop --csv none.csv")
    assert Path("none.csv").read_text().startswith('"name","scope","created_at"')
    call("settings shop --csv settings.csv")
    assert "max_removed_share" in Path("settings.csv").read_text()


def test_nothing_is_cut_in_a_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A width that somebody asks for is kept in a pipe, too; test runners may set one.
    monkeypatch.delenv("COLUMNS", raising=False)
    long = "a hat " * 100
    Path("more.csv").write_text(f'id,text,price\n"{"k" * 200}","{long}",1\n')
    call("grow shop --nodes more.csv")
    shown = call(f"predict shop --nodes {'k' * 200} --version 2").stdout
    assert "k" * 200 in shown
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) < 1_500
    assert call("predict shop --all").stdout.count("hats") >= 12


def test_results_are_those_of_http() -> None:
    models = application(Settings(Path("store"))).openapi()["components"]["schemas"]
    results = vars(comparisons) | vars(nodes) | vars(versions)
    shared = [name for name in results if name in models]
    assert len(shared) > 12
    for name in shared:
        described = described_fields(results[name])
        fields_of_http = models[name]["properties"]
        assert {field: own["description"] for field, own in fields_of_http.items()} == described
        assert "Args:" not in models[name]["description"]
        assert all(described.values())


def test_a_doctor_says_what_to_do(folder: Path) -> None:
    call(RENAME)
    checks = {c["name"]: c for c in json.loads(call("doctor shop --json").stdout)["checks"]}
    assert checks["candidate"]["status"] == "warning"
    assert "nodegraft promote shop" in checks["candidate"]["what_to_do"]
    assert "1 of 2 versions" in checks["live version"]["message"]
    (next(Path("shop", "objects").rglob("*.safetensors"), Path("shop/store.json"))).write_bytes(b"")
    CliRunner().invoke(app, ["verify", "shop"])
    done = CliRunner().invoke(app, ["doctor", "shop"])
    assert done.exit_code == 1
    assert "error   store" in done.stdout
    assert "nodegraft verify shop" in done.stdout


def test_a_doctor_of_no_store_and_of_a_damaged_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(name: str) -> dict[str, str]:
        done = CliRunner().invoke(app, ["doctor", "shop", "--json"])
        assert done.exit_code == 1, done.output
        (found,) = [c for c in json.loads(done.stdout)["checks"] if c["name"] == name]
        return dict(found)

    Path("shop/objects").rename("objects")
    assert "missing" in check("live version")["message"]
    Path("shop/store.db").write_bytes(b"no database")
    assert "nodegraft verify shop" in check("database")["what_to_do"]
    Path("shop/store.db").unlink()
    Path("shop/store.json").unlink()
    assert "nodegraft init" in check("store")["what_to_do"]
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "cannot be imported" in check("torch build")["message"]


def test_a_folder_is_no_file_for_a_table(folder: Path) -> None:
    done = CliRunner().invoke(app, ["doctor", "--csv", "."])
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr
