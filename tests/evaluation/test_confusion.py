from nodegraft.evaluation.confusion import ConfusionMatrix, classification_report

TRUTH = ["hats", "hats", "caps", "class"]
ANSWERS = ["hats", None, "hats", "class"]


def test_what_is_kept_back_has_a_column_of_its_own() -> None:
    table = ConfusionMatrix.of(TRUTH, ANSWERS).to_arrow()
    assert table.column_names == ["true class", "caps", "class", "hats", "abstained"]
    rows = [list(row.values()) for row in table.to_pylist()]
    assert rows == [["caps", 0, 0, 1, 0], ["class", 0, 1, 0, 0], ["hats", 0, 0, 1, 1]]


def test_a_class_that_is_never_answered_is_reported_without_a_warning() -> None:
    told = classification_report(TRUTH, ANSWERS)
    lines = {line.split()[0]: line.split()[1:] for line in told.splitlines() if line.strip()}
    assert lines["caps"] == ["0.00", "0.00", "0.00", "1"]
    assert lines["hats"] == ["0.50", "0.50", "0.50", "2"]
