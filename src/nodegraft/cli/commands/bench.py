"""The command that runs a suite, in processes here or on a Ray cluster."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodegraft.base.counting import counted
from nodegraft.base.errors import NodegraftError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import DataRoot

if TYPE_CHECKING:
    from nodegraft.benchmark.estimate import Estimates
    from nodegraft.benchmark.job import Job
    from nodegraft.benchmark.suite import Suite
    from nodegraft.runners.work import JobEvent, Runner


@user_errors
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
    from rich.console import Console

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.benchmark.estimate import Estimates
    from nodegraft.benchmark.records.archive import read_documents
    from nodegraft.benchmark.records.failures import failed_keys
    from nodegraft.benchmark.suite import Suite
    from nodegraft.cli.display.bench import BenchDisplay

    wanted, records, console = Suite.read(suite), read_documents(out), Console()
    estimates, failed = Estimates(records), failed_keys(out)
    missing = list({entry.job.key: entry.job for entry in wanted.missing(records)}.values())
    left = [job for job in missing if retry_failed or job.key not in failed]
    _check(wanted, left, data)
    title = wanted.title or suite.stem
    said = _what_is_left(title, wanted, missing, left, estimates)
    console.print(said, highlight=False, markup=False)
    if dry_run:
        return
    handle = _tracker(mlflow, wanted, records)
    if not left:
        return
    WriteOnceFolder(out).check_writable()
    with (
        _runner(ray, workers, (job_cpus, job_memory, job_gpus)) as runner,
        BenchDisplay(console, left, estimates, runner.capacity) as display,
    ):
        try:
            for event in runner.run(left, data, out):
                display.handle(event)
                handle(event)
        except KeyboardInterrupt:
            raise NodegraftError("Stopped. The same command goes on from here.") from None
    console.print(f"records: {out}", highlight=False, soft_wrap=True, markup=False)
    if display.failed:
        raise NodegraftError(
            f"{display.failed} of {len(left)} jobs failed, and {display.done} did not; "
            "--retry-failed tries those again."
        )


def _what_is_left(
    title: str,
    wanted: "Suite",
    missing: Sequence["Job"],
    left: Sequence["Job"],
    estimates: "Estimates",
) -> str:
    from nodegraft.cli.display.bench import duration

    done = len(wanted.entries) - len(missing)
    jobs = counted(len(left), "job")
    said = f"{title}: {jobs} to do, {done} of {len(wanted.entries)} done"
    if len(missing) > len(left):
        said += f", {len(missing) - len(left)} failed before (--retry-failed tries them again)"
    seconds, unknown = estimates.total(left)
    if len(left) == unknown:
        return said
    said += f"\nabout {duration(seconds)} of one process, by the records there are"
    return said + (f"; nothing like {unknown} of the jobs is recorded" if unknown else "")


def _check(suite: "Suite", jobs: Sequence["Job"], data: Path | None) -> None:
    # A missing file or a misspelt name should not wait for its turn.
    from nodegraft.report.tables.catalogue import check_names

    check_names(suite.tables)
    for job in jobs:
        job.make_model()
    datasets = {repr(one): one for one in (job.make_dataset() for job in jobs)}
    for dataset in datasets.values():
        dataset.locate(data)


def _runner(ray: str | None, workers: int, share: tuple[float, float, float]) -> "Runner":
    if ray is None:
        from nodegraft.runners.local import LocalRunner

        return LocalRunner(workers)
    from nodegraft.runners.ray_cluster import JobResources, RayRunner  # Ray is an extra

    cpus, gigabytes, gpus = share
    resources = JobResources(cpus, int(gigabytes * 1e9), gpus)
    return RayRunner(ray, resources, cpus=workers)


def _tracker(
    address: str | None, wanted: "Suite", records: Sequence[Mapping[str, Any]]
) -> Callable[["JobEvent"], None]:
    if address is None:
        return lambda event: None
    from nodegraft.runners.mlflow_tracking import MlflowTracker  # MLflow is an extra

    tracker = MlflowTracker(address)
    for _, record in wanted.with_records(records):
        if record is not None:
            tracker.log(record)
    return tracker.handle
