from pathlib import Path

import numpy as np
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.map_points import OF_A_CLASS, map_points, write_map
from nodegraft.lab.report.figures.embedding_map import EmbeddingMap, read_maps
from tests.lab.report.drawn_figures import places

JOB = Job(dataset="synthetic", method="sgc-mean", dataset_options={"nodes": 300, "classes": 8})


def test_points_are_query_nodes_and_one_prototype_a_class(tmp_path: Path) -> None:
    loaded = JOB.load()
    split = JOB.stream(loaded).split
    rows = map_points(JOB, loaded, after=1)
    assert rows == map_points(JOB, loaded, after=1)
    arrived = split.novel[: split.setting.ways]
    means = [row for row in rows if row["is_prototype"]]
    assert sorted(row["class"] for row in means) == sorted(split.known + arrived)
    asked = JOB.stream(loaded).session(1).query
    for name in split.known + arrived:
        count = sum(row["class"] == name and not row["is_prototype"] for row in rows)
        assert count == min(OF_A_CLASS, asked[name].size)
    kinds = {row["class"]: (row["kind"], row["session"]) for row in rows}
    assert kinds[split.base[0]] == ("base", 0)
    assert kinds[split.pseudo_novel[0]] == ("pseudo-novel", 0)
    assert kinds[arrived[0]] == ("novel", 1)
    place = write_map(rows, JOB, 1, tmp_path / "maps")
    (read,) = read_maps(place.parent)
    assert read.points == rows
    assert read.command == (
        "nodegraft lab map --dataset synthetic --method sgc-mean --seed 0 --after 1 --data DIR "
        "--out RUNS/maps"
    )


def test_a_session_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ParameterError, match="after session 1 to"):
        map_points(JOB, JOB.load(), after=99)


def test_a_map_draws_every_point_and_says_who_is_beside_whom() -> None:
    known = [
        {"class": "old", "session": 0, "x": float(place), "y": 0.0, "is_prototype": False}
        for place in range(4)
    ]
    # Each point of "mixed" has one of "new" nearest, and the other way round.
    new = [
        {"class": name, "session": 1, "x": x, "y": 50.0, "is_prototype": False}
        for x, name in ((0.0, "new"), (0.1, "mixed"), (5.0, "new"), (5.1, "mixed"))
    ]
    means = [{**point, "is_prototype": True} for point in (known[0], new[0], new[1])]
    points = [{"method": "sgc-mean", **point} for point in (*known, *new, *means)]
    (picture,) = EmbeddingMap("a", "gentoo", 1, "", points).pictures
    assert "for 100 % of known and 0 % of new classes (mixed, new)" in picture.caption
    (axes,) = picture.figure.axes
    drawn = np.concatenate([places(line) for line in axes.lines])
    wanted = [(point["x"], point["y"]) for point in points]
    assert sorted(map(tuple, drawn.tolist())) == sorted(wanted)
    assert {text.get_text() for text in axes.texts} == {"new", "mixed"}
