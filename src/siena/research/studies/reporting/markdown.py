"""The report for a repository: a page of Markdown, and figures beside it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from siena.research.studies.framework.registry import GROUPS
from siena.research.studies.framework.results import (
    RESULT,
    Result,
    conclude_again,
    read_parquet,
    read_result,
    result_in,
    write_result,
)
from siena.research.studies.framework.store import Store
from siena.research.studies.framework.study import Study
from siena.research.studies.reporting.age import age, ages
from siena.research.studies.reporting.report import caption
from siena.research.studies.reporting.summary import sentence, short

PAGE = "README.md"
DATA = "data"
"""The folder of rows, beside the page."""
# Pages are kept with the sources: of very many rows parquet alone, a tenth of the size.
# Below it, rows can be read where the page is, without a download.
CSV_MAX = 512 * 1024


def write_pages(studies: Iterable[Study], store: Store, folder: Path) -> Path:
    """Write the page, and beside it figures and rows of all studies that were run.

    What was found is kept beside the rows, too: a study that is not in the store stays
    as it is in the folder, so that studies can be run again one by one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / DATA
    data.mkdir(exist_ok=True)
    asked = {study.name: study for study in studies}
    new = {
        name: result
        for name in asked
        if (result := read_result(name, store)) is not None
    }
    done = {
        name: (study, result)
        for name, study in asked.items()
        if (result := new.get(name) or result_in(data / f"{name}.json", name))
    }
    for name in new:
        found = (store.of(name) / RESULT).read_bytes()
        (data / f"{name}.json").write_bytes(found)
        picture = (store.of(name) / "figure.svg").read_bytes()
        (folder / f"{name}.svg").write_bytes(picture)
        for form in ("csv", "parquet"):
            rows = (store.of(name) / f"rows.{form}").read_bytes()
            beside = data / f"{name}.{form}"
            if form == "csv" and len(rows) > CSV_MAX:
                beside.unlink(missing_ok=True)
            else:
                beside.write_bytes(rows)
    page = folder / PAGE
    absent = [name for name in asked if name not in done]
    page.write_text(markdown(done, data, absent), encoding="utf-8")
    return page


def decide_again(studies: Iterable[Study], folder: Path) -> None:
    """Decide and draw the rows beside a page once more, by claims as they are now."""
    data = folder / DATA
    for study in studies:
        kept = data / f"{study.name}.json"
        before = result_in(kept, study.name)
        if before is not None:
            rows = read_parquet(data / f"{study.name}.parquet")
            picture = folder / f"{study.name}.svg"
            write_result(conclude_again(study, before, rows, picture), kept)


def markdown(
    done: dict[str, tuple[Study, Result]], data: Path, absent: Sequence[str] = ()
) -> str:
    """The page; ``data`` is the folder of rows, as far as they are kept beside it."""
    machines = dict.fromkeys(result.machine for _, result in done.values())
    counts = Counter(result.size for _, result in done.values())
    sizes = ", ".join(f"{count} {size}" for size, count in sorted(counts.items()))
    seconds = sum(result.seconds for _, result in done.values())
    findings = [f for _, result in done.values() for f in result.findings]
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
        ages(done.values()),
        "",
        f"**In all: {short(findings)}.**",
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
                f"{short(result.findings)} |"
            )
    if absent:
        lines += ["", f"Not run yet: {', '.join(f'`{name}`' for name in absent)}."]
    for own in groups.values():
        for study, result in own:
            has_csv = (data / f"{study.name}.csv").exists()
            lines += _section(study, result, ["csv", "parquet"][not has_csv :])
    return "\n".join(lines) + "\n"


def _section(study: Study, result: Result, forms: Sequence[str]) -> list[str]:
    name = study.name
    titles = {"csv": "CSV", "parquet": "parquet"}
    rows = ", ".join(f"[{titles[form]}]({DATA}/{name}.{form})" for form in forms)
    lines = [
        "",
        f"## {name}",
        "",
        f"**{study.title}** ({study.paper}). {study.says}",
        "",
        f"![{study.title}]({name}.svg)",
        "",
        (f"*{caption(study, result)}* Rows: {rows}."),
        "",
        f"Expected: {study.shape}",
        "",
        f"**{sentence(result.findings)}**",
        "",
        "| | claim | found | |",
        "|---|---|---|---|",
    ]
    for f in result.findings:
        note = "" if f.is_gating else " (not gating)"
        says = (
            f"{f.says}{note}. *Test*: {f.test}. "
            f"*Data*: [{f.data}]({DATA}/{name}.{forms[0]})"
            f"{f', `{f.columns}`' if f.columns else ''}."
        )
        found = f"{f.found}. {f.why}" if f.why else f.found
        cells = (f.claim, says, found, str(f.verdict))
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    if study.remark:
        lines += ["", study.remark]
    lines += ["", "| parameter | value | source |", "|---|---|---|"]
    lines += [
        f"| {' | '.join(map(_cell, parameter))} |" for parameter in study.parameters
    ]
    lines += [
        "",
        (
            f"`{result.command}`: {result.rows:,} rows, "
            f"{study.seeds_in_words(result.seeds)}, size {result.size}, "
            f"{result.seconds:,.0f} s of computing, Siena {result.version}, "
            f"code `{result.code}`. {age(study, result)}".strip()
        ),
    ]
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
