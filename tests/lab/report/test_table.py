import re
from typing import Any

import pytest

from nodegraft.analysis.rendering.table import Table, to_html, to_latex
from nodegraft.lab.report.page import sentences, templates

TABLE = Table.of(
    ["method", "*leaky* A0", "note"],
    [["a_b & c", "**+5.0 ± 0.1**", "100 % <sure>"], ["d", "–", "#1"]],
    caption="**gentoo**, 50 %",
)


def html(table: Table) -> str:
    """Return a table as a page shows it."""
    module: Any = templates().get_template("parts.html").module
    return str(module.table(table)).lstrip()


@pytest.mark.parametrize(
    ("plain", "latex"),
    [
        ("a_b", r"a\_b"),
        ("5 ± 1 %", r"5 $\pm$ 1 \%"),
        ("R&D #1 $2", r"R\&D \#1 \$2"),
        ("{x}^2~", r"\{x\}\textasciicircum{}2\textasciitilde{}"),
        ("\\", r"\textbackslash{}"),
        ("**b** and *e_f*", r"\textbf{b} and \emph{e\_f}"),
        ("– — …", r"-- --- \dots{}"),
    ],
)
def test_latex_is_escaped(plain: str, latex: str) -> None:
    assert to_latex(plain) == latex


def test_a_latex_table_has_as_many_cells_in_every_row_as_columns() -> None:
    text = TABLE.latex()
    sides = re.search(r"begin\{tabular\}\{(\w+)\}", text)
    assert sides is not None
    # Numbers stand on the right, names and texts on the left.
    assert sides[1] == "lrl"
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    assert [text.count(rf"\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 1, 1]
    assert text.count("{") == text.count("}")
    assert r"\caption{\textbf{gentoo}, 50 \%}" in text


def test_html_is_escaped_and_scrolls_in_its_own_box() -> None:
    text = html(TABLE)
    assert "a_b &amp; c" in text
    assert "100 % &lt;sure&gt;" in text
    assert "<strong>+5.0 ± 0.1</strong>" in text
    assert text.startswith(
        '<div class="scroll" role="region" tabindex="0" aria-label="gentoo, 50 %"'
    )
    assert text.count('<div class="hint" aria-hidden="true">') == 1
    assert text.count('scope="row"') == 2
    assert text.count('scope="col"') == 3


def test_settings_and_seeds_in_names_do_not_break_over_lines() -> None:
    text = html(Table.of(["method"], [["graft 3-way 5-shot (n = 3 to 5)"]]))
    assert (
        '<th scope="row">graft <span class="whole">3-way</span> <span class="whole">5-shot</span> '
        '<span class="n">(n = 3 to 5)</span></th>'
    ) in text


def test_markdown_has_no_caption_where_there_is_none() -> None:
    assert Table.of(["a"], [["1"]]).markdown() == "| a |\n|---|\n| 1 |"


def test_marks_do_not_open_tags_of_their_own() -> None:
    assert to_html("<b>*x*</b>") == "&lt;b&gt;<em>x</em>&lt;/b&gt;"
    assert sentences("1.6 ± 0.8 points, 3 s, 5 sessions") == (
        "1.6\u00a0±\u00a00.8\u00a0points, 3\u00a0s, 5 sessions"
    )
    assert sentences("Friedman: p = 2e-32") == "Friedman: p\u00a0=\u00a02e-32"
