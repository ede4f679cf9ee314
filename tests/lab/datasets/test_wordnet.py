from collections.abc import Callable
from pathlib import Path

import pytest

from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.wordnet import WordNet, pointers

NOUNS = """\
  1 This is the licence | of the database.
00000001 03 n 01 root 0 001 ~ 00000002 n 0000 | tool animal
00000002 05 n 02 xyzzy 0 caf\xe9 1 003 @ 00000001 n 0000 + 00000002 v 0101 & 00000009 s 0000 | \
an animal living here | large \xe9lan
00000003 06 n 01 thing 0 002 @ 00000002 n 0000 ~ 00000003 n 0000 | a large living tool
"""
VERBS = """\
  1 This is the licence
00000002 29 v 0a a 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 002 $ 00000003 v 0000 + 00000002 n 0101 \
02 + 02 00 + 08 00 | living; "large things"
00000003 29 v 01 k 0 000 01 + 02 00 | small
"""
NAMES = "03\tnoun.Tops\troots\n05\tnoun.animal \tanimals\n06\tnoun.artifact\tx\n29\tverb.body\tx\n"


@pytest.fixture
def root(tmp_path: Path, write_xz: Callable[[Path, str, str], Path]) -> Path:
    write_xz(tmp_path / "wordnet" / "data.noun.xz", NOUNS, "latin-1")
    write_xz(tmp_path / "wordnet" / "data.verb.xz", VERBS, "latin-1")
    (tmp_path / "wordnet" / "lexnames.tsv").write_text(NAMES)
    return tmp_path


def test_pointers_start_after_a_hexadecimal_number_of_words() -> None:
    fields = VERBS.splitlines()[1].partition("|")[0].split()[3:]
    assert pointers(fields) == {"group": ["v00000003"], "derivation": ["n00000002"]}


def test_synsets_are_joined_by_any_pointer(root: Path) -> None:
    loaded = WordNet().load(root)
    graph = loaded.graph
    assert graph.keys_of(range(4)) == ["n00000002", "n00000003", "v00000002", "v00000003"]
    edges = [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)]
    assert edges == [
        ["n00000002", "n00000003"],
        ["n00000002", "v00000002"],
        ["v00000002", "v00000003"],
    ]
    counts = {kind: graph.edges_of(kind)[0].size for kind in graph.relations}
    found = {kind: (count, graph.is_directed(kind)) for kind, count in counts.items() if count}
    assert found == {"is-a": (1, True), "derivation": (1, False), "group": (1, False)}
    assert loaded.labels.classes == ("noun.animal", "noun.artifact", "verb.body")


def test_only_the_gloss_gives_features(root: Path) -> None:
    assert WordNet().load(root).graph.num_features == len(["large", "living"])


@pytest.mark.real_data
def test_nouns_and_verbs_have_the_stated_statistics(real_data: Path) -> None:
    loaded = WordNet().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (95831, 149259, 40, 332)
    assert found.degree_quantiles == (0, 1, 1, 2, 3, 5, 21, 672)
    assert found.homophily == pytest.approx(0.775, abs=0.0005)
    assert loaded.labels["noun.motive"].size == found.smallest_class == 42
    assert found.largest_class == 11587
