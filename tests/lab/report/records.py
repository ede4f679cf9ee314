"""Records made by hand, as far as a report looks at them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.suite import Suite, SuiteEntry
from nodegraft.lab.report.groups import Groups, Record
from nodegraft.lab.report.section import Section, with_styles
from nodegraft.model.registry import REGISTRY as METHODS

STRICT, LEAKY, UPPER_REFERENCE = (
    "strict",
    "published (leaky)",
    "strict, many-shot (upper reference)",
)
ALWAYS_SURE = {"0.50": 0.9, "0.80": 0.8, "0.90": 0.7, "1.00": 0.6}


def run(
    *accuracies: float,
    seed: int = 0,
    seconds: float = 0.25,
    training: float = 2.0,
    kept: int = 2_500_000,
    setting: Mapping[str, int] | None = None,
    coverage: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """A record with these macro accuracies, session by session."""
    first, last = accuracies[0], accuracies[-1]
    return {
        "seed": seed,
        "setting": {"novel": 6, **(setting or {"ways": 3, "shots": 5})},
        "sessions": [
            {
                "macro_accuracy": accuracy,
                "seconds": seconds if index else training,
                "query_seconds": 0.0,
                "accuracy_at_coverage": coverage or ALWAYS_SURE,
            }
            for index, accuracy in enumerate(accuracies)
        ],
        "summary": {
            "first_accuracy": first,
            "last_accuracy": last,
            "last_known_accuracy": last,
            "last_novel_accuracy": last,
            "average_accuracy": sum(accuracies) / len(accuracies),
            "performance_drop": first - last,
            "relative_performance_drop": (first - last) / first,
            "unknown_auroc": 0.8,
            "harmonic_mean": last,
            "kept_bytes": kept,
        },
    }


def lasts(*accuracies: float, **options: Any) -> list[Record]:
    """Runs of seeds 0, 1, …, each ending at one of these."""
    return [run(0.9, last, seed=seed, **options) for seed, last in enumerate(accuracies)]


def two_graphs(**methods: Sequence[float]) -> Groups:
    """Method -> its last accuracies on gentoo, and 0.1 less each on debian."""
    groups: Groups = {}
    for graph, less in (("gentoo", 0.0), ("debian", 0.1)):
        for name, accuracies in methods.items():
            shown = name.replace("_", "-")
            groups[graph, shown, STRICT] = [*lasts(*(one - less for one in accuracies))]
    return groups


def section(
    groups: Groups, tables: Sequence[str] = (), figures: Sequence[str] = (), missing: int = 0
) -> Section:
    """A suite whose jobs recorded this; some more are not on record."""
    pairs: list[tuple[SuiteEntry, Any]] = [
        (SuiteEntry(name, _job(dataset, name, protocol, record["seed"])), record)
        for (dataset, name, protocol), runs in groups.items()
        for record in runs
    ]
    pairs += [
        (SuiteEntry("late", _job("gentoo", "late", STRICT, seed)), None) for seed in range(missing)
    ]
    suite = Suite("By hand", tuple(tables), tuple(figures), tuple(entry for entry, _ in pairs))
    return with_styles([Section("experiments/by-hand.toml", suite, pairs)])[0]


def _job(dataset: str, name: str, protocol: str, seed: int) -> Job:
    method = "joint" if protocol == UPPER_REFERENCE else "sgc-mean"
    method = name if name in METHODS.names() else method
    kind: Literal["strict", "published"] = "published" if protocol == LEAKY else "strict"
    return Job(dataset=dataset, method=method, seed=seed, protocol=kind)
