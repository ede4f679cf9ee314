import re

from nodegraft.lab.report.against_others import against_others
from nodegraft.lab.report.groups import Groups
from nodegraft.lab.report.page import page_html, rivals_table
from nodegraft.lab.report.recommendation import recommend
from tests.lab.report.records import UPPER_REFERENCE, lasts, run, section, two_graphs


def paragraphs(groups: Groups, element: str = "p") -> list[str]:
    """Return the paragraphs of the first screen as plain text with ``**bold**``."""
    page = page_html([section(groups)], []).partition("</header>")[0].replace("\u00a0", " ")
    page = page.replace("&#39;", "'").replace("<strong>", "**").replace("</strong>", "**")
    inside = re.findall(rf"<{element}\b[^>]*>(.*?)</{element}>", page, re.DOTALL)
    return [text.strip() for text in inside]


MINUS = "\N{MINUS SIGN}"
LOSES = "**Where graft loses, or does not win**"
NO_LOSS = "On no graph of this table is another method ahead, or its interval around zero."
GROUPS = two_graphs(graft=[0.8, 0.82], hag_meta=[0.5, 0.52], cec=[0.7, 0.72])


def on_gentoo(groups: Groups) -> Groups:
    """Return the groups of one graph, whose first screen names the method to use."""
    return {key: runs for key, runs in groups.items() if key[0] == "gentoo"}


def paired_table(groups: Groups) -> dict[str, tuple[str, ...]]:
    """Return graph -> the rest of its row on the first screen."""
    found = against_others([section(groups)])
    assert found is not None
    return {row[0]: tuple(row[1:]) for row in rivals_table(found).rows}


def test_the_winner_is_compared_with_the_papers_method_and_the_best_other_on_every_graph() -> None:
    reason, block, notes = paragraphs(GROUPS)
    assert reason == (
        "On 2 of 2 graphs **graft** is more accurate than every other method measured there with "
        "several seeds (2 of them): the 95 % interval of the paired difference to the best of them "
        "is above zero."
    )
    assert block == LOSES
    assert "intervals are not corrected for multiple comparisons." in " ".join(notes.split())
    assert paragraphs(GROUPS, "li") == [NO_LOSS]
    assert paired_table(GROUPS) == {
        "gentoo": ("81.0", "cec", "71.0", "+10.0 ± 0.0", "51.0", "+30.0 ± 0.0", "2"),
        "debian": ("71.0", "cec", "61.0", "+10.0 ± 0.0", "41.0", "+30.0 ± 0.0", "2"),
    }


def test_on_a_single_graph_the_winner_is_compared_with_the_papers_method_and_the_runner_up() -> (
    None
):
    reason, certainty, *_ = paragraphs(on_gentoo(GROUPS))
    assert reason == (
        "**graft** is the most accurate method on gentoo: after the last session it classifies "
        "81.0 % of nodes correctly, against 51.0 % for **hag-meta**, the paper's method, and "
        "71.0 % for **cec**, the runner-up (macro accuracy). It learns the new classes of a "
        "session and predicts all test nodes in 0.25 s, after 2.0 s of training."
    )
    assert certainty.startswith("Its lead is larger than its 95 % interval over seeds: ")
    assert "10.0 ± 0.0 points over cec on gentoo" in certainty
    assert certainty.endswith("not corrected for multiple comparisons.")
    assert paragraphs(on_gentoo(GROUPS), "li") == []


def test_the_number_of_other_methods_is_a_range_where_graphs_differ() -> None:
    groups: Groups = {**GROUPS, ("gentoo", "narrow", "strict"): [*lasts(0.3, 0.32)]}
    assert "with several seeds (2 to 3 of them by graph): the" in paragraphs(groups)[0]


def test_other_records_name_another_winner() -> None:
    groups = two_graphs(graft=[0.5, 0.52], hag_meta=[0.8, 0.82], cec=[0.4, 0.42])
    recommendation = recommend(groups)
    assert recommendation is not None
    assert recommendation.winner == "hag-meta"
    text, block, *_ = paragraphs(groups)
    assert text.startswith("On 2 of 2 graphs **hag-meta** is more accurate than every other")
    assert block == "**Where hag-meta loses, or does not win**"
    best = ("graft", "51.0", "+30.0 ± 0.0")
    # The paper's method is not compared with itself.
    assert paired_table(groups)["gentoo"] == ("81.0", *best, "–", "–", "2")
    text = paragraphs(on_gentoo(groups))[0]
    assert text.startswith("**hag-meta** is the most accurate method on gentoo")
    assert "51.0 % for **graft**, the runner-up" in text
    assert "the paper's method" not in text


def test_the_papers_method_may_be_the_best_other_method() -> None:
    groups = two_graphs(graft=[0.8, 0.82], hag_meta=[0.7, 0.72], cec=[0.4, 0.42])
    papers = ("71.0", "+10.0 ± 0.0")
    assert paired_table(groups)["gentoo"] == ("81.0", "hag-meta", *papers, *papers, "2")
    text = paragraphs(on_gentoo(groups))[0]
    assert "for **hag-meta**, the paper's method and the runner-up (" in text
    assert "cec" not in text


def test_where_another_method_leads_it_is_said() -> None:
    groups: Groups = {**GROUPS, ("debian", "cec", "strict"): [*lasts(0.75, 0.77)]}
    reason, block, *_ = paragraphs(groups)
    assert reason.startswith("On 1 of 2 graphs **graft** is more accurate")
    assert block == LOSES
    assert paragraphs(groups, "li") == [
        f"On debian **cec** is ahead: graft minus it is {MINUS}5.0 ± 0.0 points."
    ]


def test_a_lead_within_its_interval_is_not_called_significant() -> None:
    groups = two_graphs(graft=[0.8, 0.5], cec=[0.7, 0.59])
    reason, block, *_ = paragraphs(groups)
    assert reason.startswith("On 0 of 2 graphs **graft** is more accurate")
    assert block == LOSES
    # Differences of 10 and -9 points: a standard error of 9.5, times 12.706.
    assert paragraphs(groups, "li") == [
        f"On {graph} **cec** is neither clearly ahead nor clearly behind: graft minus it is "
        "+0.5 ± 120.7 points."
        for graph in ("gentoo", "debian")
    ]
    certainty = paragraphs(on_gentoo(groups))[1]
    assert certainty.startswith("Its lead is not larger than its 95 % interval over seeds: ")


def test_a_loss_within_its_interval_is_not_called_significant() -> None:
    groups: Groups = {**GROUPS, ("debian", "cec", "strict"): [*lasts(0.82, 0.65)]}
    assert paragraphs(groups, "li") == [
        "On debian **cec** is neither clearly ahead nor clearly behind: graft minus it is "
        f"{MINUS}2.5 ± 120.7 points."
    ]


def test_a_single_seed_shows_no_lead() -> None:
    groups = two_graphs(graft=[0.8], cec=[0.7])
    reason = paragraphs(groups)[0]
    assert reason.startswith("On 0 of 2 graphs **graft** is more accurate")
    assert "with several seeds (0 of them): the" in reason
    assert paragraphs(groups, "li") == [
        f"On {graph} no other method was measured with several seeds, so there is no interval; the "
        "nearest is **cec**: graft minus it is +10.0 (1 seed)."
        for graph in ("gentoo", "debian")
    ]


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
    gentoo, debian = paired_table(groups).values()
    assert gentoo == ("55.0", "cec", "45.0", "+10.0 ± 0.0", "–", "–", "2")
    assert debian == ("45.0", "cec", "35.0", "+10.0 ± 0.0", "–", "–", "2")


def test_cheaper_methods_are_named_with_what_they_lose() -> None:
    groups = two_graphs(graft=[0.8, 0.8], slow=[0.75, 0.75], quick=[0.6, 0.6])
    for graph, last in (("gentoo", 0.6), ("debian", 0.5)):
        groups[graph, "quick", "strict"] = [*lasts(last, last, seconds=0.01, kept=1_000_000)]
    where = "(means over the 2 graphs that are not held out)"
    session = f"A session of new classes: **quick** takes 0.01 s, graft 0.25 s {where}."
    size = f"Size: **quick** stores 1.0 MB, graft 2.5 MB {where}."
    loss = "It is 20.0 points less accurate."
    assert paragraphs(groups, "li") == [NO_LOSS, f"{session} {loss}", f"{size} {loss}"]
    # Behind on one graph, ahead on the other.
    groups["debian", "quick", "strict"] = [*lasts(0.75, 0.75, seconds=0.01, kept=1_000_000)]
    loss = f"It is {MINUS}5.0 to 20.0 points less accurate, by graph."
    ahead = f"On debian **quick** is ahead: graft minus it is {MINUS}5.0 ± 0.0 points."
    assert paragraphs(groups, "li") == [ahead, f"{session} {loss}", f"{size} {loss}"]


def test_a_faster_first_training_is_named() -> None:
    groups = two_graphs(graft=[0.8, 0.8], cec=[0.6, 0.6])
    for graph, last in (("gentoo", 0.6), ("debian", 0.5)):
        groups[graph, "cec", "strict"] = [*lasts(last, last, training=1.0)]
    assert paragraphs(groups, "li")[1:] == [
        "First training: **cec** takes 1.0 s, graft 2.0 s (means over the 2 graphs that are not "
        "held out). It is 20.0 points less accurate."
    ]
    assert paragraphs(on_gentoo(groups), "li") == [
        "If the first training must be faster: **cec** trains in 1.0 s (graft: 2.0 s), but is "
        "20.0 points less accurate."
    ]


def test_variants_of_one_method_are_compared_by_their_means() -> None:
    """Names without a method of their own are variants of one, which are no opponents."""
    groups = two_graphs(whole=[0.8, 0.82], half=[0.7, 0.72], quick=[0.6, 0.62])
    groups["debian", "half", "strict"] = [*lasts(0.75, 0.77)]
    for graph, last in (("gentoo", 0.6), ("debian", 0.5)):
        groups[graph, "quick", "strict"] = [*lasts(last, last + 0.02, seconds=0.01, kept=1_000_000)]
    reason, certainty, *_ = paragraphs(groups)
    assert reason.startswith("**whole** is the most accurate method on 1 of 2 graphs: after")
    assert "against 73.5 % for **half**, the runner-up (macro accuracy, mean over" in reason
    assert certainty.startswith("Each lead is larger than its 95 % interval over seeds: 10.0")
    assert paragraphs(groups, "li") == [
        "On graphs like debian: **half** is ahead by 5.0 ± 0.0 points.",
        "If a session must be learned faster: **quick** learns a session in 0.01 s (whole: "
        "0.25 s), but is 20.0 points less accurate.",
        "If the model must be smaller: **quick** stores 1.0 MB (whole: 2.5 MB), but is 20.0 points "
        "less accurate.",
    ]
    text = paragraphs(two_graphs(whole=[0.8, 0.5], half=[0.7, 0.59]))[1]
    assert text.startswith("0 of its 2 leads are larger than their 95 % interval")


def test_an_upper_reference_never_wins_and_is_named_for_scale() -> None:
    groups: Groups = {
        **GROUPS,
        ("gentoo", "joint", UPPER_REFERENCE): [*lasts(0.95, 0.95)],
        ("debian", "joint", UPPER_REFERENCE): [*lasts(0.85, 0.85)],
    }
    recommendation = recommend(groups)
    assert recommendation is not None
    assert recommendation.winner == "graft"
    # Nor is it an opponent: all is as without it.
    assert paired_table(groups) == paired_table(GROUPS)
    assert paragraphs(groups)[:2] == paragraphs(GROUPS)[:2]
    assert paragraphs(groups, "li") == [NO_LOSS]
    assert "reaches 95.0 % on gentoo." in paragraphs(on_gentoo(groups))[1]
    assert "For comparison" not in paragraphs(on_gentoo(GROUPS))[1]


def test_a_method_that_was_not_measured_everywhere_is_no_winner() -> None:
    groups: Groups = {**GROUPS, ("gentoo", "narrow", "strict"): [*lasts(0.99, 0.99)]}
    recommendation = recommend(groups)
    assert recommendation is not None
    assert recommendation.winner == "graft"
    assert paragraphs(groups)[0].startswith("On 1 of 2 graphs **graft** is more accurate")
    assert paragraphs(groups, "li") == [
        f"On gentoo **narrow** is ahead: graft minus it is {MINUS}18.0 ± 12.7 points."
    ]
    assert [row[1] for row in paired_table(groups).values()] == ["narrow", "cec"]
