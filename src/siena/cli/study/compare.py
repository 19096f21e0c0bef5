"""``siena study compare``: what is otherwise in another store?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from siena.cli.study.options import Json, require_studies
from siena.errors import SienaError

if TYPE_CHECKING:
    from siena.research.studies.reporting.comparison import Change

EXIT_OTHERWISE = 1


def study_compare(
    one: Annotated[Path, typer.Argument(help="A store.", show_default=False)],
    other: Annotated[Path, typer.Argument(help="Another one.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Compare what two stores found, claim by claim.

    Only studies that were run in both are compared.  Exits with 1 if a verdict is
    another one; numbers may differ, between machines and with other seeds.

    \b
    Example:
      siena study compare before/siena-studies siena-studies
    """  # noqa: D301 -- Typer needs the backspace itself
    require_studies()
    from siena.research.studies.framework.registry import NAMES
    from siena.research.studies.framework.store import Store
    from siena.research.studies.reporting.comparison import compare

    changes = compare(NAMES, Store(one), Store(other))
    if not changes:
        raise SienaError(
            f"no study has been run in both {one} and {other}",
            hint="siena study run NAME --store DIR",
        )
    if as_json:
        print(json.dumps([change._asdict() for change in changes]))
    else:
        _print(changes)
    if any(change.is_otherwise for change in changes):
        raise typer.Exit(EXIT_OTHERWISE)


def _print(changes: "list[Change]") -> None:
    otherwise = [change for change in changes if change.is_otherwise]
    for change in otherwise:
        print(f"{change.study} {change.claim}: {change.says}")
        print(f"  {change.before or 'not claimed'}: {change.found_before}")
        print(f"  {change.after or 'not claimed'}: {change.found_after}")
    studies = len({change.study for change in changes})
    print(
        f"{len(otherwise)} of {len(changes)} claims of {studies} studies have another "
        "verdict."
    )
