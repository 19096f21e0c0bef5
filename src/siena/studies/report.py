"""One page about all studies that were run: self-contained HTML."""

from base64 import b64encode
from collections.abc import Iterable
from html import escape

from siena.studies.results import Result, read_result
from siena.studies.store import Store
from siena.studies.study import Finding, Study

STYLE = """
:root { --ink: #1a1a1a; --soft: #666; --line: #e2e2e2; --paper: #fff; --good: #00734f;
  --bad: #b03a00; --open: #777; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.2rem 6rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; margin: 3.2rem 0 .2rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.3rem 0 .3rem; }
p { margin: .4rem 0; }
.soft { color: var(--soft); font-size: .9rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td.verdict { white-space: nowrap; font-weight: 600; }
.holds { color: var(--good); } .differs { color: var(--bad); }
.open { color: var(--open); }
figure { margin: 1rem 0; } figure img { width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .9rem; }
code { font: .9em ui-monospace, monospace; background: #f5f5f5; padding: .1em .35em;
  border-radius: 3px; }
details summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
@media print { h2 { break-before: page; } }
"""


INTRODUCTION = (
    "<p>The figures and claims of the papers, computed by the code that runs in "
    "brokers, beside what the papers say.</p>"
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
        _overview(done),
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


def _overview(done: list[tuple[Study, Result]]) -> str:
    lines = []
    for study, result in done:
        holds = sum(f.holds is True for f in result.findings)
        tried = sum(f.holds is not None for f in result.findings)
        failed = len(result.failures)
        word, kind = ("differs", "differs") if failed else ("agrees", "holds")
        if not tried:
            word, kind = "not tried", "open"
        lines.append(
            f'<tr><td><a href="#{study.name}">{escape(study.name)}</a></td>'
            f"<td>{escape(study.title)}</td><td>{escape(study.paper)}</td>"
            f"<td>{holds} of {tried} claims hold</td>"
            f'<td class="verdict {kind}">{word}</td></tr>'
        )
    return (
        "<table><thead><tr><th>study</th><th>question</th><th>paper</th>"
        f"<th>found</th><th></th></tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _section(study: Study, result: Result, store: Store) -> str:
    picture = b64encode((store.of(study.name) / "figure.svg").read_bytes()).decode()
    remark = f"<h3>Why</h3><p>{escape(study.remark)}</p>" if study.remark else ""
    parameters = "".join(
        f"<tr><td>{escape(p.name)}</td><td>{escape(p.value)}</td>"
        f"<td>{escape(p.source)}</td></tr>"
        for p in study.parameters
    )
    return (
        f'<section id="{study.name}"><h2>{escape(study.title)}</h2>'
        f'<p class="soft">{escape(study.name)} · {escape(study.paper)}</p>'
        f"<h3>What the paper says</h3><p>{escape(study.says)}</p>"
        f'<figure><img alt="{escape(study.title)}" '
        f'src="data:image/svg+xml;base64,{picture}">'
        f"<figcaption>Expected: {escape(study.shape)}</figcaption></figure>"
        f"<h3>What we found</h3>{_findings(result.findings)}{remark}"
        "<details><summary>Parameters, machine, how to run it again</summary>"
        "<table><thead><tr><th>parameter</th><th>value</th><th>source</th></tr></thead>"
        f"<tbody>{parameters}</tbody></table>{_colophon(study, result)}</details>"
        "</section>"
    )


def _findings(findings: Iterable[Finding]) -> str:
    lines = []
    for f in findings:
        kind = {True: "holds", False: "differs", None: "open"}[f.holds]
        note = "" if f.is_gating else ' <span class="soft">(reported only)</span>'
        lines.append(
            f"<tr><td>{escape(f.claim)}</td><td>{escape(f.says)}{note}</td>"
            f"<td>{escape(f.found)}</td>"
            f'<td class="verdict {kind}">{escape(f.verdict)}</td></tr>'
        )
    return (
        "<table><thead><tr><th></th><th>claim</th><th>found</th><th></th></tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _colophon(study: Study, result: Result) -> str:
    timed = " Times are of this machine." if study.is_timed else ""
    return (
        f"<p>{result.rows:,} rows, {result.seeds} seeds, size {escape(result.size)}, "
        f"{result.seconds:,.0f} s of computing in all. {escape(result.machine)}."
        f"{timed}</p><p>Siena {escape(result.version)}, code "
        f"<code>{escape(result.code)}</code>. Again: "
        f"<code>{escape(result.command)}</code></p>"
    )
