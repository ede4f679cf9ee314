"""The real server of Label Studio: a project, predictions shown, an annotation becomes a label."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx2
import pytest

from nodegraft.store.store import Store
from tests.service.running import free_port, running
from tests.service.served import make_of_tables
from tests.service.test_label_studio import CONFIG
from tests.slow_suite import slow

TOKEN = "0123456789abcdef0123456789abcdef01234567"  # noqa: S105
LONGEST = 600.0
"""Seconds in which the server makes its database on a busy machine."""


@contextmanager
def label_studio(folder: Path) -> Iterator[httpx2.Client]:
    """A server with an account, whose program is in an environment of its own."""
    program = os.environ.get("LABEL_STUDIO") or shutil.which("label-studio")
    if program is None:
        pytest.skip("set LABEL_STUDIO to the program of an environment with label-studio")
    port = free_port()
    account = ("--username", "anna@shop.example", "--password", "secret-of-anna")
    place = ("--port", str(port), "--data-dir", str(folder / "data"))
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        # The service is on this computer, which Label Studio would refuse to call.
        "USE_DEFAULT_BANNED_SUBNETS": "false",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
    }
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [program, "start", "--no-browser", *account, "--user-token", TOKEN, *place],
            env=environment,
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx2.Client(
            base_url=url, headers={"Authorization": f"Token {TOKEN}"}, timeout=120
        ) as client:
            _wait(client, server)
            yield client
    finally:
        server.terminate()
        server.wait(60)


def _wait(client: httpx2.Client, server: "subprocess.Popen[bytes]") -> None:
    began = monotonic()
    while True:
        try:
            if client.get("/health").is_success:
                return
        except httpx2.RequestError:
            assert server.poll() is None
        assert monotonic() - began < LONGEST
        sleep(1)


def ask(client: httpx2.Client, method: str, path: str, body: Any = None) -> Any:
    response = client.request(method, path, json=body)
    assert response.is_success, f"{path}: {response.status_code} {response.text[:500]}"
    return response.json()


@slow
def test_a_project_shows_predictions_and_its_annotations_are_taught(tmp_path: Path) -> None:
    make_of_tables(tmp_path / "shop")
    with running(tmp_path / "shop") as service, label_studio(tmp_path) as client:
        backend = f"http://127.0.0.1:{service.port}/label-studio"
        project = ask(client, "POST", "/api/projects", {"title": "shop", "label_config": CONFIG})
        number = project["id"]
        tasks = [{"key": key, "text": "felt"} for key in ("hats9", "shoes9")]
        ask(client, "POST", f"/api/projects/{number}/import", tasks)
        ask(client, "POST", "/api/ml", {"url": backend, "project": number, "title": "nodegraft"})
        hook = {"url": f"{backend}/webhook", "project": number, "send_payload": True}
        ask(client, "POST", "/api/webhooks", hook | {"send_for_all_actions": True})

        fetch = f"/api/dm/actions?id=retrieve_tasks_predictions&project={number}"
        selected = {"selectedItems": {"all": True, "excluded": []}, "project": number}
        ask(client, "POST", fetch, selected)
        shown = {}
        for task in ask(client, "GET", f"/api/tasks?project={number}&fields=all")["tasks"]:
            (prediction,) = task["predictions"]
            (region,) = prediction["result"]
            shown[task["data"]["key"]] = (region["value"]["choices"], prediction["model_version"])
            key = task["data"]["key"]
            if key == "hats9":
                mark = {name: region[name] for name in ("type", "from_name", "to_name", "value")}
                ask(client, "POST", f"/api/tasks/{task['id']}/annotations", {"result": [mark]})
        assert shown == {"hats9": (["hats"], "1"), "shoes9": (["shoes"], "1")}
        began = monotonic()
        with Store.open(tmp_path / "shop") as store:
            while store.newest == 1 and monotonic() - began < 60:
                sleep(0.5)
            assert store.version(2).action == "label"
            assert store.state(2).labels.owners()["hats9"] == "hats"
            assert store.live == 1
