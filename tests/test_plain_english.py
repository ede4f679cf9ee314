"""Messages use the words of the glossary: its last column lists those that must not come back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from nodegraft.cli.app import app

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "nodegraft"
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
QUOTED = re.compile(r"`([^`]+)`")


FOLDERS = sorted(path.name for path in SOURCE.iterdir() if path.is_dir())

CALLED_ONE = {
    "analysis/labels/labels.py",
    "analysis/learning_curve.py",
    "lab/benchmark/suite.py",
    "tables/features/recipe.py",
}
"""Files in which variables called `one` are still to be renamed."""


def banned_phrases() -> list[str]:
    """Return the phrases in the last column of the glossary's table."""
    rows = [line for line in GLOSSARY.read_text().splitlines() if line.startswith("| ")]
    return [phrase for row in rows[1:] for phrase in QUOTED.findall(row.split(" | ")[-1])]


def banned_in(text: str) -> list[str]:
    """Return the banned phrases that a text contains, as whole words, in any case."""
    plain = " ".join(text.split())
    return [phrase for phrase, pattern in PATTERNS.items() if pattern.search(plain)]


PATTERNS = {
    phrase: re.compile(rf"(?<![\w-]){re.escape(phrase)}(?![\w-])", re.IGNORECASE)
    for phrase in banned_phrases()
}


def messages(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of string literals that a user may see.

    Those are literals with a blank in them, and in `cli/` also single words, unless they are a
    key, an index or an argument that names a field.
    """
    tree = ast.parse(file.read_text())
    skipped = {id(node) for parent in ast.walk(tree) for node in _not_shown(parent)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_text = " " in node.value.strip() or file.is_relative_to(SOURCE / "cli")
            if is_text and id(node) not in skipped:
                yield node.lineno, node.value


def _not_shown(node: ast.AST) -> Iterator[ast.AST]:
    """Yield docstrings, keys, indices, annotations and compared values directly below a node."""
    body = getattr(node, "body", None)
    if isinstance(body, list):
        yield from (one.value for one in body if isinstance(one, ast.Expr))
    if isinstance(node, ast.Dict):
        yield from filter(None, node.keys)
    elif isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
        if isinstance(annotation, ast.AST):
            yield from ast.walk(annotation)


@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_use_the_words_of_the_glossary(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {phrase!r} in {text!r}"
        for file in sorted((SOURCE / folder).rglob("*.py"))
        for line, text in messages(file)
        for phrase in banned_in(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "file", sorted(SOURCE.glob("lab/report/templates/*.html")), ids=lambda f: f.name
)
def test_templates_use_the_words_of_the_glossary(file: Path) -> None:
    code = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)
    assert banned_in(code.sub(" ", file.read_text())) == []


def _commands(group: typer.core.TyperGroup, *names: str) -> Iterator[tuple[str, ...]]:
    yield names
    for name, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from _commands(command, *names, name)
        else:
            yield (*names, name)


def test_help_uses_the_words_of_the_glossary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    found = []
    for names in _commands(group):
        done = CliRunner().invoke(app, [*names, "--help"])
        assert done.exit_code == 0, done.output
        found += [f"{' '.join(names)}: {phrase}" for phrase in banned_in(done.output)]
    assert found == []


VAGUE_START = re.compile(
    r"The same\b|Those (?:of|that|who)\b|As (?:one|in|above)\b|(?:Of|When|Who|Whoever)\b"
)
"""First words of a summary whose subject must be guessed."""


def vague_summaries(source: str) -> list[str]:
    """Return the docstrings of a module whose summary does not name its subject."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, documented))
    texts = (ast.get_docstring(node) for node in nodes)
    return [text.splitlines()[0] for text in texts if text and VAGUE_START.match(text)]


def names_of_one(source: str) -> list[int]:
    """Return the lines of a module in which a variable is called `one`."""
    names = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return [node.lineno for node in names if node.id == "one" and isinstance(node.ctx, ast.Store)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_summaries_name_their_subject_and_variables_say_what_they_are(folder: str) -> None:
    files = {file: file.read_text() for file in sorted((SOURCE / folder).rglob("*.py"))}
    found = [(file, text) for file, source in files.items() for text in vague_summaries(source)]
    for file, source in files.items():
        if str(file.relative_to(SOURCE)) not in CALLED_ONE:
            found += [(file, f"line {line}") for line in names_of_one(source)]
    assert [f"{file.relative_to(ROOT)}: {text}" for file, text in found] == []


def test_vague_summaries_and_names_are_found() -> None:
    source = 'def grown():\n    """The same after growth."""\n    return [one for one in ()]\n'
    assert vague_summaries(source) == ["The same after growth."]
    assert names_of_one(source) == [3]
    assert vague_summaries('"""Offices of a town."""') == []


def test_a_banned_phrase_is_found() -> None:
    assert len(PATTERNS) > 40
    assert banned_in("Version 1 goes on\nanswering.") == [
        "answering",
        "goes on answering",
        "goes on",
    ]
    assert banned_in("Version 1 stays live.") == []
