"""The command that runs a suite, in processes here or on a Ray cluster."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from nodegraft.base.errors import NodegraftError
from nodegraft.benchmark.estimate import Estimates
from nodegraft.benchmark.failures import failed_keys
from nodegraft.benchmark.job import Job
from nodegraft.benchmark.results import read_records
from nodegraft.benchmark.suite import Suite
from nodegraft.cli.bench_display import BenchDisplay, duration
from nodegraft.cli.guard import says_what_is_wrong
from nodegraft.cli.options import DataRoot
from nodegraft.runners.local import LocalRunner
from nodegraft.runners.work import Event, Runner


@says_what_is_wrong
def bench(
    suite: Annotated[Path, typer.Argument(help="A TOML file; see experiments/.")],
    data: DataRoot = None,
    out: Annotated[
        str, typer.Option(help="Folder for the run records, or a URL that fsspec knows.")
    ] = "runs",
    workers: Annotated[int, typer.Option(min=1, help="How many processes run jobs here.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run on this Ray cluster instead; 'local' starts one of --workers CPUs here.",
        ),
    ] = None,
    job_cpus: Annotated[float, typer.Option(help="CPUs a job asks of Ray.")] = 1.0,
    job_memory: Annotated[float, typer.Option(help="GB of memory a job asks of Ray.")] = 0.0,
    job_gpus: Annotated[float, typer.Option(help="GPUs, or a part of one, asked of Ray.")] = 0.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is left.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try jobs again that failed before.")
    ] = False,
    mlflow: Annotated[
        str | None, typer.Option(metavar="URI", help="Show the suite's records in MLflow.")
    ] = None,
) -> None:
    """Run every job of a suite that has no record yet; stop and start it at will."""
    wanted, records, console = Suite.read(suite), read_records(out), Console()
    estimates, failed = Estimates(records), failed_keys(out)
    missing = list({entry.job.key: entry.job for entry in wanted.missing(records)}.values())
    left = [job for job in missing if retry_failed or job.key not in failed]
    console.print(_what_is_left(wanted, missing, left, estimates), highlight=False)
    if dry_run:
        return
    tracker = _tracker(mlflow, wanted, records)
    if not left:
        return
    _check(left, data)
    with (
        _runner(ray, workers, (job_cpus, job_memory, job_gpus)) as runner,
        BenchDisplay(console, left, estimates, runner.at_once) as display,
    ):
        try:
            for event in runner.run(left, data, out):
                display.tell(event)
                tracker(event)
        except KeyboardInterrupt:
            raise NodegraftError("Stopped. The same command goes on from here.") from None
    console.print(f"records: {out}", highlight=False, soft_wrap=True)
    if display.failed:
        raise NodegraftError(
            f"{display.failed} of {len(left)} jobs failed, and {display.done} did not; "
            "--retry-failed tries those again."
        )


def _what_is_left(
    wanted: Suite, missing: Sequence[Job], left: Sequence[Job], estimates: Estimates
) -> str:
    done = len(wanted.entries) - len(missing)
    said = f"{wanted.title}: {len(left)} jobs to do, {done} of {len(wanted.entries)} done"
    if len(missing) > len(left):
        said += f", {len(missing) - len(left)} failed before (--retry-failed tries them again)"
    seconds, unknown = estimates.together(left)
    if len(left) == unknown:
        return said
    said += f"\nabout {duration(seconds)} of one process, by the records there are"
    return said + (f"; nothing like {unknown} of the jobs is recorded" if unknown else "")


def _check(jobs: Sequence[Job], data: Path | None) -> None:
    # A missing file or a misspelt field should not wait for its turn.
    for job in jobs:
        job.model()
    sources = {repr(source): source for source in (job.source() for job in jobs)}
    for source in sources.values():
        source.locate(data)


def _runner(ray: str | None, workers: int, share: tuple[float, float, float]) -> Runner:
    if ray is None:
        return LocalRunner(workers)
    from nodegraft.runners.ray_cluster import RayRunner, Share  # Ray is an extra

    cpus, gigabytes, gpus = share
    return RayRunner(ray, Share(cpus, int(gigabytes * 1e9), gpus), cpus=workers)


def _tracker(
    address: str | None, wanted: Suite, records: Sequence[Mapping[str, Any]]
) -> Callable[[Event], None]:
    if address is None:
        return lambda event: None
    from nodegraft.runners.mlflow_tracking import MlflowTracker  # MLflow is an extra

    tracker = MlflowTracker(address)
    for _, record in wanted.recorded(records):
        if record is not None:
            tracker.show(record)
    return tracker.tell
