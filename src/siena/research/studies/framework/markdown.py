"""The report for a repository: a page of Markdown, and figures beside it."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from siena.research.studies.framework.registry import GROUPS
from siena.research.studies.framework.report import summary
from siena.research.studies.framework.results import Result, read_result
from siena.research.studies.framework.store import Store
from siena.research.studies.framework.study import Study

PAGE = "README.md"


def write_pages(studies: Iterable[Study], store: Store, folder: Path) -> Path:
    """Write the page and copy the figures of all studies that have been run."""
    folder.mkdir(parents=True, exist_ok=True)
    done = {
        study.name: (study, result)
        for study in studies
        if (result := read_result(study.name, store)) is not None
    }
    for name in done:
        picture = (store.of(name) / "figure.svg").read_bytes()
        (folder / f"{name}.svg").write_bytes(picture)
    page = folder / PAGE
    page.write_text(markdown(done), encoding="utf-8")
    return page


def markdown(done: dict[str, tuple[Study, Result]]) -> str:
    """The page."""
    machines = dict.fromkeys(result.machine for _, result in done.values())
    counts = Counter(result.size for _, result in done.values())
    sizes = ", ".join(f"{count} {size}" for size, count in sorted(counts.items()))
    seconds = sum(result.seconds for _, result in done.values())
    lines = [
        "# What the studies found",
        "",
        (
            "The figures and claims of the papers, computed by the code that runs in "
            "brokers. `siena study report` makes the same as one HTML page, and "
            "`siena study report --markdown DIR` made this one; what the words mean is "
            "in [the reference](../reference/studies.md)."
        ),
        "",
        (
            f"Machine: {'; '.join(machines)}. {seconds:,.0f} s of computing in all, "
            "rows that several studies share counted for each. "
            f"Sizes: {sizes}."
        ),
        "",
    ]
    groups = {
        group: [done[name] for name in names if name in done]
        for group, names in GROUPS.items()
    }
    for group, own in groups.items():
        if own:
            lines += ["", f"**{group}**", "", "| study | question | |", "|---|---|---|"]
        for study, result in own:
            lines.append(
                f"| [{study.name}](#{study.name}) | {study.title} | "
                f"{summary(result)[0].partition(':')[0].lower()} |"
            )
    for own in groups.values():
        for study, result in own:
            lines += _section(study, result)
    return "\n".join(lines) + "\n"


def _section(study: Study, result: Result) -> list[str]:
    lines = [
        "",
        f"## {study.name}",
        "",
        f"**{study.title}** ({study.paper}). {study.says}",
        "",
        f"![{study.title}]({study.name}.svg)",
        "",
        f"Expected: {study.shape}",
        "",
        f"**{summary(result)[0]}**",
        "",
        "| | claim | found | |",
        "|---|---|---|---|",
    ]
    for f in result.findings:
        note = "" if f.is_gating else " (reported only)"
        cells = (f.claim, f.says + note, f.found, f.verdict)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    if study.remark:
        lines += ["", study.remark]
    lines += [
        "",
        (
            f"`{result.command}`: {result.rows:,} rows, seeds 1 to {result.seeds}, "
            f"size {result.size}, {result.seconds:,.0f} s of computing, Siena "
            f"{result.version}, code `{result.code}`."
        ),
    ]
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
