"""Print docstrings and comments drawn at random: ``python -m docs.docstring_sample --seed 1``

Each text is printed without the code around it, to be read once with fresh eyes: a reader counts
how many need a second reading. The place of a text is printed on the line before it.
"""

import argparse
import ast
import inspect
import random
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src"


class Text(NamedTuple):
    """A docstring or comment, and where it is."""

    place: str
    text: str


def docstrings(file: Path) -> Iterator[Text]:
    """Yield the docstrings of a file's module, classes, functions, fields and constants.

    Args:
        file: A Python file.
    """
    for node in ast.walk(ast.parse(file.read_text())):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        can_begin = isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        )
        pairs = pairwise([None, *body] if can_begin else body)
        for before, statement in pairs:
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))) if before is None or isinstance(
                    before, ast.Assign | ast.AnnAssign
                ):
                    yield Text(f"{file}:{statement.lineno}", inspect.cleandoc(text))


def comments(file: Path) -> Iterator[Text]:
    """Yield the comments of a file; consecutive lines are one comment, directives are none.

    Args:
        file: A Python file.
    """
    lines: list[str] = []
    last = 0
    with file.open("rb") as opened:
        for token in tokenize.tokenize(opened.readline):
            if token.type != tokenize.COMMENT:
                continue
            text = token.string.lstrip("#:! ")
            if text.startswith(("noqa", "type:", "pragma", "/")):
                continue
            if lines and token.start[0] != last + 1:
                yield Text(f"{file}:{last}", "\n".join(lines))
                lines = []
            lines.append(text)
            last = token.start[0]
    if lines:
        yield Text(f"{file}:{last}", "\n".join(lines))


def sample(source: Path, count: int, seed: int) -> list[Text]:
    """Return docstrings and comments drawn at random, without repetition.

    Args:
        source: Folder with Python files.
        count: Number of texts.
        seed: Seed of the draw.
    """
    files = sorted(source.rglob("*.py"))
    texts = [text for file in files for text in (*docstrings(file), *comments(file))]
    return random.Random(seed).sample(texts, min(count, len(texts)))  # noqa: S311


def main() -> None:
    """Print the sample that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=SOURCE, help="folder with Python files")
    parser.add_argument("--count", type=int, default=200, help="number of texts")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    options = parser.parse_args()
    found = sample(options.source, options.count, options.seed)
    for number, text in enumerate(found, start=1):
        print(f"--- {number}: {Path(text.place).relative_to(options.source)}\n{text.text}\n")


if __name__ == "__main__":
    main()
