"""The files in deploy/: their command lines are run, their metrics exist, their YAML is valid."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.service.observability import Metrics
from nodegraft.store.access import StoreTokens
from nodegraft.store.scope import Scope
from tests.service.running import free_port
from tests.service.served import make_of_tables

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent
METRIC = re.compile(r"\bnodegraft_[a-z_]+")
LONGEST = 120.0


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a token, which a service on all addresses needs."""
    place = tmp_path_factory.mktemp("deploy") / "shop"
    make_of_tables(place)
    with StoreTokens.open(place) as tokens:
        tokens.add("probe", Scope.READ)
    return place


def instructions(name: str) -> list[Any]:
    """Arguments of the last instruction with this name in the Dockerfile."""
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    last = [line for line in lines if line.startswith(f"{name} ")][-1]
    found: list[Any] = json.loads(last.removeprefix(f"{name} "))
    return found


def unit_command() -> list[str]:
    unit = (DEPLOY / "nodegraft.service").read_text()
    line = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert line
    return shlex.split(line[1])


def kubernetes() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "nodegraft.yaml").read_text()))


@contextmanager
def started(arguments: list[str], place: Path, stored_at: str) -> Iterator[int]:
    """A service that runs these arguments of nodegraft on a free port of this machine."""
    port = free_port()
    own = [str(place) if part == stored_at else part for part in arguments]
    # Nothing outside this machine may reach it.
    own = ["127.0.0.1" if part == "0.0.0.0" else part for part in own]  # noqa: S104
    command = [str(BIN / "nodegraft"), *own, "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(LONGEST)


def healthy(port: int) -> bool:
    """Whether the health check of the image succeeds in time."""
    check = [sys.executable, str(DEPLOY / "healthcheck.py"), f"http://127.0.0.1:{port}/readyz"]
    began = monotonic()
    while subprocess.run(check, check=False).returncode:
        if monotonic() - began > LONGEST:
            return False
        sleep(0.2)
    return True


def test_the_command_of_the_image_serves_and_its_health_check_succeeds(shop: Path) -> None:
    assert instructions("ENTRYPOINT") == ["nodegraft"]
    with started(instructions("CMD"), shop, "/store") as port:
        assert healthy(port)


def test_the_command_of_the_systemd_unit_serves(shop: Path) -> None:
    program, *arguments = unit_command()
    assert Path(program).name == "nodegraft"
    with started(arguments, shop, "/srv/shop") as port:
        assert healthy(port)


def test_the_health_check_fails_where_nothing_listens() -> None:
    check = [sys.executable, str(DEPLOY / "healthcheck.py"), f"http://127.0.0.1:{free_port()}/"]
    assert subprocess.run(check, check=False).returncode == 1


def test_the_other_commands_are_those_of_the_program(tmp_path: Path) -> None:
    """They get as far as the folder, which has no store."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for arguments in (
        compose["services"]["nodegraft"]["command"],
        kubernetes()[0]["spec"]["template"]["spec"]["containers"][0]["args"],
    ):
        folder = arguments[1]
        own = [str(tmp_path) if part == folder else part for part in arguments]
        done = CliRunner().invoke(app, own)
        assert "is not a store" in " ".join(done.output.split()), done.output


def test_probes_ask_routes_that_need_no_token_under_a_name_of_the_service() -> None:
    container = kubernetes()[0]["spec"]["template"]["spec"]["containers"][0]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] in ("/livez", "/readyz")
        assert asked["httpHeaders"] == [{"name": "Host", "value": "localhost"}]


def test_systemd_stops_workers_through_the_main_process() -> None:
    """A worker that gets SIGTERM from both ends without its notice."""
    assert "KillMode=mixed" in (DEPLOY / "nodegraft.service").read_text().splitlines()


def test_prometheus_reaches_a_pod_under_a_name_of_the_service() -> None:
    pod = kubernetes()[0]["spec"]["template"]
    assert pod["metadata"]["annotations"]["prometheus.io/scrape"] == "true"
    container = pod["spec"]["containers"][0]
    assert "$(POD_IP)" in container["args"]
    sources = {entry["name"]: entry["valueFrom"] for entry in container["env"]}
    assert sources["POD_IP"] == {"fieldRef": {"fieldPath": "status.podIP"}}


def test_nothing_runs_as_root() -> None:
    assert "USER 10001" in (DEPLOY / "Dockerfile").read_text()
    pod = kubernetes()[0]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("file", ["alerts.yaml", "dashboard.json"])
def test_every_metric_is_one_that_a_service_has(file: str) -> None:
    metrics = Metrics()
    metrics.count_request("GET", "/v1/predict", 200, 0.01)
    names = set(METRIC.findall(metrics.text().decode()))
    used = set(METRIC.findall((DEPLOY / "monitoring" / file).read_text()))
    assert used
    assert used <= names


def test_alerts_say_what_to_do() -> None:
    groups = yaml.safe_load((DEPLOY / "monitoring" / "alerts.yaml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert rules
    for rule in rules:
        assert rule["annotations"]["what_to_do"], rule["alert"]


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool (Prometheus) is not installed")
def test_prometheus_accepts_the_alerts() -> None:
    rules = str(DEPLOY / "monitoring" / "alerts.yaml")
    subprocess.run(["promtool", "check", "rules", rules], check=True)  # noqa: S607


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "nodegraft.service").read_text()
    unit = tmp_path / "nodegraft.service"
    # The program must exist for the check.
    unit.write_text(text.replace(unit_command()[0], str(BIN / "nodegraft")))
    checked = subprocess.run(
        ["systemd-analyze", "verify", str(unit)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    assert "nodegraft.service" not in checked.stderr, checked.stderr


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda f: f.name
)
def test_workflows_and_templates_are_yaml(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text())
