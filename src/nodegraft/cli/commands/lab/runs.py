"""Commands of the benchmark that run methods: one run, or all jobs of a suite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import RenderableType
from rich.text import Text

from nodegraft.base.errors import NodegraftError
from nodegraft.base.problems import Problems
from nodegraft.cli.inputs import name_value_pairs
from nodegraft.cli.options import (
    DataRoot,
    DatasetName,
    DatasetSettings,
    MethodName,
    MethodSettings,
    RayAddress,
    Seed,
    SuiteFile,
    Workers,
)
from nodegraft.cli.output import Output, command
from nodegraft.cli.progress import RunDisplay, SuiteDisplay
from nodegraft.cli.render.lab import suite_status, summary_table
from nodegraft.cli.results.lab import Run, SuiteRun
from nodegraft.cli.terminal import Terminal, line

if TYPE_CHECKING:
    from nodegraft.lab.benchmark.job import Job
    from nodegraft.lab.benchmark.suite import Suite
    from nodegraft.lab.datasets.templates.dataset import Dataset
    from nodegraft.lab.runners.local import JobEvent, Runner


@command
def run(
    dataset: DatasetName,
    terminal: Terminal,
    method: MethodName = "graft",
    seed: Seed = 0,
    node_seed: Annotated[
        int | None, typer.Option(help="Random seed of the labelled nodes; by default --seed.")
    ] = None,
    data: DataRoot = None,
    out: Annotated[str, typer.Option(help="Folder or URL for the run record.")] = "runs",
    settings: MethodSettings = None,
    dataset_settings: DatasetSettings = None,
    ways: Annotated[int | None, typer.Option(help="New classes per session.")] = None,
    shots: Annotated[int | None, typer.Option(help="Labels of each new class.")] = None,
    least_shots: Annotated[
        int | None,
        typer.Option(help="Draw the number of labels of each new class from this to --shots."),
    ] = None,
    arrival: Annotated[
        str,
        typer.Option(
            help="When nodes arrive: growing, mixed, blurred, present, with-class or isolated."
        ),
    ] = "growing",
    protocol: Annotated[
        str, typer.Option(help="'strict', or 'published' (leaky, for comparison with old papers).")
    ] = "strict",
    without: Annotated[
        list[str] | None,
        typer.Option(help="Switch off an ingredient of the published protocol."),
    ] = None,
    rehearse: Annotated[
        bool,
        typer.Option("--rehearse", help="Use the validation classes, to choose parameters."),
    ] = False,
    sealed: Annotated[
        bool,
        typer.Option(
            "--sealed", help="Run the method in its own process, without labels, files and network."
        ),
    ] = False,
    threads: Annotated[
        int, typer.Option(min=1, help="Threads of torch; one is usually fastest.")
    ] = 1,
) -> Output[Run]:
    """Run one method on one dataset, session by session, under the strict protocol."""
    import torch

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.base.parameters.build import read
    from nodegraft.evaluation.sealed.isolation import Isolation
    from nodegraft.lab.benchmark.archive import Archive
    from nodegraft.lab.benchmark.job import PUBLIC_SEEDS, Job
    from nodegraft.lab.datasets.templates.dataset import REGISTRY as DATASETS
    from nodegraft.model.registry import REGISTRY as METHODS

    torch.set_num_threads(threads)
    values: Mapping[str, Any] = name_value_pairs(settings)
    if not sealed:  # The code of a sealed method is imported only in its own process.
        values = read(METHODS.get(method), values)
    job = Job(
        dataset=dataset,
        method=method,
        seed=seed,
        node_seed=node_seed,
        parameters=values,
        dataset_options=read(DATASETS.get(dataset), name_value_pairs(dataset_settings)),
        ways=ways,
        shots=shots,
        least_shots=least_shots,
        arrival=cast(Any, arrival),
        protocol=cast(Any, protocol),
        without=tuple(without or ()),
        rehearse=rehearse,
        sealed=sealed,
    )
    # Report wrong parameters and an unwritable folder before reading the data.
    _ = job.description
    WriteOnceFolder(out).check_writable()
    terminal.stage(f"reading {dataset}")
    loaded = job.load(data)
    stream = job.stream(loaded)
    for note in loaded.notes:
        terminal.note(Text.assemble(("note:", "yellow"), f" {note}"))
    title = f"{job.title}\n{stream.split.setting}\n{arrival}, {job.protocol_name} protocol"
    terminal.pause()
    with RunDisplay(terminal.console, title, len(stream)) as display:
        record = job.run(loaded, stream, display, data)
    place = str(Archive(out).write(record))
    document = record.document
    text: list[RenderableType] = [display.table, summary_table(document["summary"])]
    if sealed:
        isolation = Isolation(**document["isolation"])
        style = "" if isolation.complete else "yellow"
        text.append(Text(f"sealed: own process, {isolation}", style))
        if seed < PUBLIC_SEEDS:
            text.append(
                f"A method can try all split seeds below {PUBLIC_SEEDS:,}: take a large secret "
                "--seed to judge one that you do not trust."
            )
    text.append(line(f"record: {place}"))
    return Output(Run(place, document, document["sessions"]), tuple(text))


@command
def bench(
    suite: SuiteFile,
    terminal: Terminal,
    data: DataRoot = None,
    out: Annotated[
        str, typer.Option(help="Folder for the run records, or a URL that fsspec supports.")
    ] = "runs",
    workers: Workers = 1,
    ray: RayAddress = None,
    job_cpus: Annotated[float, typer.Option(help="CPUs per job on Ray.")] = 1.0,
    job_memory: Annotated[float, typer.Option(help="GB of memory per job on Ray.")] = 0.0,
    job_gpus: Annotated[float, typer.Option(help="GPUs per job on Ray; may be a part.")] = 0.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show how many jobs are to run, and stop.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run jobs again that failed before.")
    ] = False,
    mlflow: Annotated[
        str | None, typer.Option(metavar="URI", help="Log the suite's records to MLflow.")
    ] = None,
) -> Output[SuiteRun]:
    """Run all jobs of a suite that have no record yet; run it again to resume."""
    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.lab.benchmark.archive import failed_keys, read_documents
    from nodegraft.lab.benchmark.job import Estimates
    from nodegraft.lab.benchmark.suite import Suite

    terminal.stage("reading records")
    plan, records = Suite.read(suite), read_documents(out)
    estimates, failed = Estimates(records), failed_keys(out)
    missing = list({entry.job.key: entry.job for entry in plan.missing(records)}.values())
    to_run = [job for job in missing if retry_failed or job.key not in failed]
    _check(plan, to_run, data)
    total = len(plan.entries)
    title, (seconds, unknown) = plan.title or suite.stem, estimates.total(to_run)
    status = suite_status(title, (len(to_run), total - len(missing), total), seconds, unknown)
    value = SuiteRun(
        title=title,
        jobs=total,
        done=total - len(missing),
        to_run=len(to_run),
        failed=len(missing) - len(to_run),
        seconds=seconds,
        without_estimate=unknown,
    )
    if dry_run:
        return Output(value, (status,))
    handle = _tracker(mlflow, plan, records)
    if not to_run:
        return Output(value, (status,))
    terminal.pause()
    terminal.note(Text(status))
    WriteOnceFolder(out).check_writable()
    with (
        _runner(ray, workers, (job_cpus, job_memory, job_gpus)) as runner,
        SuiteDisplay(terminal.console, to_run, estimates, runner.capacity) as display,
    ):
        try:
            for event in runner.run(to_run, data, out):
                display.handle(event)
                handle(event)
        except KeyboardInterrupt:
            raise NodegraftError("Stopped. Run the same command again to resume.") from None
    if display.failed:
        raise NodegraftError(
            f"{display.failed} of {len(to_run)} jobs failed, {display.done} succeeded; run the "
            "failed ones again with --retry-failed."
        )
    ended = replace(value, done=value.done + display.done, to_run=0)
    return Output(ended, (line(f"records: {out}"),))


def _check(suite: "Suite", jobs: Sequence["Job"], data: Path | None) -> None:
    # Report missing files and misspelt names before the first job.
    from nodegraft.lab.report.tables import check_names

    problems = Problems()
    datasets: dict[str, Dataset] = {}
    with problems.collect():
        check_names(suite.tables)
    for job in jobs:
        with problems.collect():
            _ = job.description
        with problems.collect():
            dataset = job.make_dataset()
            datasets[repr(dataset)] = dataset
    for dataset in datasets.values():
        with problems.collect():
            dataset.locate(data)
    problems.raise_all()


def _runner(ray: str | None, workers: int, share: tuple[float, float, float]) -> "Runner":
    if ray is None:
        from nodegraft.lab.runners.local import LocalRunner

        return LocalRunner(workers)
    from nodegraft.lab.runners.ray_cluster import RayRunner  # Ray is an optional extra.
    from nodegraft.runners.ray_connection import JobResources

    cpus, gigabytes, gpus = share
    resources = JobResources(cpus, int(gigabytes * 1e9), gpus)
    return RayRunner(ray, resources, cpus=workers)


def _tracker(
    address: str | None, plan: "Suite", records: Sequence[Mapping[str, Any]]
) -> Callable[["JobEvent"], None]:
    if address is None:
        return lambda event: None
    from nodegraft.lab.runners.mlflow_tracking import MlflowTracker  # MLflow is an optional extra.

    tracker = MlflowTracker(address)
    for _, record in plan.with_records(records):
        if record is not None:
            tracker.log(record)
    return tracker.handle


COMMANDS = {"run": run, "bench": bench}
