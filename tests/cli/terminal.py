"""Whoever reads a page and types what it says, in one folder, from top to bottom."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from nodegraft.cli.app import app
from tests.cli.page_server import PageServer
from tests.cli.pages import CODE, FILES, SHELL, Block, Step, alike, lines, missing, steps_of

NAMED_FILE = re.compile(r"# (\S+)\n")
PROMISED = re.compile(r"\s*# (\[.*\])")
"""A comment behind an expression that says what it gives."""


class Terminal:
    """A shell and a Python session in the working folder.

    Args:
        names: What the Python session knows at first.
        is_left_out: Whether a command is not to be run.
    """

    def __init__(self, names: dict[str, Any], is_left_out: Callable[[str], bool]) -> None:
        self._names, self._is_left_out = names, is_left_out
        self._server: PageServer | None = None

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self._server:
            self._server.stop()

    def run(self, block: Block) -> None:
        """Do what a block says; what comes out must be what it shows."""
        if block.kind in FILES and (named := NAMED_FILE.match(block.text)):
            Path(named[1]).write_text(block.text)
        if block.kind not in CODE:
            return
        if block.kind == "python":
            if not self._is_left_out(block.text):
                text = self._server.addressed(block.text) if self._server else block.text
                self._run_python(replace(block, text=text))
            return
        run = self._type if block.kind in SHELL else self._type_python
        for step in steps_of(block):
            if not self._is_left_out(step.command):
                run(step)

    def _type(self, step: Step) -> None:
        program, *arguments = shlex.split(step.command, comments=True)
        if program != "nodegraft":
            self._type_shell(step)
        elif arguments[0] == "serve":
            self._server = PageServer(arguments[1:])
        else:
            # Whoever is asked whether to go on says yes.
            done = CliRunner().invoke(app, arguments, input="y\n")
            refused = any(line.startswith("Error:") for line in step.shown or ())
            assert done.exit_code == (2 if refused else 0), f"{step.command}\n{done.output}"
            _compare(step, done.output)

    def _type_shell(self, step: Step) -> None:
        command = self._server.addressed(step.command) if self._server else step.command
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/bash", "-euo", "pipefail", "-c", command],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{step.command}\n{done.stdout}{done.stderr}"
        if command.startswith("curl"):
            # A service that refuses is an answer to curl, too.
            assert "error" not in json.loads(done.stdout), done.stdout
        _compare(step, done.stdout)

    def _type_python(self, step: Step) -> None:
        with redirect_stdout(StringIO()) as said:
            exec(compile(step.command, "page", "single"), self._names)  # noqa: S102
        _compare(step, said.getvalue())

    def _run_python(self, block: Block) -> None:
        typed = block.text.splitlines()
        for statement in ast.parse(block.text).body:
            code = ast.Module([statement], [])
            if not isinstance(statement, ast.Expr):
                exec(compile(code, "page", "exec"), self._names)  # noqa: S102
                continue
            with redirect_stdout(StringIO()):
                value = eval(compile(ast.Expression(statement.value), "page", "eval"), self._names)  # noqa: S307
            line = typed[(statement.end_lineno or 1) - 1].encode()
            promised = PROMISED.match(line[statement.end_col_offset :].decode())
            if promised:
                given = repr(value).replace("'", '"')
                assert alike(promised[1], given), f"{line.decode()}\ngives {given}"


def _compare(step: Step, output: str) -> None:
    if step.shown is not None:
        wrong = missing(step.shown, lines(output))
        assert wrong is None, f"{step.command}\n{wrong}\nis not what comes out:\n{output}"
