from pathlib import Path

from benchmarks.results_table import table

REPOSITORY = Path(__file__).parents[1]


def test_the_table_of_results_is_what_the_records_say() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    _, _, rest = readme.partition("<!-- results: python benchmarks/results_table.py results -->\n")
    shown, _, _ = rest.partition("\n<!-- end of results -->")
    assert shown.strip() == table(REPOSITORY / "results")
