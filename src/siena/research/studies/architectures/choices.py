"""What the papers leave open: would figures 26 to 31 look different?

Each column is another choice: the tree that brokers are joined by, the root of the
hierarchy, what links cost, how long messages take, how many sites there are.  Each
line is a claim of the papers, checked as it is for the figures.  Right: how much more
the hierarchy costs than the acyclic network in all, and how much less for a lone
party's subscription.
"""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.figures import fig26, fig27, fig28, fig29
from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    EVERY_CASE,
    PAPER,
    PARAMETERS,
    Case,
    against,
    cases,
    swapped,
    with_cost_per,
)
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    Spoil,
    Verdict,
    decided,
    having,
    undecided,
)
from siena.research.studies.framework.intervals import (
    Interval,
    all_below,
    all_between,
    ratio,
)
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.spoils import constant, each, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import COLOURS, finish, table_of_verdicts
from siena.research.studies.runs.architectures import DEFAULTS, parameters
from siena.research.studies.runs.choices import decide as run_choice

# What is decided otherwise; nothing, at first.
BASE = "as in the figures"
CHOICES: dict[str, dict[str, str | int]] = {
    BASE: {},
    "shortest paths": {"tree": "shortest"},
    "root at the centre": {"root": "centre"},
    "root anywhere": {"root": "anywhere"},
    "equal link costs": {"costs": "equal"},
    "latency 1": {"latency": 1},
    "latency 100": {"latency": 100},
    "500 sites": {"sites": 500},
    "1,000 sites": {"sites": 1000},
}
WHY_LATE = (
    "While an advertisement is on its way, subscriptions are not forwarded to its "
    "object, and go again when it comes."
)
WHY_APART = (
    "A subscription goes only where objects have advertised, and not to the whole "
    "tree: with few parties that saves the more, the larger the tree is. "
    "Advertisements are told to the whole tree, which may cost more than that saves."
)
WHY_LARGE = (
    "What many parties want crosses most of the tree, which grows with the sites; what "
    "nobody wants goes to the root, and ways there grow less. So as costs a larger "
    "share of hs with 1,000 parties than F29d says."
)
# Why claims of the figures come out otherwise, where they do.
WHY = {
    "shortest paths": "F27e compares how much aa and as vary from run to run: they "
    "vary much alike, and a few cases decide.",
    "equal link costs": "Where all links cost the same, the way to the root is "
    "cheaper, and with it all that a hierarchy pays for what nobody wants: with 1,000 "
    "parties as costs a larger share of it than F29d says.",
    "latency 1": WHY_LATE,
    "latency 100": WHY_LATE,
    "500 sites": WHY_LARGE,
    "1,000 sites": WHY_LARGE,
}
OBJECTS = {"full": (1, 10, 1000), "quick": (1, 10), "test": (1, 10)}
PARTIES = {"full": (1, 10, 100, 1000), "quick": (1, 10, 100, 1000), "test": (1, 100)}
# Where every message is exchanged: of so many objects the numbers of parties.
EXCHANGED: dict[Size, dict[int, tuple[int, ...]]] = {
    "full": {1: PARTIES["full"], 10: PARTIES["full"], 100: (1, 10)},
    "quick": {1: (1, 10, 100), 10: (1, 10, 100)},
    "test": dict.fromkeys(OBJECTS["test"], PARTIES["test"]),
}
PARTIES_IN_WORDS = "1, 10, 100, 1,000; with latency and 100 objects 1, 10"
WORST = (Verdict.DIFFERS, Verdict.UNDECIDED, Verdict.OPEN, Verdict.HOLDS)
TINY = (BASE, "latency 100")


def plan(size: Size, seeds: int) -> list[Row]:
    """All choices, one at a time."""
    return [
        {
            **parameters(name, objects, parties, seed, **_known(choice)),
            "choice": words,
            "latency": choice.get("latency", 0),
        }
        for words, choice in CHOICES.items()
        if size != "test" or words in TINY
        for objects, parties in _cases(size, choice)
        for name in ARCHITECTURES
        # The centre is one broker: nothing in it takes time.
        if not ("latency" in choice and name == "ce")
        for seed in among(seeds)
    ]


def _cases(size: Size, choice: dict[str, str | int]) -> list[tuple[int, int]]:
    """Objects and parties."""
    oracle = dict.fromkeys(OBJECTS[size], PARTIES[size])
    sizes = EXCHANGED[size] if "latency" in choice else oracle
    return [(objects, n) for objects, parties in sizes.items() for n in parties]


def _known(choice: dict[str, str | int]) -> dict[str, str | int]:
    return {name: value for name, value in choice.items() if name in DEFAULTS}


# --- Claims ---------------------------------------------------------------------


def verdicts(rows: Sequence[Row], choice: str) -> dict[str, Verdict]:
    """What becomes of the claims of figures 26 to 29, with another choice.

    Of claims with one name, the one that stands worst counts.
    """
    own = where(rows, choice=choice)
    # Figure 27 has no centralised service, and its claims are not about it.
    peers = [row for row in own if row["architecture"] != "ce"]
    asked = [(claim, peers) for claim in fig27.STUDY.claims]
    if len(peers) < len(own):
        figures = (fig26, fig28, fig29)
        asked += [(claim, own) for of in figures for claim in of.STUDY.claims]
    found: dict[str, list[Verdict]] = {}
    for claim, about in asked:
        # F27b is about more parties than there are here.
        if claim.of(about):
            found.setdefault(claim.name, []).append(claim.finding(about).verdict)
    return {name: min(all_, key=WORST.index) for name, all_ in found.items()}


def known_choices(rows: Sequence[Row]) -> list[str]:
    """Those that there are runs of."""
    there = {row["choice"] for row in rows}
    return [choice for choice in CHOICES if choice in there]


def largest(rows: Sequence[Row]) -> list[Row]:
    """Of every choice the rows with the most objects and then the most parties."""
    found = []
    for choice in known_choices(rows):
        own = where(rows, choice=choice)
        for column in ("objects", "parties"):
            most = max(number(row, column) for row in own)
            own = [row for row in own if number(row, column) == most]
        found += [row for row in own if row["architecture"] != "aa"]
    return found


def _order(rows: Sequence[Row]) -> Answer:
    """With many parties and objects."""
    margins = {}
    for choice in known_choices(rows):
        known = cases(where(largest(rows), choice=choice))
        most = next(iter(known))._replace(architecture="as")
        hs, ce = (most._replace(architecture=name) for name in ("hs", "ce"))
        margins[f"{choice}: as, hs"] = ratio(known[most], known[hs])
        if ce in known and most.parties >= 1000:
            margins[f"{choice}: hs, ce"] = ratio(known[hs], known[ce])
    return all_below(margins)


def lone(rows: Sequence[Row], choice: str) -> Interval:
    """A lone party's subscription: its cost in hs over that in as."""
    own = where(rows, choice=choice, parties=1, objects=1)
    known = cases(with_cost_per(own, "subscription_cost", "subscriptions"), "each")
    return ratio(known[Case("hs", 1, 1)], known[Case("as", 1, 1)])


def _lone_party(rows: Sequence[Row]) -> Answer:
    return all_below({c: lone(rows, c) for c in known_choices(rows)}, 0.5)


def advertising(rows: Sequence[Row], choice: str) -> dict[str, Interval]:
    """What aa costs over what as does, in every case."""
    known = cases(where(rows, choice=choice))
    return {str(case): share for case, share in against(known, ("aa",), "as").items()}


def _alike(choice: str) -> Decide:
    """Whether forwarding advertisements costs what forwarding subscriptions does."""
    return lambda rows: all_between(advertising(rows, choice), 0.9, 1.1)


def _same(choice: str) -> Decide:
    """Whether the claims come out as with our choices, where both are decided."""

    def decide(rows: Sequence[Row]) -> Answer:
        base, column = (verdicts(rows, c) for c in (BASE, choice))
        both = [base, column]
        tried = [c for c in column if all(c in of for of in both)]
        open_ = sorted(c for c in tried if Verdict.UNDECIDED in {of[c] for of in both})
        tried = [c for c in tried if c not in open_]
        other = sorted(c for c in tried if column[c] != base[c])
        words = f"{len(tried) - len(other)} of {len(tried)} claims; otherwise: "
        words += ", ".join(other) or "none"
        if open_:
            words += f"; not decided with this choice or ours: {', '.join(open_)}"
        return decided(not other, words) if tried else undecided(words)

    return decide


def _of(choice: str) -> Select:
    return lambda rows: [r for r in rows if r["choice"] in {BASE, choice}]


def _pair_of(choice: str) -> Select:
    return lambda rows: [
        row for row in where(rows, choice=choice) if row["architecture"] in {"as", "aa"}
    ]


def _is(choice: str) -> Callable[[Row], bool]:
    return lambda row: row["choice"] == choice


def _costs_by_kind(column: str, names: Sequence[str]) -> Spoil:
    """Architectures of which each costs ten times what the one before does."""
    return each(lambda row: {column: 10.0 ** names.index(str(row["architecture"]))})


def _with_base(choice: str) -> Spoil:
    """The runs of a choice are those of ours."""

    def mended(rows: Sequence[Row]) -> list[Row]:
        ours = where(rows, choice=BASE)
        return [*ours, *({**row, "choice": choice} for row in ours)]

    return mended


CLAIMS = (
    Claim(
        "order",
        "most objects and parties: as costs less than hs, and hs less than ce",
        EVERY_CASE,
        _order,
        {
            "all cost the same": constant("cost", 1.0),
            "they change": swapped("as", "hs"),
        },
        {"each costs ten times the last": _costs_by_kind("cost", ("as", "hs", "ce"))},
        of=largest,
        about="every choice, the most objects and parties",
    ),
    Claim(
        "lone",
        "one party: a subscription costs twice as much in as than in hs, or more",
        EVERY_CASE,
        _lone_party,
        {"both cost the same": constant("subscription_cost", 7.0)},
        {"as ten times hs": _costs_by_kind("subscription_cost", ("hs", "as"))},
        of=having(
            lambda row: (
                row["objects"] == row["parties"] == 1
                and row["architecture"] in {"as", "hs"}
            )
        ),
        about="every choice, one object and one party",
    ),
    *(
        Claim(
            "aa/as",
            f"{choice}: aa costs what as does, within 10 %, for any objects and "
            f"parties",
            "ratio of means in every case, with its 95 % interval: within 10 % of 1",
            _alike(choice),
            {
                "aa costs twice": only(
                    lambda r: r["architecture"] == "aa", times("cost", 2)
                )
            },
            {"all cost the same": constant("cost", 1.0)},
            of=_pair_of(choice),
            about=f"aa against as, {choice}",
            why=WHY_LATE if "latency" in known else WHY_APART,
            is_gating=False,
        )
        for choice, known in CHOICES.items()
        if "root" not in known  # of acyclic peers, which have none, it asks nothing
    ),
    *(
        Claim(
            "choice",
            f"{choice}: claims of figures 26 to 29 come out as in the figures",
            "every claim, decided as for its figure, on runs with this choice and with "
            "ours, where both decide it",
            _same(choice),
            {"all cost the same": only(_is(choice), constant("cost", 1.0))},
            {"it is our choice": _with_base(choice)},
            of=_of(choice),
            about=f"{choice}, and as in the figures",
            why=WHY.get(choice, ""),
            is_gating=False,
        )
        for choice in CHOICES
        if choice != BASE
    ),
)


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Claims by choices, and three ratios."""
    figure = Figure(figsize=(12.6, 8.2), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=(1.6, 1))
    known = known_choices(rows)
    table = figure.add_subplot(grid[0, :])
    table_of_verdicts(table, {choice: verdicts(rows, choice) for choice in known})
    in_all, alone, advertised = (figure.add_subplot(grid[1, i]) for i in range(3))
    middle = Case("hs", 10, 100)
    costs = {choice: cases(where(rows, choice=choice)) for choice in known}
    ratios = {
        choice: ratio(own[middle], own[middle._replace(architecture="as")])
        for choice, own in costs.items()
    }
    _bars(in_all, ratios)
    finish(in_all, "10 objects, 100 parties", "total cost, hs / as", "")
    _bars(alone, {choice: lone(rows, choice) for choice in known})
    finish(alone, "A lone party", "cost of a subscription, hs / as", "")
    shares = {choice: advertising(rows, choice).values() for choice in known}
    worst = {
        choice: max(own, key=lambda s: abs(s.value - 1))
        for choice, own in shares.items()
    }
    _bars(advertised, worst)
    finish(advertised, "Farthest from 1, in any case", "total cost, aa / as", "")
    advertised.axvline(1, color="#000000", linewidth=0.8)
    return figure


def _bars(axes: Axes, values: dict[str, Interval]) -> None:
    means = [each.value for each in values.values()]
    ends = [
        [each.value - each.low for each in values.values()],
        [each.high - each.value for each in values.values()],
    ]
    axes.barh(list(values), means, xerr=ends, color=COLOURS[0], height=0.6)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


STUDY = Study(
    name="choices",
    title="What the papers leave open, decided otherwise",
    paper=f"{PAPER}, figures 26 to 29 and 31; ours",
    says="The paper does not say which trees join its servers, where the root is, what "
    "links cost, or how long messages take; it mentions 500 and 1,000 sites.",
    shape="Most squares say what the first column says; the bars point the same way.",
    caption="Above: what becomes of the claims of figures 26 to 29 (rows) where "
    "something that the paper leaves open is decided otherwise (columns). Below: total "
    "cost of the hierarchy over that of the acyclic network; a lone party's "
    "subscription, likewise; and the cost of forwarding advertisements over that of "
    "forwarding subscriptions, in the case where it is farthest from 1.",
    parameters=(
        Parameter("objects", "1, 10, 1,000; with latency 1, 10, 100", "stated; ours"),
        Parameter("parties", PARTIES_IN_WORDS, "stated; ours"),
        Parameter("latency", "of a link, in units of the scenario", "ours"),
        Parameter("larger networks", "5 and 10 transit domains of 100 sites", "ours"),
        *PARAMETERS,
    ),
    run=run_choice,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 10, "quick": 3, "test": 1},
    bands="Bars are means over the seeds, lines on them 95 % bootstrap intervals.",
    remark="Claims are asked of fewer numbers of parties than in the figures: F27b is "
    "about 10,000, and the first column may decide what a figure does not. With "
    "latency, routers exchange every message. aa and as know no root.",
)
