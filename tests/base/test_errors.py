from copy import copy
from pathlib import Path

import pytest

from nodegraft.base import errors


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (errors.UnknownNodeError(["a"], 3), "1 of 3 nodes is not in this graph: 'a'."),
        (errors.UnknownNodeError([*range(24)], 24), "18, 19 and 4 more."),
        (errors.HiddenNodeError(2, 5), "2 of 5 nodes are not visible in this view"),
        (errors.NotFittedError("sgc-mean"), "call fit(graph, labels) first"),
        (errors.NotSupportedError("sgc-mean", "embed nodes"), "sgc-mean cannot embed nodes"),
        (
            errors.MissingFileError("dblp", ["a", "b"], [Path("/x")]),
            "needs a, b. Looked in:\n  /x\nGive the folder",
        ),
    ],
)
def test_an_error_is_a_sentence_for_the_user(error: Exception, sentence: str) -> None:
    assert sentence in str(error)
    assert isinstance(error, errors.NodegraftError)


@pytest.mark.parametrize(
    "error",
    [
        errors.TablesError("Column 'x' is missing: name it.", "Column 'x' is missing."),
        errors.SimilarNameError("Hats", "hats"),
        errors.UnknownNodeError(["a"], 3, "integer"),
        errors.CandidateWaitsError(2, 1),
        errors.GateError(["Accuracy drops."], "Add labels."),
        errors.MissingExtraError("Flying needs an extra."),
    ],
)
def test_an_error_survives_the_way_to_another_process(error: errors.NodegraftError) -> None:
    other = copy(error)  # By the same method as pickle.
    assert type(other) is type(error)
    assert (str(other), vars(other)) == (str(error), vars(error))
