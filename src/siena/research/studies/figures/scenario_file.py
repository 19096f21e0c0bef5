"""What does the scenario of a file cost, in each architecture?  Built from the file.

The file's own ``servers`` line names one architecture; the study asks all four that the
papers compare, with the same network, places and times for each seed.
"""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from siena.errors import SienaError
from siena.research.scenarios.scenario import parse_scenario
from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    PARAMETERS,
)
from siena.research.studies.framework.claim import Answer, Claim, decided
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.spoils import one, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import COLOURS, finish, panels
from siena.research.studies.runs.scenario_file import cost_of_scenario

KINDS = {
    "advertising": ("advertise_cost", "unadvertise_cost"),
    "subscribing": ("subscribe_cost", "unsubscribe_cost"),
    "notifying": ("publish_cost", "notify_cost"),
}
LABELS = (
    "centralised",
    "hierarchical",
    "acyclic,\nsubscriptions",
    "acyclic,\nadvertised",
)
SITES = 100
# Longer than any scenario that people write.
CHARACTERS_MAX = 100_000


def study_of_scenario(path: Path) -> Study:
    """The study of a scenario's file; its name is the file's.

    Raises:
        SienaError: if the file cannot be read, or has faults, which are not counted.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SienaError(f"{path}: cannot be read as a scenario: {error}") from None
    if len(text) > CHARACTERS_MAX:
        raise SienaError(f"{path}: a scenario has at most {CHARACTERS_MAX} characters")
    try:
        scenario = parse_scenario(text)
    except SienaError as error:
        raise error.about(str(path)) from None
    if scenario.has_faults:
        raise SienaError(
            f"{path}: faults are simulated, and not counted",
            hint=f"siena sim run {path}",
        )

    def plan(_: Size, seeds: int) -> list[Row]:
        return [
            {"scenario": str(scenario), "architecture": name, "sites": SITES, "seed": s}
            for name in ARCHITECTURES
            for s in among(seeds)
        ]

    network = [p for p in PARAMETERS if p.name not in {"an object", "a party", "runs"}]
    return Study(
        name=path.stem,
        title=f"The scenario {path.name}",
        paper="a scenario's file",
        says="The file says who publishes and who waits; the study says what it costs.",
        shape="Four bars, as high as the cost of all messages between sites.",
        caption="Cost of all messages between 100 sites, by architecture and kind of "
        "message, for one scenario; in acyclic networks subscriptions or "
        "advertisements are forwarded.",
        parameters=(Parameter("scenario", str(scenario), path.name), *network),
        run=cost_of_scenario,
        plan=plan,
        claims=CLAIMS,
        draw=draw,
        bands="Bars are means over the seeds; whiskers span all of them.",
    )


def _same_deliveries(rows: Sequence[Row]) -> Answer:
    seeds = sorted({number(row, "seed") for row in rows})
    counts = [{row["deliveries"] for row in where(rows, seed=seed)} for seed in seeds]
    same = sum(len(each) == 1 for each in counts)
    return decided(same == len(seeds), f"for {same} of {len(seeds)} seeds")


CLAIMS = (
    Claim(
        "deliveries",
        "whatever the architecture, clients receive the same number of notifications",
        "deliveries of all architectures: equal, seed by seed",
        _same_deliveries,
        {"one delivery more": one(times("deliveries", 2))},
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """A bar for each architecture, cut by kind of message; then kind by kind."""
    figure, (whole, kinds) = panels(2)
    places = range(len(ARCHITECTURES))
    bottoms = [0.0] * len(ARCHITECTURES)
    for style, (label, columns) in enumerate(KINDS.items()):
        heights = [_mean(where(rows, architecture=a), columns) for a in ARCHITECTURES]
        colour = COLOURS[style]
        whole.bar(places, heights, bottom=bottoms, label=label, color=colour)
        beside = [place + (style - 1) * 0.28 for place in places]
        kinds.bar(beside, heights, width=0.26, label=label, color=colour)
        bottoms = [b + h for b, h in zip(bottoms, heights, strict=True)]
    for place, name in enumerate(ARCHITECTURES):
        costs = [number(row, "cost") for row in where(rows, architecture=name)]
        whole.vlines(place, min(costs), max(costs), color="#000000", linewidth=1)
    finish(whole, "All messages", "", "cost")
    finish(kinds, "Kind by kind, y logarithmic", "", "cost", log="y")
    for axes in (whole, kinds):
        axes.set_xticks(list(places), LABELS)
    return figure


def _mean(rows: Sequence[Row], columns: Sequence[str]) -> float:
    total = sum(float(row.get(name) or 0) for row in rows for name in columns)
    return total / max(1, len(rows))
