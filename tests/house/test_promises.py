"""What the documents promise is shown by tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/guides/durability.md")


@pytest.fixture(scope="module")
def defined() -> set[str]:
    texts = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in texts for name in re.findall(r"def (test_\w+)\(", text)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_is_named_exists(document: str, defined: set[str]) -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / document).read_text()))
    assert named <= defined


def test_every_cell_of_the_table_of_promises_names_a_test() -> None:
    text = (ROOT / "docs/guides/durability.md").read_text()
    table = text.partition("| best effort |")[2].partition("\n\n")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    assert len(rows) == 11
    # Delivery at best effort reads no store.
    cells = [cell for row in rows for cell in row.split(" | ")[1:]]
    assert [c for c in cells if "`test_" not in c] == ["delivery does not read it"]
