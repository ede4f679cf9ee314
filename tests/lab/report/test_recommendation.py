import re

from nodegraft.lab.report.groups import Groups
from nodegraft.lab.report.page import page_html
from nodegraft.lab.report.recommendation import recommend
from tests.lab.report.records import UPPER_REFERENCE, lasts, run, section, two_graphs


def paragraphs(groups: Groups, element: str = "p") -> list[str]:
    """Return the paragraphs of the first screen as plain text with ``**bold**``."""
    page = page_html([section(groups)], []).partition("</header>")[0].replace("\u00a0", " ")
    page = page.replace("&#39;", "'").replace("<strong>", "**").replace("</strong>", "**")
    inside = re.findall(rf"<{element}\b[^>]*>(.*?)</{element}>", page, re.DOTALL)
    return [text.strip() for text in inside]


GROUPS = two_graphs(graft=[0.8, 0.82], hag_meta=[0.5, 0.52], cec=[0.7, 0.72])


def test_the_winner_is_compared_with_the_papers_method_and_the_runner_up() -> None:
    reason, certainty, *_ = paragraphs(GROUPS)
    # Means of 0.81 and 0.71, of 0.51 and 0.41, of 0.71 and 0.61.
    assert reason == (
        "**graft** is the most accurate method on all 2 graphs: after the last session it "
        "classifies 76.0 % of nodes correctly, against 46.0 % for **hag-meta**, the paper's "
        "method, and 66.0 % for **cec**, the runner-up (macro accuracy, mean over graphs). It "
        "learns the new classes of a session and predicts all test nodes in 0.25 s, after 2.0 s "
        "of training."
    )
    assert certainty.startswith("Each lead is larger than its 95 % interval over seeds: ")
    assert "10.0 ± 0.0 points over cec on gentoo" in certainty
    assert certainty.endswith("not corrected for multiple comparisons.")
    assert paragraphs(GROUPS, "li") == []


def test_other_records_name_another_winner() -> None:
    groups = two_graphs(graft=[0.5, 0.52], hag_meta=[0.8, 0.82], cec=[0.4, 0.42])
    recommendation = recommend(groups)
    assert recommendation is not None
    assert recommendation.winner == "hag-meta"
    text = paragraphs(groups)[0]
    assert text.startswith("**hag-meta** is the most accurate method on all 2 graphs")
    assert "46.0 % for **graft**, the runner-up" in text
    assert "the paper's method" not in text


def test_the_papers_method_may_be_the_runner_up() -> None:
    text = paragraphs(two_graphs(graft=[0.8], hag_meta=[0.7], cec=[0.4]))[0]
    assert "for **hag-meta**, the paper's method and the runner-up (" in text
    assert "cec" not in text


def test_where_another_method_leads_it_is_said() -> None:
    groups: Groups = {**GROUPS, ("debian", "cec", "strict"): [*lasts(0.75, 0.77)]}
    assert "on 1 of 2 graphs" in paragraphs(groups)[0]
    (text,) = paragraphs(groups, "li")
    assert text == "On graphs like debian: **cec** is ahead by 5.0 ± 0.0 points."


def test_a_lead_within_its_interval_is_not_called_significant() -> None:
    text = paragraphs(two_graphs(graft=[0.8, 0.5], cec=[0.7, 0.59]))[1]
    assert text.startswith("0 of its 2 leads are larger than their 95 % interval")


def test_leads_are_paired_by_seed() -> None:
    groups = two_graphs(graft=[0.3, 0.8], cec=[0.2, 0.7])
    for graph, less in (("gentoo", 0.0), ("debian", 0.1)):
        # In another order, and with a seed that graft does not have.
        groups[graph, "cec", "strict"] = [
            run(0.9, 0.7 - less, seed=1),
            run(0.9, 0.2 - less, seed=0),
            run(0.9, 0.15 - less, seed=7),
        ]
    recommendation = recommend(groups)
    assert recommendation is not None
    assert [str(lead) for lead in recommendation.leads] == ["10.0 ± 0.0 points"] * 2


def test_cheaper_methods_are_named_with_what_they_lose() -> None:
    groups = two_graphs(graft=[0.8, 0.8], slow=[0.75, 0.75], quick=[0.6, 0.6])
    for graph, less in (("gentoo", 0.0), ("debian", 0.1)):
        last = 0.6 - less
        groups[graph, "quick", "strict"] = [*lasts(last, last, seconds=0.01, kept=1_000_000)]
    assert paragraphs(groups, "li") == [
        "If a session must be learned faster: **quick** learns a session in 0.01 s (graft: "
        "0.25 s), but is 20.0 points less accurate.",
        "If the model must be smaller: **quick** stores 1.0 MB (graft: 2.5 MB), but is 20.0 points "
        "less accurate.",
    ]


def test_an_upper_reference_never_wins_and_is_named_for_scale() -> None:
    groups: Groups = {
        **GROUPS,
        ("gentoo", "joint", UPPER_REFERENCE): [*lasts(0.95)],
        ("debian", "joint", UPPER_REFERENCE): [*lasts(0.85)],
    }
    recommendation = recommend(groups)
    assert recommendation is not None
    assert recommendation.winner == "graft"
    assert "reaches 95.0 % on gentoo, 85.0 % on debian." in paragraphs(groups)[1]
    assert "For comparison" not in paragraphs(GROUPS)[1]


def test_a_method_that_was_not_measured_everywhere_is_no_winner() -> None:
    groups: Groups = {**GROUPS, ("gentoo", "narrow", "strict"): [*lasts(0.99, 0.99)]}
    recommendation = recommend(groups)
    assert recommendation is not None
    assert recommendation.winner == "graft"
    assert paragraphs(groups, "li") == [
        "On graphs like gentoo: **narrow** is ahead by 18.0 ± 12.7 points."
    ]
