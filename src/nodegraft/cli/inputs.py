"""Parsers for command-line values: node keys, labels, tables, name=value pairs and dates."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, cast

from nodegraft.base.counting import listed
from nodegraft.base.errors import DataError, NodegraftError, ParameterError, UnknownNodeError
from nodegraft.base.problems import Problems

if TYPE_CHECKING:
    from nodegraft.analysis.version import Version
    from nodegraft.cli.options import LabelOptions
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.keyed_labels import KeyedLabels
    from nodegraft.graph.keys import Key
    from nodegraft.store.store import Store

MAX_SEARCHED_KEYS = 100_000
"""Maximum number of nodes of graphs in which keys similar to a misspelt key are searched."""

_DURATION = re.compile(r"(\d{1,5})([dh])")
_UNITS = {"d": "days", "h": "hours"}


def name_value_pairs(settings: list[str] | None) -> dict[str, str]:
    """Parse the values of ``--set name=value``.

    >>> name_value_pairs(["base-shots=5"])
    {'base_shots': '5'}
    """
    pairs = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"{setting!r} must have the form NAME=VALUE.")
        pairs[name.strip().replace("-", "_")] = value.strip()
    return pairs


def parse_expiry(text: str, at: datetime) -> datetime:
    """Parse a duration or a date as a time in UTC.

    >>> at = datetime(2030, 1, 1, tzinfo=UTC)
    >>> parse_expiry("30d", at).isoformat(), parse_expiry("2030-06-01", at).isoformat()
    ('2030-01-31T00:00:00+00:00', '2030-06-01T00:00:00+00:00')

    Args:
        text: Days (``30d``), hours (``12h``), or a date or time in ISO 8601, in UTC unless it
            contains another time zone.
        at: Current time, to which a duration is added.
    """
    duration = _DURATION.fullmatch(text)
    try:
        if duration:
            expires_at = at + timedelta(**{_UNITS[duration[2]]: int(duration[1])})
        else:
            expires_at = datetime.fromisoformat(text)
            zone = expires_at.tzinfo or UTC
            expires_at = expires_at.replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ParameterError(
            f"--expires {text!r} is not understood: write days (30d), hours (12h), or a date "
            "(2030-06-01)."
        ) from error
    if expires_at <= at:
        raise ParameterError(f"--expires {text!r} is in the past: it is {at:%Y-%m-%d %H:%M} UTC.")
    return expires_at


def keys_from(text: str, graph: "Graph", must_exist: bool = True) -> "list[Key]":
    """Parse node keys that are separated by commas, and convert them to the graph's key type.

    Args:
        text: Keys; a key that contains a comma is quoted, as in a CSV file.
        must_exist: Whether to raise an error that lists all keys that are not in the graph.
    """
    from nodegraft.graph.keys import integer_key, integer_key_or_text

    _refuse_other_encodings(text)
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    parts = [part.strip() for row in rows for part in row if part.strip()]
    if not parts:
        raise ParameterError("No node key was given: separate keys by commas, as in p17,p20.")
    parse = integer_key if must_exist else integer_key_or_text
    keys: list[Key] = list(parts) if graph.has_text_keys else [parse(part) for part in parts]
    if must_exist:
        with similar_keys(graph):
            graph.rows_of(keys)
    return keys


def key_from(text: str, graph: "Graph") -> "Key":
    """Parse a node key, and convert it to the graph's key type; refuse an unknown key."""
    from nodegraft.graph.keys import integer_key

    _refuse_other_encodings(text)
    if not graph.has_text_keys:
        return integer_key(text)
    with similar_keys(graph):
        graph.rows_of([text])
    return text


@contextmanager
def similar_keys(graph: "Graph") -> Iterator[None]:
    """Add similar keys to errors about a single unknown text key that the context raises."""
    try:
        yield
    except UnknownNodeError as error:
        if len(error.missing) > 1 or error.problems or not graph.has_text_keys:
            raise
        close, (text,) = [], error.missing
        if graph.num_nodes <= MAX_SEARCHED_KEYS:
            close = get_close_matches(str(text), map(str, graph.keys_of(graph.rows)), n=3)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise DataError(f"There is no node {text!r} in this graph.{hint}") from error


@contextmanager
def keys_of_candidate(store: "Store", waiting: "Version | None") -> Iterator[None]:
    """Say in errors about unknown keys that the candidate version has all of them.

    Args:
        store: The store.
        waiting: Candidate version; None to leave errors as they are.
    """
    try:
        yield
    except NodegraftError as error:
        unknown = error if isinstance(error, UnknownNodeError) else error.__cause__
        if waiting is None or not isinstance(unknown, UnknownNodeError) or error.problems:
            raise
        try:
            store.state(waiting.number).graph.rows_of(cast("tuple[Key, ...]", unknown.missing))
        except UnknownNodeError:
            raise error from None
        verb = "is" if len(unknown.missing) == 1 else "are"
        raise DataError(
            f"{listed(map(repr, unknown.missing))} {verb} only in version {waiting.number}, which "
            f"waits for review: add --version {waiting.number}, or promote it."
        ) from error


def _refuse_other_encodings(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"The node key {text!r} is not UTF-8.") from None


def joined_keys(keys: "Iterable[Key]") -> str:
    """Join keys with commas, in the format that :func:`keys_from` parses.

    >>> joined_keys(["p17", "odd, one"])
    'p17,"odd, one"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(keys)
    return line.getvalue()


def keys_in_table(
    table: str, key: str, graph: "Graph", delimiter: str | None = None
) -> "list[Key]":
    """Read node keys from a table, and convert them to the graph's key type.

    Args:
        delimiter: Column separator of a CSV file; None to detect it.
    """
    from nodegraft.graph.keys import integer_key_or_text
    from nodegraft.tables.columns import is_text, read_source, require_columns
    from nodegraft.tables.keys import keys_like

    read = read_source(table, "nodes", (key,), delimiter)
    require_columns({"nodes": (read, (key,))}, "Name the column with the node key with --key.")
    if not graph.has_text_keys and is_text(read.column(key)):
        # Text that is not an integer is not an error here, but a key that is not in this graph.
        texts = read.texts(key)
        return cast("list[Key]", [text and integer_key_or_text(text) for text in texts])
    read = read.with_keys([key], graph.node_keys.key_type)
    keys: list[Key] = keys_like(graph.node_keys, read, key).tolist()
    return keys


def labels_from(
    store: "Store", options: "LabelOptions", problems: Problems
) -> "dict[str, list[Key]]":
    """Return class name -> keys, from ``--class`` and ``--nodes`` or from ``--labels``.

    This function accepts unknown keys: the change reports them together with other problems. Of a
    table with bad rows, it collects their problem and returns the labels of the other rows.
    """
    graph = store.graph()
    if options.labels is not None:
        if options.name or options.nodes:
            raise ParameterError("Give --class and --nodes, or --labels, not both.")
        delimiter = store.table_options.get("delimiter")
        read = partial(
            labels_in_table,
            options.labels,
            graph,
            options.key,
            options.label,
            delimiter=delimiter,
            several_labels=store.has_several_labels,
        )
        labels: dict[str, list[Key]] = {}
        with problems.collect():
            labels = read(repair=options.repair)
        if problems:
            try:
                labels = read(repair=True)
            except NodegraftError:
                problems.raise_all()
                raise
        return labels
    if not (options.name and options.nodes):
        raise ParameterError(
            "Give a class and its nodes (--class e-bikes --nodes p17,p20), or a table of node "
            "keys and class names (--labels new.parquet)."
        )
    return {options.name: keys_from(options.nodes, graph, must_exist=False)}


def labels_in_table(
    table: str,
    graph: "Graph",
    key: str,
    label: str,
    repair: bool,
    delimiter: str | None,
    several_labels: bool = False,
) -> "dict[str, list[Key]]":
    """Read class name -> keys from a table; refuse a table without labels.

    Args:
        repair: Whether to correct or drop invalid rows.
        delimiter: Column separator of a CSV file; None to detect it.
        several_labels: Whether a node may have several classes.
    """
    from nodegraft.tables.labels import read_labels

    labels = read_labels(
        table,
        graph,
        key=key,
        label=label,
        convert_keys=True,
        repair=repair,
        delimiter=delimiter,
        several_labels=several_labels,
    )
    return listed_labels(labels, table, label)


def listed_labels(labels: "KeyedLabels", table: str, column: str) -> "dict[str, list[Key]]":
    """Return class name -> keys for the labels of a table; refuse a table without labels."""
    from nodegraft.tables.sql.place import is_database

    if not labels:
        place = "The query of labels" if is_database(table) else table
        raise DataError(f"{place} has no label: its column {column!r} is empty.")
    return {name: keys.tolist() for name, keys in labels.items()}
