import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from nodegraft.lab.report.figures.catalogue import FIGURES
from nodegraft.lab.report.groups import Groups
from nodegraft.lab.report.page import page_html
from nodegraft.lab.report.section import Section, main_section
from nodegraft.lab.report.tables import TABLES
from tests.lab.report.records import LEAKY, lasts, section, two_graphs

OPEN_TAGS = {"meta", "br", "path", "use"}


class Reader(HTMLParser):
    """Checks that tags close in order; collects what tests ask about."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in OPEN_TAGS:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in OPEN_TAGS:
            assert self.stack.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def first_screen(about: Section) -> str:
    """Return what a page about one section begins with."""
    return page_html([about], []).partition("</header>")[0]


def everything() -> Groups:
    groups = two_graphs(graft=[0.8, 0.7], hag_meta=[0.5, 0.6], cec=[0.3, 0.2])
    for graph in ("gentoo", "debian"):
        groups[graph, "cec", LEAKY] = [*lasts(0.7, 0.6)]
    for runs in groups.values():
        for record in runs:
            for one in record["sessions"]:
                one |= dict.fromkeys(
                    ("base_accuracy", "pseudo_novel_accuracy", "novel_accuracy"), 0.5
                )
    return groups


@pytest.fixture(scope="module")
def text() -> str:
    return page_html([section(everything(), tuple(TABLES), tuple(FIGURES), missing=3)], [])


@pytest.fixture(scope="module")
def reader(text: str) -> Reader:
    read = Reader()
    read.feed(text)
    assert read.stack == []
    return read


def test_a_page_needs_nothing_from_elsewhere(text: str, reader: Reader) -> None:
    assert "http:" not in text
    assert "https:" not in text
    assert not reader.all("script")
    assert not reader.all("link")
    assert not reader.all("img")
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", text)


def test_every_link_has_a_target_and_every_name_is_there_once(reader: Reader) -> None:
    names = [attributes["id"] for _, attributes in reader.found if "id" in attributes]
    assert len(names) == len(set(names))
    for attributes in reader.all("a") + reader.all("use"):
        target = attributes["href"]
        assert target is not None
        assert target.removeprefix("#") in names


def test_every_figure_has_a_text_alternative(text: str, reader: Reader) -> None:
    figures = reader.all("svg")
    assert len(figures) > 8
    for attributes in figures:
        assert attributes["role"] == "img"
        label = attributes["aria-labelledby"]
        assert label is not None
        title, description = label.split()
        assert re.search(rf'<title id="{title}">[^<]+</title>', text)
        assert re.search(rf'<desc id="{description}">[^<]{{30,}}\.</desc>', text)


def test_figures_take_their_colours_from_the_page(text: str) -> None:
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
    assert "currentColor" in drawn
    assert "var(--blue)" in drawn
    # A colour of its own would not change at night. White is not drawn at all.
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawn)) == set()
    asked = set(re.findall(r"var\((--\w+)\)", drawn))
    assert all(f"{name}:" in text for name in asked)


def test_what_is_missing_is_said_with_the_commands(text: str) -> None:
    assert "16 of 19 jobs recorded" in text
    assert "So far 16 of 19 runs are recorded." in text
    assert "nodegraft lab bench experiments/by-hand.toml --data DIR --out RUNS" in text
    assert "nodegraft lab run --dataset gentoo --method graft --seed 0 --data DIR" in text


def test_the_first_screen_follows_the_records() -> None:
    for winner, groups in (
        ("graft", two_graphs(graft=[0.8], cec=[0.7])),
        ("cec", two_graphs(graft=[0.6], cec=[0.7])),
    ):
        assert f"<h1>{winner} against other methods <small>" in first_screen(section(groups))
    alone = first_screen(section(two_graphs(graft=[0.8])))
    assert "no recommendation yet" in alone
    assert "Use graft" not in alone


def test_the_first_screen_is_about_the_suite_that_compares_most() -> None:
    small = section(two_graphs(one=[0.9], two=[0.8], three=[0.7]), ["matrix"])
    large = section(two_graphs(graft=[0.8], cec=[0.7]), ["comparison"])
    main = replace(small, path="experiments/growing.toml")
    assert main_section([small, large]) is large
    assert main_section([large, main]) is main


def test_a_suite_without_a_record_is_named_and_left_out() -> None:
    empty = section({}, ["comparison"], ["curves"], missing=2)
    made = page_html([section(two_graphs(graft=[0.8], cec=[0.7])), empty], [])
    assert "none of their jobs is recorded:\n<code>experiments/by-hand.toml</code>" in made
    assert made.count("<h2>") == 2


def test_names_cannot_break_the_page() -> None:
    made = page_html([section({("gentoo", "<b>&", "strict"): [*lasts(0.5)]}, ["comparison"])], [])
    assert "<b>" not in made
    assert "&lt;b&gt;&amp;" in made
