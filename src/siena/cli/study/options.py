"""What the commands of ``siena study`` have in common."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from siena.errors import SienaError
from siena.extras import how_to_get

if TYPE_CHECKING:
    from siena.research.studies.framework.claim import Finding

Folder = Annotated[
    Path,
    typer.Option("--store", help="The folder where rows, tables and figures are kept."),
]
FOLDER = Path("siena-studies")

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def require_studies() -> None:
    """Raise an error that says how to get what studies need, if it is not there."""
    for module, name in (("matplotlib", "Matplotlib"), ("pyarrow", "PyArrow")):
        if find_spec(module) is None:
            raise SienaError(f"{name} is not installed", hint=how_to_get("studies"))


MARKS = {"holds": "✓", "differs": "✗", "not decided": "?", "left open": "·"}


def finding_lines(finding: "Finding") -> str:
    """A finding as lines of text: what is claimed and found, the test, and why."""
    mark, note = MARKS[finding.verdict], "" if finding.is_gating else " (not gating)"
    lines = [
        f"  {mark} {finding.claim:<7} {finding.says}{note}",
        f"            {finding.verdict}: {finding.found}",
        f"            tested by {finding.test} [{finding.data}]",
    ]
    if finding.why:
        lines.append(f"            {finding.why}")
    return "\n".join(lines)
