"""Records of earlier schemas brought to today's, one step after the other.

Names inside a record change here and nowhere else, each step with a test. What was measured stays.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nodegraft.base.errors import DataError
from nodegraft.base.hashing import content_hash

SCHEMA = 6

IDENTITY = (
    "method",
    "dataset",
    "seed",
    "node_seed",
    "stream_version",
    "protocol",
    "arrival",
    "setting",
    "changed_parameters",
    "dataset_options",
    "hashes",
)
"""What makes two records the same run. Of a method's parameters only those count that were not the
default on the day of the record: a parameter that is added later orphans nothing."""


def run_name(document: Mapping[str, Any]) -> str:
    """The name of a record: a hash of its identity.

    Args:
        document: A record, or what is known of it before it is run.
    """
    return content_hash({name: document[name] for name in IDENTITY})


def migrate(document: Mapping[str, Any]) -> dict[str, Any]:
    """A record in today's schema.

    Args:
        document: A record of any schema.
    """
    if document["schema"] == SCHEMA:
        return dict(document)
    migrated = dict(document)
    while migrated["schema"] != SCHEMA:
        if migrated["schema"] not in _STEPS:
            raise DataError(
                f"A record has the schema {migrated['schema']}; this nodegraft knows those up to "
                f"{SCHEMA}: upgrade nodegraft."
            )
        migrated = _STEPS[migrated["schema"]](migrated)
    return {**migrated, "run": run_name(migrated)}


def _from_2(document: dict[str, Any]) -> dict[str, Any]:
    """Schema 3 says which parameters were changed and which code made the record.

    Defaults of schema 2's day are written down here, because those of the code may move on.
    """
    # Of somebody else's method nothing is known: all of its parameters count.
    defaults = _DEFAULTS_OF_2.get(document["method"], {})
    changed = {
        name: value
        for name, value in document["parameters"].items()
        if name != "seed" and defaults.get(name) != value
    }
    return {
        **document,
        "schema": 3,
        "changed_parameters": changed,
        "source": {"version": document["versions"]["nodegraft"]},
    }


def _from_3(document: dict[str, Any]) -> dict[str, Any]:
    """Schema 4 draws nodes by a seed of their own, and says how streams were drawn on its day.

    Base classes may have to have a number of nodes; before, they had not. What is taught most
    labels is no ceiling, since a wider one may stand above it.
    """
    protocol = document["protocol"].replace("(ceiling)", "(upper reference)")
    settings = {
        name: {**document[name], "base_nodes": 0} for name in ("setting", "default_setting")
    }
    return {
        **document,
        **settings,
        "schema": 4,
        "protocol": protocol,
        "node_seed": document["seed"],
        "stream_version": 1,
    }


def _from_4(document: dict[str, Any]) -> dict[str, Any]:
    """Schema 5 may draw a number of labels for every class, and asks about classes still to come.

    Before, neither was done.
    """
    settings = {
        name: {**document[name], "least_shots": None} for name in ("setting", "default_setting")
    }
    return {
        **document,
        **settings,
        "schema": 5,
        "sessions": [{**session, "unknown_auroc": None} for session in document["sessions"]],
        "summary": {**document["summary"], "unknown_auroc": None},
    }


def _from_5(document: dict[str, Any]) -> dict[str, Any]:
    """Schema 6 began with the second edition of graft; what was called so before is the first."""
    name = document["method"]
    return {**document, "schema": 6, "method": "graft-1" if name == "graft" else name}


_STEPS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    2: _from_2,
    3: _from_3,
    4: _from_4,
    5: _from_5,
}

_ENCODER_OF_2 = {
    "hidden": 32,
    "out": 16,
    "learning_rate": 0.005,
    "weight_decay": 0.0005,
    "dropout": 0.5,
    "patience": 10,
    "max_epochs": 1000,
}
_FROZEN_OF_2 = {**_ENCODER_OF_2, "pretrain_on": "base"}
_EPISODIC_OF_2 = {**_ENCODER_OF_2, "ways": None, "shots": None, "queries": None, "episodes": 1000}
_DEFAULTS_OF_2: Mapping[str, Mapping[str, Any]] = {
    "cec": {**_EPISODIC_OF_2, "temperature": 16.0, "base_shots": 20, "attention_rate": 0.0002},
    "er-gnn": {**_ENCODER_OF_2, "steps": 800, "choose": "coverage", "kept": 10, "radius": 1.0},
    "finetune": {**_ENCODER_OF_2, "steps": 100},
    "gpn": {**_EPISODIC_OF_2, "centrality": "paper"},
    "graft": {
        "hops": 2,
        "restart": 0.3,
        "kept_labels": 1000,
        "rare_words": True,
        "walks": True,
        "few_labels": True,
        "practise": True,
    },
    "hag-meta": {
        **_EPISODIC_OF_2,
        "gpil": True,
        "nla": True,
        "tla": "set",
        "base_shots": 20,
        "adapt": "support",
        "adapt_steps": 10,
        "tla_scale": "literal",
        "nla_normalise": "class",
        "nla_for": "few-shot",
        "centrality": "log1p",
        "last_relu": False,
    },
    "icarl": {**_ENCODER_OF_2, "steps": 200, "budget": 2000, "temperature": 2.0},
    "joint": {**_ENCODER_OF_2, "balanced": True},
    "joint-fewshot": {**_ENCODER_OF_2, "balanced": True},
    "lda": {**_FROZEN_OF_2, "shrinkage": 1e-4},
    "meta-gnn": {
        **_EPISODIC_OF_2,
        "inner_rate": 0.5,
        "inner_steps": 10,
        "test_steps": 100,
        "first_order": False,
        "meta_rate": 0.003,
        "base_shots": 20,
    },
    "proto-gat": {**_FROZEN_OF_2, "heads": 4},
    "proto-gcn": _FROZEN_OF_2,
    "ranpac": {**_FROZEN_OF_2, "penalty": 0.01, "features": 2000},
    "ridge": {**_FROZEN_OF_2, "penalty": 1e-4},
    "sgc-mean": {"hops": 2},
    "teen": {**_FROZEN_OF_2, "alpha": 0.5, "tau": 16.0},
    "text-only": {},
}
