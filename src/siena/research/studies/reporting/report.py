"""One page about all studies that were run: self-contained HTML."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from gzip import compress
from html import escape
from pathlib import Path

from siena.research.studies.framework.claim import Finding, Verdict
from siena.research.studies.framework.registry import GROUPS
from siena.research.studies.framework.results import Result, read_result
from siena.research.studies.framework.store import Store
from siena.research.studies.framework.study import Study
from siena.research.studies.reporting.age import age
from siena.research.studies.reporting.summary import (
    KINDS,
    kind,
    sentence,
    short,
    tally,
)

Done = Sequence[tuple[Study, Result]]

STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5c6370; --line: #dfe3e8;
  --paper: #fff; --card: #f6f7f9; --good: #00694a; --bad: #a83a00; --open: #667;
  --link: #0059a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #a2abb8;
  --line: #343a43; --paper: #14171b; --card: #1e2329; --good: #5ed3a5; --bad: #ff9c66;
  --open: #a2abb8; --link: #7fb8f0; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.2rem 6rem;
  color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
h1 { font-size: 2rem; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; margin: 3.4rem 0 .1rem; padding-top: 1.2rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.3rem 0 .3rem; }
p { margin: .4rem 0; }
.soft { color: var(--soft); font-size: .9rem; }
.numbers { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.4rem 0; }
.numbers div { background: var(--card); border-radius: 8px; padding: .7rem 1.1rem;
  min-width: 8.5rem; }
.numbers b { display: block; font-size: 1.6rem; line-height: 1.2; }
.numbers span { color: var(--soft); font-size: .85rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .32rem .8rem .32rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
tr.group th { padding-top: 1.1rem; color: var(--soft); font-weight: 600; }
td.claim { white-space: nowrap; } td.verdict { white-space: nowrap; font-weight: 600;
  text-align: right; padding-right: 0; }
.holds { color: var(--good); } .differs { color: var(--bad); }
.open, .undecided { color: var(--open); }
figure { margin: 1rem 0; background: #fff; border: 1px solid var(--line);
  border-radius: 8px; padding: .8rem; }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption { color: #555; font-size: .9rem; padding-top: .5rem; }
.verdict-line { background: var(--card); border-left: 4px solid; border-radius: 4px;
  padding: .5rem .9rem; margin: .8rem 0; }
.verdict-line.holds { border-color: var(--good); }
.verdict-line.differs { border-color: var(--bad); }
.verdict-line.open, .verdict-line.undecided { border-color: var(--open); }
.verdict-line span { color: var(--ink); }
code { font: .88em ui-monospace, monospace; background: var(--card);
  padding: .1em .35em; border-radius: 3px; }
details { margin-top: .6rem; }
details summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
@media (max-width: 40rem) { td.paper, th.paper { display: none; } }
@media print { h2 { break-before: page; } }
"""

INTRODUCTION = (
    "<p>The figures and claims of the papers on content-based networking, computed by "
    "the code that runs in brokers, beside what they say. A claim <em>holds</em>; it "
    "<em>differs</em>, and then it is said why; it is <em>not decided</em> by these "
    "runs; or the paper <em>leaves open</em> what would decide it. All claims are "
    "shown and counted; those that are <em>not gating</em> fail no run. Each says how "
    "it was tested, on which rows, and of how many seeds; they "
    "are beside the figure.</p>"
)


def page(studies: Iterable[Study], store: Store) -> str:
    """The report of all studies that have been run; others are only named."""
    done: list[tuple[Study, Result]] = []
    waiting: list[Study] = []
    for study in studies:
        result = read_result(study.name, store)
        if result is None:
            waiting.append(study)
        else:
            done.append((study, result))
    body = [
        "<h1>Siena: the studies</h1>",
        INTRODUCTION,
        _numbers(done),
        _contents(done),
        *(_section(study, result, store) for study, result in done),
    ]
    if waiting:
        names = ", ".join(f"<code>{escape(study.name)}</code>" for study in waiting)
        body.append(f"<h2>Not run yet</h2><p>{names}</p>")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Siena: the studies</title><style>{STYLE}</style></head>\n"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _numbers(done: Done) -> str:
    findings = [finding for _, result in done for finding in result.findings]
    counts = tally(findings)
    numbers = {
        "studies": len(done),
        "claims hold": counts[Verdict.HOLDS],
        "differ": counts[Verdict.DIFFERS],
        "not decided": counts[Verdict.UNDECIDED],
        "left open": counts[Verdict.OPEN],
        "runs": sum(result.rows for _, result in done),
    }
    boxes = "".join(
        f"<div><b>{number:,}</b><span>{words}</span></div>"
        for words, number in numbers.items()
    )
    return f'<div class="numbers">{boxes}</div>'


def _contents(done: Done) -> str:
    known = {study.name: (study, result) for study, result in done}
    lines = []
    for group, names in GROUPS.items():
        own = [known.pop(name) for name in names if name in known]
        if own:
            lines.append(f'<tr class="group"><th colspan="4">{escape(group)}</th></tr>')
            lines += [_line(study, result) for study, result in own]
    lines += [_line(study, result) for study, result in known.values()]
    return (
        '<table id="contents"><thead><tr><th>study</th><th>question</th>'
        '<th class="paper">paper</th><th></th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _line(study: Study, result: Result) -> str:
    name = escape(study.name)
    return (
        f'<tr><td><a href="#{name}">{name}</a></td><td>{escape(study.title)}</td>'
        f'<td class="paper soft">{escape(study.paper)}</td>'
        f'<td class="verdict {kind(result.findings)}">'
        f"{escape(short(result.findings))}</td></tr>"
    )


def _section(study: Study, result: Result, store: Store) -> str:
    picture = b64encode((store.of(study.name) / "figure.svg").read_bytes()).decode()
    remark = f"<h3>Why, and what to know</h3><p>{escape(study.remark)}</p>"
    parameters = "".join(
        f"<tr><td>{escape(p.name)}</td><td>{escape(p.value)}</td>"
        f"<td>{escape(p.source)}</td></tr>"
        for p in study.parameters
    )
    folder = store.of(study.name)
    return (
        f'<section id="{study.name}"><h2>{escape(study.title)}</h2>'
        f'<p class="soft"><a href="#contents">{escape(study.name)}</a> · '
        f"{escape(study.paper)}</p>"
        f"<h3>What {'is expected' if study.paper == 'ours' else 'the paper says'}</h3>"
        f"<p>{escape(study.says)}</p>"
        f'<figure><img alt="{escape(study.title)}: {escape(study.shape)}" '
        f'src="data:image/svg+xml;base64,{picture}">'
        f"<figcaption>{escape(caption(study, result))} {_data(study, folder)}"
        "</figcaption></figure>"
        f"<p>Expected: {escape(study.shape)}</p>"
        f'<h3>What we found</h3><p class="verdict-line {kind(result.findings)}">'
        f"<span>{escape(sentence(result.findings))}</span></p>"
        f"{_findings(study, result.findings)}"
        f"{remark if study.remark else ''}{_colophon(study, result)}"
        "<details><summary>Parameters</summary>"
        "<table><thead><tr><th>parameter</th><th>value</th><th>source</th></tr></thead>"
        f"<tbody>{parameters}</tbody></table></details></section>"
    )


def caption(study: Study, result: Result) -> str:
    """What the figure shows, for a reader who sees nothing else of the report."""
    seeds = study.seeds_in_words(result.seeds)
    return (
        f"{study.title} ({study.paper}). {study.caption} {study.bands} "
        f"{result.rows:,} rows, {seeds}."
    )


def _data(study: Study, folder: Path) -> str:
    """The rows themselves, within the page."""
    text = compress((folder / "rows.csv").read_bytes(), mtime=0)
    rows = b64encode(text).decode()
    return (
        f'<a id="{study.name}-rows" download="{study.name}.csv.gz" '
        f'href="data:application/gzip;base64,{rows}">The rows (CSV)</a>'
    )


def _findings(study: Study, findings: Iterable[Finding]) -> str:
    lines = []
    for f in findings:
        note = "" if f.is_gating else ' <span class="soft">(not gating)</span>'
        why = f"<p>{escape(f.why)}</p>" if f.why else ""
        columns = f", <code>{escape(f.columns)}</code>" if f.columns else ""
        lines.append(
            f'<tr><td class="claim">{escape(f.claim)}</td>'
            f"<td>{escape(f.says)}{note}"
            f'<p class="soft">Test: {escape(f.test)}.<br>Data: '
            f'<a href="#{study.name}-rows">{escape(f.data)}</a>'
            f"{columns}.</p></td>"
            f"<td>{escape(f.found)}{why}</td>"
            f'<td class="verdict {KINDS[f.verdict]}">{escape(f.verdict)}</td></tr>'
        )
    return (
        "<table><thead><tr><th></th><th>claim</th><th>found</th><th></th></tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _colophon(study: Study, result: Result) -> str:
    timed = " Times are of this machine." if study.is_timed else ""
    seeds = f"{result.seeds} seed{'' if result.seeds == 1 else 's'}"
    return (
        f'<p class="soft">{result.rows:,} rows, {seeds}, size {escape(result.size)}, '
        f"{result.seconds:,.0f} s of computing in all, on {escape(result.machine)}."
        f"{timed} Siena {escape(result.version)}, code "
        f"<code>{escape(result.code)}</code>. Run it again: "
        f"<code>{escape(result.command)}</code>. {escape(age(study, result))}</p>"
    )
