"""What a study came to, as files: its table, its figure, and what was found.

In the folder of a study are ``rows.csv`` and ``rows.parquet``, ``figure.svg`` and
``figure.png``, and ``result.json``, from which the report is made.
"""

import csv
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import pyarrow as pa
from matplotlib.figure import Figure
from pyarrow import parquet

from siena.errors import SienaError
from siena.research.studies.framework.claim import Finding, Verdict
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.sources import code_version
from siena.research.studies.framework.store import Kept, Store, task_of
from siena.research.studies.framework.study import Size, Study

DOTS_PER_INCH = 130
RESULT = "result.json"
"""The file of what was found, in the folder of a study."""


class Result(NamedTuple):
    """What is known after a run."""

    size: Size
    seeds: int
    rows: int
    seconds: float
    """What computing the rows took, all of them added up."""
    machine: str
    code: str
    version: str
    command: str
    findings: tuple[Finding, ...]

    @property
    def failures(self) -> list[Finding]:
        """The claims that differ and must not."""
        return [finding for finding in self.findings if finding.is_failure]


def conclude(study: Study, store: Store, size: Size, seeds: int | None) -> Result:
    """Check and draw the rows of a plan, all of which are in the store."""
    kept = rows_of(study, store, size, seeds)
    rows = [each.row for each in kept]
    result = Result(
        size=size,
        seeds=study.seeds[size] if seeds is None else seeds,
        rows=len(rows),
        seconds=sum(each.seconds for each in kept),
        machine=machine(),
        code=code_version(study.run.__module__),
        version=version("siena-pubsub"),
        command=command(study, size, seeds),
        findings=tuple(study.check(rows)),
    )
    folder = store.of(study.name)
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(rows, folder / "rows.csv")
    write_parquet(rows, folder / "rows.parquet")
    figure = _laid_out(study.draw(rows))
    _write(folder / "figure.svg", _picture(figure, "svg", study.name))
    _write(folder / "figure.png", _picture(figure, "png", study.name))
    write_result(result, folder / RESULT)
    return result


def conclude_again(
    study: Study, before: Result, rows: Sequence[Row], picture: Path
) -> Result:
    """Check and draw rows that were kept, by claims and drawings as they are now.

    What the rows are of stays as it was: code, machine, seeds, and what they took.
    """
    _write(picture, _picture(_laid_out(study.draw(rows)), "svg", study.name))
    return before._replace(findings=tuple(study.check(rows)))


def rows_of(study: Study, store: Store, size: Size, seeds: int | None) -> list[Kept]:
    """The rows of a plan, in its order.

    Raises:
        SienaError: if one is not there.
    """
    found = []
    for parameters in study.rows(size, seeds):
        kept = store.find(task_of(study.run, parameters))
        if kept is None:
            raise SienaError(
                f"{study.name} has not been run", hint=command(study, size, seeds)
            )
        found.append(kept)
    return found


def read_result(study: str, store: Store) -> Result | None:
    """What was found when a study was last run; ``None`` if it was not."""
    return result_in(store.of(study) / RESULT, study)


def result_in(path: Path, study: str) -> Result | None:
    """What a file says was found; ``None`` if there is no such file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    known = json.loads(text)
    try:
        findings = [
            Finding(**{**finding, "verdict": Verdict(finding["verdict"])})
            for finding in known["findings"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise SienaError(
            f"{path}: was written by another version of Siena",
            hint=f"siena study run {study}",
        ) from error
    return Result(**{**known, "findings": tuple(findings)})


def write_result(result: Result, path: Path) -> None:
    """What was found, as a file that :func:`result_in` reads."""
    content = json.dumps(_plain(result), indent=1, ensure_ascii=False)
    _write(path, content.encode())


def command(study: Study, size: Size, seeds: int | None) -> str:
    """How to run it again."""
    options = ["--quick"] if size == "quick" else []
    if seeds is not None:
        options.append(f"--seeds {seeds}")
    return " ".join(["siena study run", study.name, *options])


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """The rows as text; all have the columns that any has."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """The rows as a table with types."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = {name: [row.get(name) for row in rows] for name in columns}
    parquet.write_table(pa.table(table), path)


def read_parquet(path: Path) -> list[Row]:
    """The rows of such a table."""
    rows: list[Row] = parquet.read_table(path).to_pylist()
    return rows


def machine() -> str:
    """On what it was computed: processor, cores, Python."""
    name = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        for line in cpus.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, {python}"


def _laid_out(figure: Figure) -> Figure:
    """Let a figure find room for its texts, once and not anew for each form.

    With what finds it still there, even with a placeholder that stands for it,
    Matplotlib draws each form twice.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)
    return figure


def _picture(figure: Figure, form: str, name: str) -> bytes:
    content = BytesIO()
    # The same rows give the same bytes.
    metadata: dict[str, Any] = {"Date": None} if form == "svg" else {}
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(content, format=form, dpi=DOTS_PER_INCH, metadata=metadata)
    return content.getvalue()


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(path.name + ".part")
    beside.write_bytes(content)
    beside.replace(path)


def _plain(result: Result) -> dict[str, Any]:
    known = result._asdict()
    known["findings"] = [asdict(finding) for finding in result.findings]
    return known
