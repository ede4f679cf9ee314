"""The reference pages name every command, option, route and field that the program has."""

from pathlib import Path

import pytest
import typer
from docs.program_reference import cli_page, http_page
from typer.core import TyperGroup

from nodegraft.cli.app import app
from nodegraft.service.app import application
from nodegraft.service.settings import Settings
from tests.test_docs_english import prose
from tests.test_plain_english import banned_in


@pytest.fixture(scope="module")
def cli() -> str:
    return cli_page()


@pytest.fixture(scope="module")
def http() -> str:
    return http_page()


def test_every_command_and_option_is_described(cli: str) -> None:
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    for name, command in program.commands.items():
        if isinstance(command, TyperGroup):
            assert all(f"### nodegraft {name} {child}\n" in cli for child in command.commands)
            continue
        section = cli.split(f"### nodegraft {name}\n")[1].split("\n#")[0]
        for parameter in command.params:
            if parameter.name != "help" and parameter.param_type_name == "option":
                assert f"`{parameter.opts[0]}`" in section


def test_a_command_shows_its_usage_and_defaults(cli: str) -> None:
    assert "nodegraft init STORE [OPTIONS]" in cli
    assert (
        "| `--method` | Method; list them with: nodegraft lab methods. Default: `graft`. |" in cli
    )


def test_every_route_and_object_is_described(http: str) -> None:
    document = application(Settings(Path("nowhere"))).openapi()
    for path, methods in document["paths"].items():
        assert all(f"## {method.upper()} {path}\n" in http for method in methods)
    for model in document["components"]["schemas"].values():
        assert all(f"| `{field}`" in http for field in model.get("properties", ()))


def test_links_to_objects_lead_somewhere(http: str) -> None:
    anchors = {line[4:].lower() for line in http.splitlines() if line.startswith("### ")}
    links = {part.split(")")[0] for part in http.split("](#")[1:]}
    assert links
    assert links <= anchors


def test_pages_use_the_words_of_the_glossary(cli: str, http: str) -> None:
    assert banned_in(prose(cli)) == []
    assert banned_in(prose(http)) == []
