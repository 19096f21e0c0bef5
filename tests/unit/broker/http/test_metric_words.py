"""Metrics are called by words of the glossary, or by words that everybody knows."""

import re

import pytest

from repository import ROOT
from siena.broker.metric_help import HELP

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
# What needs no row: plain English, units, and what the paragraph below the table says.
PLAIN = {
    *("build", "connections", "deliveries", "duplicates", "publishers", "readers"),
    *("again", "acknowledged", "behind", "dead", "delivered", "dropped", "failed"),
    *("forwarded", "found", "held", "longest", "lost", "matches", "now", "received"),
    *("refused", "rejected", "retried", "unassured", "up", "wanted", "under", "way"),
    *(
        "unreadable",
        "in",
        "out",
        "bytes",
        "seconds",
        "us",
        "logins",
        "queue",
        "durable",
    ),
}


def rows() -> set[str]:
    """The words of the glossary."""
    return set(re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY, re.MULTILINE))


@pytest.mark.parametrize("name", HELP)
def test_the_words_of_a_metric_are_in_the_glossary(name: str) -> None:
    known = rows()
    for word in name.split("_"):
        is_row = word in known or word.removesuffix("s") in known
        assert is_row or word in PLAIN, f"{word} of {name} has no row in glossary.md"


def test_a_word_is_not_plain_and_explained() -> None:
    """Then its row would not be missed."""
    known = rows()
    for name in HELP:
        for word in {*name.split("_")} & PLAIN:
            assert word not in known
            assert word.removesuffix("s") not in known
