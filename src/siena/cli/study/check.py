"""``siena study check``: can every claim of a study fail?"""

import json
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from siena.cli.study.options import Json, require_studies

EXIT_BLIND = 1


def study_check(
    name: Annotated[
        str, typer.Argument(help="A study, or its file.", show_default=False)
    ],
    *,
    as_json: Json = False,
) -> None:
    """Run a study small, and try whether wrong rows refute each of its claims.

    A check that nothing can fail shows nothing.  Exits with 1 if a claim has a blind
    spot: wrong rows that it names itself, and does not notice.

    \b
    Example:
      siena study check bands.py
    """  # noqa: D301 -- Typer needs the backspace itself
    require_studies()
    from pathlib import Path

    from siena.research.studies.framework.registry import find
    from siena.research.studies.framework.results import rows_of
    from siena.research.studies.framework.runner import run_here, tasks_of
    from siena.research.studies.framework.store import Store

    study = find(name)
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        run_here(tasks_of([study], "test", None), store, lambda *_: None)
        rows = [kept.row for kept in rows_of(study, store, "test", None)]
    spots = [(claim.name, claim.blind_spots(rows)) for claim in study.claims]
    study.draw(rows)
    if as_json:
        print(json.dumps([{"claim": n, "blind_spots": s} for n, s in spots]))
    else:
        for claim, found in spots:
            print(f"{'✗' if found else '✓'} {claim}")
            for each in found:
                print(f"    {each}")
        claims = "claim" if len(spots) == 1 else "claims"
        print(f"{len(rows)} rows computed and drawn, {len(spots)} {claims} tried.")
    if any(found for _, found in spots):
        raise typer.Exit(EXIT_BLIND)
