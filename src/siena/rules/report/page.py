"""The page of a review."""

from collections.abc import Iterable
from html import escape

from siena.model import Notification
from siena.rules.report.graph import draw
from siena.rules.review import Finding, FindingKind, Review
from siena.rules.review.findings import PARTS_SHOWN

# Findings of one kind that are written out; --json has them all.
FINDINGS_SHOWN = 500
# A filter, or an event, that is shown.
TEXT_CHARACTERS_MAX = 1_200

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5c6678; --line: #e3e7ee;
  --paper: #fcfcfa; --card: #ffffff; --accent: #2f6f8f; --warn: #b4552d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --soft: #a3abb9;
  --line: #343b47; --paper: #171a20; --card: #1f242c; --accent: #6cb2d4;
  --warn: #e08a5f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2.4rem 1.4rem 4rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .3rem; }
p { margin: .4rem 0 .9rem; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
  gap: .9rem; margin: 1.6rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: .8rem 1rem; }
.card b { display: block; font-size: 1.7rem; line-height: 1.2; }
.card span { color: var(--soft); font-size: .9rem; }
.card.bad b { color: var(--warn); }
details { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  margin: .5rem 0; padding: .5rem .9rem; }
summary { cursor: pointer; } summary b { font-weight: 600; }
.id { color: var(--soft); font-size: .82rem; overflow-wrap: anywhere; }
code, pre { font: .84rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; }
ul { margin: .3rem 0 .6rem; padding-left: 1.2rem; } dt { color: var(--soft); }
dd { margin: 0 0 .5rem; }
figure { margin: .6rem 0 0; overflow-x: auto; }
svg { width: 100%; height: auto; display: block; }
svg text { font: 12.5px system-ui, sans-serif; fill: var(--ink); }
svg .box { fill: var(--card); stroke: var(--line); stroke-width: 1.4; }
svg .link { fill: none; stroke: var(--accent); stroke-width: 1.4; opacity: .8; }
svg .head { fill: var(--accent); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem;
  font-size: .88rem; color: var(--soft); }
"""

_ABOUT = {
    FindingKind.UNREADABLE: "These are no rules that can be read.",
    FindingKind.DEAD: "Nothing at all satisfies these rules.",
    FindingKind.EQUAL: "These rules fire at exactly the same events.",
    FindingKind.SHADOWED: "Wherever these rules fire, another one does, or several "
    "together do.",
    FindingKind.OVERLAPS: "These rules have an event in common.",
    FindingKind.RESIDUAL: "Filters cannot say all of these rules: the residual decides "
    "what their filters let through. They cover others only where these ask the same.",
    FindingKind.UNDECIDED: "Whether others cover these was not decided within the "
    "allowed work.",
}


def review_page(review: Review, what: str, footer: str = "") -> str:
    """The report of a review of the rules in ``what``."""
    titles = {entry.id: entry.title or entry.id for entry in review.entries}
    names = [titles[rule_id] for rule_id in review.names]
    body = [
        f"<h1>{len(review.entries):,} rules, reviewed</h1>",
        f'<p class="soft">{escape(what)}</p>',
        _cards(review),
        _graph(review, names),
        *(_section(review, kind, titles) for kind in FindingKind),
        f"<footer>{escape(footer)}</footer>" if footer else "",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Rules, reviewed</title><style>{STYLE}</style></head>\n"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _cards(review: Review) -> str:
    counts = review.counts()
    shown = [("rules", len(review.entries), False)]
    shown += [
        (kind, counts[kind], kind in {"unreadable", "dead", "equal", "shadowed"})
        for kind in counts
        if counts[kind] or kind in {"dead", "equal", "shadowed"}
    ]
    shown.append(("fire alone at some event", review.needed, False))
    cards = "".join(
        f'<div class="card{" bad" if is_bad and count else ""}"><b>{count:,}</b>'
        f"<span>{escape(label)}</span></div>"
        for label, count, is_bad in shown
    )
    return f'<div class="cards">{cards}</div>'


def _graph(review: Review, names: list[str]) -> str:
    if not review.pairs:
        return ""
    drawing = draw(names, review.pairs)
    text = (
        "An arrow goes from a rule to one that it covers; rules that select the same "
        "share a box."
    )
    if drawing.drawn < drawing.boxes:
        text += f" The largest groups: {drawing.drawn} of {drawing.boxes} boxes."
    return (
        f"<h2>Who covers whom</h2><p class='soft'>{text}</p>"
        f"<figure>{drawing.svg}</figure>"
    )


def _section(review: Review, kind: FindingKind, titles: dict[str, str]) -> str:
    found = [f for f in review.findings if f.kind is kind]
    if not found:
        return ""
    names = review.names
    shown = "".join(_finding(f, titles, names) for f in found[:FINDINGS_SHOWN])
    more = len(found) - FINDINGS_SHOWN
    rest = f"<p class='soft'>… and {more:,} more.</p>" if more > 0 else ""
    title = f"{kind.value.capitalize()}: {len(found):,}"
    return f"<h2>{title}</h2><p class='soft'>{_ABOUT[kind]}</p>{shown}{rest}"


def _finding(finding: Finding, titles: dict[str, str], names: list[str]) -> str:
    by = " and ".join(f"<b>{escape(titles[i])}</b>" for i in finding.others)
    joint = {
        FindingKind.SHADOWED: " is covered by ",
        FindingKind.EQUAL: " is the same as ",
        FindingKind.OVERLAPS: " overlaps ",
    }.get(finding.kind, "")
    title = titles.get(finding.rule, finding.rule)
    parts = [f'<div class="id">{escape(finding.rule)}</div>']
    parts += [f'<div class="id">← {escape(i)}</div>' for i in finding.others]
    if finding.text:
        parts.append(f"<pre>{_cut(finding.text)}</pre>")
    parts.append(_events(finding))
    parts.append(_proof(finding, names))
    return (
        f"<details><summary><b>{escape(title)}</b>{joint}{by}</summary>"
        f"{''.join(parts)}</details>"
    )


def _events(finding: Finding) -> str:
    events: Iterable[tuple[str, Notification | None]] = (
        ("All of them fire at", finding.example),
        ("Only the wider one fires at", finding.difference),
    )
    rows = "".join(
        f"<dt>{label}</dt><dd><code>{_cut(str(event))}</code></dd>"
        for label, event in events
        if event is not None
    )
    return f"<dl>{rows}</dl>" if rows else ""


def _proof(finding: Finding, names: list[str]) -> str:
    if not finding.proof:
        return ""
    rows = []
    for part in finding.proof[:PARTS_SHOWN]:
        reasons = "".join(
            f"<li><code>{_cut(r.subject)}</code> {_cut(r.because)}</li>"
            for r in part.reasons()
        )
        who = ", ".join(dict.fromkeys(names[number] for number, _ in part.by))
        rows.append(
            f"<dt>Its filter <code>{_cut(str(part.filter))}</code>, by "
            f"{escape(who)}</dt><dd><ul>{reasons}</ul></dd>"
        )
    more = len(finding.proof) - PARTS_SHOWN
    rest = f"<p class='soft'>… and {more:,} more filters.</p>" if more > 0 else ""
    return f"<dl>{''.join(rows)}</dl>{rest}"


def _cut(text: str) -> str:
    if len(text) > TEXT_CHARACTERS_MAX:
        text = text[:TEXT_CHARACTERS_MAX] + " …"
    return escape(text)
