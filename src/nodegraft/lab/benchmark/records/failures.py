"""Jobs that ended with an error: kept beside the records, one file an attempt."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from nodegraft.base.errors import DataError
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.lab.benchmark.job import Job


def write_failure(out: str | Path, job: Job, error: str) -> str:
    """Put it on record; returns where."""
    folder, name = _folder(out), f"{job.key}-{uuid4().hex}.json"
    document = {
        "job": job.key,
        "title": job.title,
        "protocol": job.protocol,
        "parameters": dict(job.parameters),
        "error": error,
    }
    folder.write(name, (json.dumps(document, indent=2) + "\n").encode())
    return f"{folder.place}/{name}"


def failed_keys(out: str | Path) -> set[str]:
    """The keys of jobs with at least one failed attempt."""
    return {name.partition("-")[0] for name in _folder(out).names(".json")}


def read_failures(out: str | Path) -> list[dict[str, Any]]:
    """All of them."""
    folder = _folder(out)
    return [_read(folder, name) for name in folder.names(".json")]


def _read(folder: WriteOnceFolder, name: str) -> dict[str, Any]:
    try:
        return dict(json.loads(folder.read(name)))
    except (ValueError, TypeError) as error:
        raise DataError(f"{folder.place}/{name} is no whole record of a failure.") from error


def _folder(out: str | Path) -> WriteOnceFolder:
    return WriteOnceFolder(f"{out}/failed")
