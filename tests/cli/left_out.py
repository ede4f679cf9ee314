"""What pages say and nobody runs here, and why."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """Some of the code of a page."""

    page: str
    """The page."""

    beginning: str
    """How a command, or a block of Python, begins."""

    reason: str
    """Why it is not run."""

    def holds(self, page: str, code: str) -> bool:
        """Whether it is about this code."""
        return page == self.page and code.startswith(self.beginning)


INSTALLS = "it installs packages; the gate's first stage and its core-only stage do"
REAL_GRAPH = "it reads the files of a real graph, which are not part of the checkout"
HOURS = "it takes hours, on real graphs; results/ is what came out"
OTHER_HOSTS = "it needs other machines; tests/runners and tests/fault start a cluster on this one"
SERVICES = "tests/service/test_two_hosts.py has the database server and the object store"
WRITES = "it writes pages of the checkout; tests/studies compares them with the records"
SYSTEM = "it starts and stops a service of the system"

LEFT_OUT = (
    LeftOut("README.md", "pip install", INSTALLS),
    LeftOut("README.md", "nodegraft lab info gentoo", REAL_GRAPH),
    LeftOut("README.md", "nodegraft lab bench experiments/ablation.toml", HOURS),
    LeftOut("README.md", "nodegraft lab bench experiments/table2.toml", HOURS),
    LeftOut(
        "README.md",
        "nodegraft lab run --dataset synthetic --method hag-meta",
        "tests/evaluation/test_published.py runs it; tests/cli/test_commands.py types the options",
    ),
    LeftOut("README.md", "nodegraft lab report results", "tests/test_readme.py makes this report"),
    LeftOut(
        "README.md",
        "nodegraft lab check sgc-mean",
        "tests/cli/test_commands.py types it for another method",
    ),
    LeftOut("docs/index.md", "pip install", INSTALLS),
    LeftOut("docs/tutorials/first-class.md", "pip install", INSTALLS),
    LeftOut(
        "docs/tutorials/a-week-with-debian.md",
        "nodegraft ",
        "its graph is not part of the checkout; tests/cli/test_debian_week.py runs all of it there",
    ),
    LeftOut(
        "docs/tutorials/a-week-with-debian.md",
        "sh examples/debian_index.sh",
        "it downloads 16 MB; tests/test_debian_index.py runs it on a tiny archive",
    ),
    LeftOut(
        "docs/tutorials/a-week-with-debian.md", "python examples/a_week_with_debian", REAL_GRAPH
    ),
    LeftOut("docs/explanation/hag-meta.md", "python -m studies", WRITES),
    LeftOut(
        "docs/explanation/hag-meta.md",
        "nodegraft lab report results --suites experiments/ways-shots.toml",
        "the command above it, with another suite; tests/test_readme.py makes the whole report",
    ),
    LeftOut("docs/how-to/benchmark.md", "pip install", INSTALLS),
    LeftOut("docs/how-to/benchmark.md", "export RAY_AUTH_MODE", OTHER_HOSTS),
    LeftOut("docs/how-to/benchmark.md", "ray ", OTHER_HOSTS),
    LeftOut(
        "docs/how-to/benchmark.md",
        "nodegraft lab bench suite.toml --out s3:",
        OTHER_HOSTS,
    ),
    LeftOut("docs/how-to/maintenance.md", "pg_dump", SERVICES),
    LeftOut("docs/how-to/maintenance.md", "aws", SERVICES),
    LeftOut("docs/how-to/report.md", "pip install", INSTALLS),
    LeftOut("docs/how-to/report.md", "nodegraft lab bench experiments/benchmark.toml", HOURS),
    LeftOut("docs/how-to/serve.md", "pip install", INSTALLS),
    LeftOut("docs/how-to/serve.md", "nodegraft init shop --nodes nodes.parquet", SERVICES),
    LeftOut("docs/how-to/serve.md", "nodegraft serve /srv/shop --ray", OTHER_HOSTS),
    LeftOut(
        "docs/how-to/serve.md",
        "nodegraft serve shop --ray local",
        "it takes a minute, and packages that only .ci/slow installs; tests/service/test_on_ray.py "
        "types it there",
    ),
    LeftOut("docs/how-to/serve.md", "systemctl", SYSTEM),
)
