"""Reference pages of the command line and of HTTP, written from the program when docs are built."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperGroup

from nodegraft.analysis.results.result import described_fields, parts_of
from nodegraft.cli.app import app
from nodegraft.service.app import application
from nodegraft.service.settings import Settings

_CLI_HEAD = """\
# Command line

Every command also explains itself: `nodegraft COMMAND --help`.

- **Text** goes to standard output; in a file or pipe lines have any length (set `COLUMNS` for a
  width). Progress, notes and hints go to standard error; progress and hints only on a terminal.
- **`--json`** prints one JSON object on standard output, with the field names of HTTP. An error is
  `{"error": {"code": …, "message": …}}` there, with `objections` if the quality gate refuses; its
  codes are those of HTTP, and `usage` for wrong options. The exit code stays the same.
- **`--csv FILE`** and **`--parquet FILE`** write the rows of a result; `-` prints them. Cells that
  are objects or lists are JSON text. **`--to URL#TABLE`** writes them into a database.
- **Exit codes**: 0; 2 for an error; 1 if `verify` finds damage, `doctor` an error, or you do not
  confirm.
"""

_JSON_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    datetime: "time",
}

FOLDER = Path(__file__).parent / "reference" / "generated"


def write_pages() -> None:
    """Write ``cli.md`` and ``http.md``."""
    FOLDER.mkdir(exist_ok=True)
    for name, page in (("cli.md", cli_page()), ("http.md", http_page())):
        path = FOLDER / name
        if not path.exists() or path.read_text() != page:
            path.write_text(page)


def cli_page() -> str:
    """Return every command with its arguments and options, by help panel."""
    program = typer.main.get_command(app)
    panels: dict[str, list[str]] = {}
    for command, context in _commands(program, typer.Context(program, info_name="nodegraft")):
        panels.setdefault(_panel(context), []).append(_command_section(command, context))
    sections = [f"## {panel}\n\n" + "\n".join(texts) for panel, texts in panels.items()]
    objects = "## JSON objects\n\n" + "\n".join(map(_object_section, _json_objects()))
    return _CLI_HEAD + "\n" + "\n".join([*sections, objects])


def _commands(command: Any, context: typer.Context) -> Iterator[tuple[Any, typer.Context]]:
    """Yield every command that is not a group and not hidden."""
    if not isinstance(command, TyperGroup):
        yield command, context
        return
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        if child is not None and not child.hidden:
            yield from _commands(child, typer.Context(child, info_name=name, parent=context))


def _panel(context: typer.Context) -> str:
    """Return the help panel of a command, or of the group that holds it."""
    parent: Any = context.parent
    if parent is not None and parent.parent is not None:
        return _panel(parent)
    return str(getattr(context.command, "rich_help_panel", None) or "Other commands")


def _command_section(command: Any, context: typer.Context) -> str:
    text = "\n".join(line.strip() for line in (command.help or "").split("\f")[0].splitlines())
    lines = [f"### {context.command_path}", "", _plain(text), "", "```console"]
    given = [item for item in command.params if item.name != "help" and not item.hidden]
    arguments = [_argument(item) for item in given if isinstance(item, TyperArgument)]
    lines += [" ".join([context.command_path, *arguments, "[OPTIONS]"]), "```", ""]
    if given:
        lines += ["| option | |", "|---|---|"]
    for parameter in given:
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        if isinstance(parameter, TyperArgument):
            names = f"`{_argument(parameter)}`"
        text = _plain(getattr(parameter, "help", None) or "")
        if isinstance(parameter.default, str | int | float) and parameter.default is not False:
            text += f" Default: `{parameter.default}`."
        lines.append(f"| {names} | {_cell(text)} |")
    return "\n".join([*lines, "", *_json_section(command)])


def _json_section(command: Any) -> Iterator[str]:
    """Yield the fields of a command's JSON object."""
    results = getattr(command.callback, "results", ())
    for result in results:
        yield f"With `--json`: {_json_type(result)}."
        yield ""
        if result.TABLE:
            yield f"With `--csv`, `--parquet` and `--to`: the rows of `{result.TABLE}`."
            yield ""


def _json_objects() -> list[type]:
    """Return every object of the JSON that commands print, by name."""
    program = typer.main.get_command(app)
    commands = _commands(program, typer.Context(program, info_name="nodegraft"))
    found: dict[str, type] = {}
    waiting = [
        result for command, _ in commands for result in getattr(command.callback, "results", ())
    ]
    while waiting:
        result = waiting.pop()
        if result.__name__ not in found:
            found[result.__name__] = result
            waiting += [part for kind in _types(result).values() for part in parts_of(kind)]
    return [found[name] for name in sorted(found)]


def _object_section(result: type) -> str:
    summary = _plain((result.__doc__ or "").split("Args:")[0])
    lines = [f"### {result.__name__}", "", " ".join(summary.split()), ""]
    lines += ["| field | type | |", "|---|---|---|"]
    types = _types(result)
    for name, text in described_fields(result).items():
        kind = types.get(name) or types[f"{name}_"]
        lines.append(f"| `{name}` | {_json_type(kind)} | {_cell(text)} |")
    return "\n".join([*lines, ""])


def _types(result: type) -> dict[str, Any]:
    return {field.name: field.type for field in fields(result)}


def _json_type(kind: Any) -> str:
    """Return the type of a JSON field in words, objects as links to their tables."""
    if isinstance(kind, type) and is_dataclass(kind):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (list, tuple):
        return f"list of {_json_type(inner[0])}"
    if origin is dict:
        return f"object of {_json_type(inner[1])}"
    if inner:
        return " or ".join(map(_json_type, inner))
    return _JSON_TYPES.get(kind, "any")


def _argument(parameter: TyperArgument) -> str:
    return str(parameter.metavar or parameter.name).upper()


def http_page() -> str:
    """Return every route with its fields, from the service's own description."""
    document = application(Settings(Path("store"))).openapi()
    models = document["components"]["schemas"]
    lines = ["# HTTP", "", "A running service describes itself at `/openapi.json`.", ""]
    # Routes of this service first, then those that Label Studio and monitors ask for.
    for path in sorted(document["paths"], key=lambda path: ("/v1/" not in path, path)):
        for method, route in document["paths"][path].items():
            lines += [f"## {method.upper()} {path}", "", _plain(route.get("description", "")), ""]
            for parameter in route.get("parameters", []):
                text = _cell(_plain(parameter.get("description", "")))
                lines.append(f"- `{parameter['name']}` ({parameter['in']}): {text}")
            body = _schema(route.get("requestBody", {}))
            lines += ["", f"Request: {_type(body)}", ""] if body else [""]
            for status, response in sorted(route.get("responses", {}).items()):
                if status.startswith("2") and _schema(response):
                    lines += [f"Response {status}: {_type(_schema(response))}", ""]
            lines.append("")
    lines += ["## Objects", ""]
    for name, model in sorted(models.items()):
        lines += [f"### {_short(name)}", "", _plain(model.get("description", "")), ""]
        lines += [*_table(model), ""] if "properties" in model else [_type(model), ""]
    return "\n".join(lines)


def _schema(body: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a request or response; empty where there is none."""
    content = body.get("content", {})
    schema: dict[str, Any] = content.get("application/json", {}).get("schema", {})
    return schema


def _table(model: dict[str, Any]) -> list[str]:
    rows = ["| field | type | |", "|---|---|---|"]
    needed = set(model.get("required", ()))
    for name, field in model["properties"].items():
        text = _cell(_plain(field.get("description", "")))
        mark = "" if name in needed else " (optional)"
        rows.append(f"| `{name}`{mark} | {_type(field)} | {text} |")
    return rows


def _short(name: str) -> str:
    """Return a model's name without its module, which is there where two have the same name."""
    return name.rsplit("__", 1)[-1]


def _type(field: dict[str, Any]) -> str:
    """Return a JSON schema's type in words, objects as links to their tables."""
    if "$ref" in field:
        name = _short(field["$ref"].rsplit("/", 1)[-1])
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(choice) for choice in field["anyOf"]))
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    if isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    return str(field.get("type", "any"))


def _plain(text: str) -> str:
    """Return a help text without markup of the terminal and of reStructuredText."""
    return text.replace("``", "`").replace("\\[", "[").strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
