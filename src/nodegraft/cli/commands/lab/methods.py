"""Commands of the benchmark about methods: tune parameters, check the contract, draw a map."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from nodegraft.cli.options import DataRoot, DatasetName, Seed
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.lab import suite_status
from nodegraft.cli.render.values import percent
from nodegraft.cli.results.lab import Checked, MapFile, Trial, Tuning
from nodegraft.cli.terminal import Terminal, line

if TYPE_CHECKING:
    from nodegraft.lab.benchmark.job import Job
    from nodegraft.lab.runners.search import Search


@command
def tune(
    plan: Annotated[Path, typer.Argument(help="TOML file of a search; see experiments/search/.")],
    terminal: Terminal,
    data: DataRoot = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show how many rehearsals are to run, and stop.")
    ] = False,
    runs: Annotated[
        str, typer.Option(help="Run records to estimate the time of a dry run from.")
    ] = "runs",
) -> Output[Tuning]:
    """Choose a method's parameters on validation classes, for each dataset.

    Trials are stored beside PLAN. Run it again to resume. The command lists best values that are
    the smallest or largest value tried, because better values may lie outside the tried range.
    """
    import torch

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.lab.datasets.templates.dataset import load_dataset
    from nodegraft.lab.runners.search import Search, best, search, trials_so_far

    torch.set_num_threads(1)
    search_plan, file = Search.read(plan), plan.with_suffix(".json")
    if dry_run:
        return Output(Tuning(str(file), [], []), (_rehearsals_to_run(search_plan, file, runs),))
    WriteOnceFolder(plan.parent).check_writable()

    load = cache(lambda name: load_dataset(name, data))  # Read each dataset only once.

    def score(job: "Job") -> float:
        terminal.stage(f"running {job.title}")
        loaded = load(job.dataset)
        summary = job.run(loaded, job.stream(loaded)).document["summary"]
        return float(summary["harmonic_mean"])

    trials = [
        Trial(dataset, trial.score, trial.parameters)
        for dataset, trial in search(search_plan, file, score)
    ]
    edges = [
        f"{dataset}: the best {name}, {value}, is at the edge of its list: extend the list and "
        "the number of trials, and run this again."
        for dataset, trials in trials_so_far(search_plan, file).items()
        for name, value in search_plan.at_edge(best(trials).parameters).items()
    ]
    text = [
        f"{trial.dataset}  {percent(trial.score)}  "
        + ", ".join(f"{name}={value}" for name, value in trial.parameters.items())
        for trial in trials
    ]
    return Output(Tuning(str(file), trials, edges), (*text, *edges, line(f"trials: {file}")))


def _rehearsals_to_run(plan: "Search", place: Path, runs: str) -> str:
    from nodegraft.lab.benchmark.archive import read_documents
    from nodegraft.lab.benchmark.job import Estimates
    from nodegraft.lab.runners.search import trials_so_far

    trials = trials_so_far(plan, place)
    jobs = [
        job
        for dataset, trials in trials.items()
        for values in plan.untried(trials)
        for job in plan.jobs(dataset, values)
    ]
    finished = len(plan.seeds) * sum(len(trials) for trials in trials.values())
    counts = len(jobs), finished, len(jobs) + finished
    return suite_status(place.stem, counts, *Estimates(read_documents(runs)).total(jobs))


@command
def check(
    method: Annotated[str, typer.Argument(help="Method; list them with: nodegraft lab methods.")],
    terminal: Terminal,
    nodes: Annotated[
        int, typer.Option(min=200, help="Nodes of the graph that is checked for leaks.")
    ] = 400,
) -> Output[Checked]:
    """Check that a method fulfils the contract of all methods, and that it leaks no data."""
    from nodegraft.evaluation.checks import check_no_leaks
    from nodegraft.model.checks import CONTRACT
    from nodegraft.model.contract.case import Case
    from nodegraft.model.registry import REGISTRY

    case, names = Case(REGISTRY.get(method)), list[str]()
    for contract_check in CONTRACT:
        name = contract_check.__name__.removeprefix("check_").replace("_", " ")
        terminal.stage(f"checking: {name}")
        contract_check(case)
        names.append(name)
    terminal.stage("checking for leaks")
    names += check_no_leaks(method, nodes)
    text = tuple(Text.assemble(("ok", "green"), f"  {name}") for name in names)
    return Output(Checked(method, names), text)


@command
def draw_map(
    dataset: DatasetName,
    method: Annotated[list[str], typer.Option(help="Method to draw; repeat for more.")],
    terminal: Terminal,
    seed: Seed = 0,
    after: Annotated[int, typer.Option(help="Number of the session after which to draw.")] = 2,
    data: DataRoot = None,
    out: Annotated[Path, typer.Option(help="Folder for the map.")] = Path("runs/maps"),
) -> Output[MapFile]:
    """Compute a 2-D map of node embeddings; `nodegraft lab report` draws those in RUNS/maps."""
    import torch

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.lab.benchmark.job import Job
    from nodegraft.lab.benchmark.map_points import map_points, write_map

    torch.set_num_threads(1)
    jobs = [Job(dataset=dataset, method=name, seed=seed) for name in method]
    for job in jobs:
        job.make_model()  # Report a wrong name before reading the data.
    WriteOnceFolder(out).check_writable()
    terminal.stage(f"reading {dataset}")
    loaded = jobs[0].load(data)
    rows = []
    for job in jobs:
        terminal.stage(f"running {job.title}")
        rows += map_points(job, loaded, after)
    place = write_map(rows, jobs[0], after, out)
    return Output(MapFile(str(place)), (line(f"map: {place}"),))


COMMANDS = {"tune": tune, "check": check, "map": draw_map}
