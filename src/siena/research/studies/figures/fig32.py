"""Figure 32 of CU-CS-888-99: cost of a notification.

x: interested parties.  y: the cost of all notifications, divided by their number; one
object.  The hierarchy sends every one of them to the root; that is the bracket between
the curves, whatever the parties do.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`, but for 100
publications a cycle.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    PARAMETERS,
    PARTIES,
    costs,
    draw_architectures,
    with_cost_per,
)
from siena.research.studies.framework.drawing import finish, panels
from siena.research.studies.framework.rows import Row, number
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
)
from siena.research.studies.runs.architectures import parameters, simulate

PUBLICATIONS = 100
PARTIES_MAX = 1000
# Of 1,000 notifications every party waits for 100.
IGNORED = 0.9


def plan(size: Size, seeds: int) -> list[Row]:
    """Both architectures, with ten times as many publications as anybody waits for."""
    return [
        parameters(name, 1, parties, seed, publications=PUBLICATIONS)
        for parties in PARTIES[size]
        if parties <= PARTIES_MAX
        for name in ("hs", "as")
        for seed in among(seeds)
    ]


def check(rows: Sequence[Row]) -> list[Finding]:
    """F32a and F32b."""
    each = with_cost_per(rows, "notification_cost", "publications_made")
    found = costs(each, value="each")
    gaps = {p: found["hs"][p] - found["as"][p] for p in found["hs"]}
    low, high = min(gaps.values()), max(gaps.values())
    ways = [number(row, "object_way") for row in rows]
    expected = IGNORED * sum(ways) / len(ways)
    away = max(abs(gap / expected - 1) for gap in gaps.values())
    return [
        Finding(
            "F32a",
            "hs costs more than as by the same for any parties (max/min < 1.3)",
            low > 0 and high / low < 1.3,
            f"by {low:.1f} to {high:.1f}",
        ),
        Finding(
            "F32b",
            "that is what ignored notifications cost on the way to the root, "
            "within 15 %",
            away < 0.15,
            f"{expected:.1f}; {away:.1%} away at most",
        ),
    ]


def draw(rows: Sequence[Row]) -> Figure:
    """Two curves."""
    each = with_cost_per(rows, "notification_cost", "publications_made")
    figure, (axes,) = panels(1)
    draw_architectures(axes, costs(each, value="each"))
    x, y = "interested parties", "cost per notification"
    finish(axes, "One object, 9 of 10 notifications ignored", x, y, log="x")
    axes.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="fig32",
    title="Cost of a notification",
    paper=f"{PAPER}, figure 32",
    says="The hierarchy pays more for each notification, by an amount that does not "
    "depend on the parties.",
    shape="Two parallel rising curves, hs above as.",
    parameters=(
        Parameter("objects", "1, with 100 publications a cycle", "ours, see below"),
        *PARAMETERS,
    ),
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 10, "quick": 10, "test": 1},
    remark="With the reference scenario and one object, exactly as many notifications "
    "are produced as are consumed, none is ignored, and there is no bracket. So there "
    "are ten times as many here.",
)
