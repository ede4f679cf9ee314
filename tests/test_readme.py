import pytest
from benchmarks.refresh_tables import BLOCK, ROOT, refreshed

PAGES = ["README.md", "results/README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_table_is_what_the_records_say(page: str) -> None:
    text = (ROOT / page).read_text()
    assert BLOCK.search(text)
    assert refreshed(text) == text
