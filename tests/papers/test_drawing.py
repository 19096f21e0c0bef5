"""What is drawn is seen: nothing lies on an edge, and no share is above all."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes

from siena.research.studies.claims import cbcb
from siena.research.studies.covering import changes
from siena.research.studies.framework.results import read_parquet
from siena.research.studies.reporting.drawing import EDGE, from_zero, line, panels

DATA = Path(__file__).parents[2] / "docs" / "studies" / "data"


@pytest.mark.parametrize(
    ("values", "begins_below"),
    [((0.0, 1.0, 50.0), True), ((0.5, 50.0, 50.0), True), ((30.0, 40.0, 50.0), False)],
    ids=["0", "nearly 0", "well above"],
)
def test_marks_at_the_edges_are_whole(
    values: tuple[float, ...], *, begins_below: bool
) -> None:
    _, (axes,) = panels(1)
    line(axes, dict(enumerate(values)), "all", 0)
    from_zero(axes)
    low, high = axes.get_ylim()
    assert (low < 0) == begins_below
    assert min(values) - low >= EDGE * high * 0.99
    assert high - max(values) >= EDGE * high


def test_no_share_is_above_all() -> None:
    figure = cbcb.draw(read_parquet(DATA / "cbcb.parquet"))
    for axes in figure.axes:
        if "%" in axes.get_ylabel():
            assert axes.dataLim.y1 <= 100, axes.get_title()


def test_runs_are_laid_beside_each_other_that_have_the_same_faults() -> None:
    """With the pairwise rule fewer changes go before, and other links break."""
    figure = changes.draw(read_parquet(DATA / "changes.parquet"))
    words = {word for axes in figure.axes for word in legend(axes)}
    assert words == {"no covering", "exact covering"}


def legend(axes: Axes) -> list[str]:
    found = axes.get_legend()
    return [text.get_text() for text in found.get_texts()] if found else []
