"""What delegation of patterns saves, against clients that look themselves.

x: how often all steps of a pattern are published at one place.  y: messages on links
for a publication.  CU-CS-888-99 describes factoring and delegation, and measures
neither.  Factoring alone is no way of its own here: without delegation, brokers ask for
the steps of a pattern one by one, as clients do.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.claim import Answer, Claim, decided, having
from siena.research.studies.framework.intervals import Samples, between, ratio
from siena.research.studies.framework.rows import (
    Row,
    distinct,
    integer,
    number,
    where,
)
from siena.research.studies.framework.spoils import constant, each, one
from siena.research.studies.framework.study import Parameter, Size, Study, among, listed
from siena.research.studies.reporting.drawing import (
    finish,
    from_zero,
    line,
    panels,
)
from siena.research.studies.runs.patterns import PATTERNS, STEPS, look_for_patterns

TOGETHER = {
    "full": (0.0, 0.25, 0.5, 0.75, 1.0),
    "quick": (0.0, 0.5, 1.0),
    "test": (0.0, 1.0),
}
SIZES = {"full": (50, 100, 400), "quick": (20, 40, 200), "test": (8, 20, 150)}
# Less than half is worth the trouble: chosen before the first run.
WORTH = 0.5
# Less than this share is nothing at all: no message was sent.
SOME = 1e-9


def plan(size: Size, seeds: int) -> list[Row]:
    """From patterns whose steps come from anywhere to those from one place."""
    brokers, clients, publications = SIZES[size]
    return [
        {
            "brokers": brokers,
            "clients": clients,
            "publications": publications,
            "together": together,
            "seed": seed,
        }
        for together in TOGETHER[size]
        for seed in among(seeds)
    ]


def _by_seed(rows: Sequence[Row], name: str) -> Samples:
    return {integer(row, "seed"): number(row, name) for row in rows}


def _worth(rows: Sequence[Row]) -> Answer:
    own = where(rows, together=1.0)
    part = ratio(_by_seed(own, "delegated_messages"), _by_seed(own, "alone_messages"))
    words = f"{part.value:.2f} of the messages ({part.low:.2f} to {part.high:.2f})"
    return between(part, SOME, WORTH, words)


def _finds_all(rows: Sequence[Row]) -> Answer:
    other = [r for r in rows if r["delegated_which"] != r["alone_which"]]
    brokers = sum(number(row, "delegated_found") for row in rows)
    alone = sum(number(row, "alone_found") for row in rows)
    most = max(
        abs(number(row, "delegated_found") - number(row, "alone_found")) for row in rows
    )
    words = f"{brokers:,.0f} sequences, and {alone:,.0f} by clients alone"
    words += (
        f"; {len(other)} of {len(rows)} runs differ, in number by {most:.0f} at most"
    )
    return decided(not other and brokers == alone > 0, words)


_SAME = "who got which publications as a sequence, in every run: the same"
CLAIMS = (
    Claim(
        "delegated",
        "where all steps come from one place, delegation saves more than half",
        "messages with delegation over messages without, ratio of means with its 95 % "
        "interval over the seeds: at most 0.5",
        _worth,
        {
            "nothing is saved": each(
                lambda row: {"delegated_messages": row["alone_messages"]}
            ),
            "nothing is sent": constant("delegated_messages", 0),
        },
        of=having(lambda row: row["together"] == 1.0),
        about="steps from one place",
    ),
    Claim(
        "found",
        "brokers find the sequences that clients would find alone, from one place",
        _SAME,
        _finds_all,
        {
            "one run differs": one(constant("delegated_which", "others")),
            "there is none to find": each(
                lambda _: {"delegated_found": 0, "alone_found": 0}
            ),
        },
        of=having(lambda row: row["together"] == 1.0),
        about="steps from one place",
    ),
    Claim(
        "greedy",
        "the same where steps come from anywhere",
        _SAME,
        _finds_all,
        {"one run differs": one(constant("delegated_which", "others"))},
        {
            "all are found": each(
                lambda r: {
                    "delegated_which": r["alone_which"],
                    "delegated_found": r["alone_found"],
                }
            )
        },
        of=having(lambda row: number(row, "together") < 1.0),
        about="steps from several places",
        why="Greedy matching is not compositional (our specification, B.11): a broker "
        "that looks for the first steps goes on while another waits for the last, and "
        "may hand over a pair that began too early.",
        is_gating=False,
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Messages of a publication and of asking, both ways."""
    figure, (data, setup) = panels(2)
    for axes, what, per in (
        (data, "messages", "publications"),
        (setup, "setup", "clients"),
    ):
        for style, (way, title) in enumerate(
            (("alone", "clients look themselves"), ("delegated", "brokers delegate"))
        ):
            points = {
                at: ratio(
                    _by_seed(where(rows, together=at), f"{way}_{what}"),
                    _by_seed(where(rows, together=at), per),
                )
                for at in distinct(rows, "together")
            }
            line(axes, points, title, style)
        from_zero(axes)
    x = "patterns whose steps come from one place, share"
    finish(data, "Carrying", x, "messages on links for a publication")
    finish(setup, "Asking", x, "messages on links for a client")
    return figure


STUDY = Study(
    name="patterns",
    title="What delegation of patterns saves",
    paper="CU-CS-888-99, section 5.2.6; ours",
    says="Brokers take patterns apart and let those brokers look for a part that are "
    "near to what it is made of; the paper does not measure it.",
    shape="Delegation falls with locality; without it nothing changes.",
    caption="Messages on the links of a tree of brokers for each publication, and for "
    "each client that asks, against the share of patterns all of whose steps are "
    "published at one broker; with delegation, and with clients that subscribe to "
    "single events.",
    parameters=(
        Parameter("network", "spanning tree of a power law, 50 brokers", "ours"),
        Parameter("clients, publications", "100, and 400", "ours"),
        Parameter("steps from one place", f"shares {listed(TOGETHER['full'])}", "ours"),
        Parameter("patterns", f"{PATTERNS}, of {STEPS} steps, equally popular", "ours"),
        Parameter("events", "a kind for each step, equally likely", "ours"),
        Parameter("forwarding", "advertisements", "stated"),
    ),
    run=look_for_patterns,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 5, "test": 2},
    remark="The paper names factoring beside delegation. Where nothing is delegated, a "
    "broker subscribes to the steps of a pattern one by one, as the client would, and "
    "as many messages cross links: so factoring alone is not drawn.",
)
