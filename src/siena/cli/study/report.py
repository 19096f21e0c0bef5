"""``siena study report``: one page about all studies."""

from pathlib import Path
from typing import Annotated

import typer

from siena.cli.study.options import FOLDER, Folder, require_studies
from siena.errors import SienaError


def study_report(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which studies, or their files; all of ours without any.",
            show_default=False,
        ),
    ] = None,
    *,
    store: Folder = FOLDER,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write it.",
            show_default="STORE/report.html",
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Write a page of Markdown with the figures beside it instead, to "
            "this folder.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="With --markdown: first decide and draw the rows beside the page "
            "once more, by claims and drawings as they are now.",
        ),
    ] = False,
) -> None:
    """Write one self-contained HTML page about all studies that have been run.

    \b
    Examples:
      siena study report -o studies.html
      siena study report bands.py -o bands.html
      siena study report --markdown docs/studies
      siena study report --markdown docs/studies --again
    """  # noqa: D301 -- Typer needs the backspace itself
    require_studies()
    from siena.research.studies.framework.registry import find_all
    from siena.research.studies.framework.results import read_result
    from siena.research.studies.framework.store import Store
    from siena.research.studies.reporting.report import page

    studies, kept = (find_all(names) if names else find_all()), Store(store)
    if output is not None and markdown is not None:
        raise SienaError("one of --output and --markdown, not both")
    if again:
        if markdown is None:
            raise SienaError("--again is for rows beside a page: say --markdown DIR")
        from siena.research.studies.reporting.markdown import decide_again

        decide_again(studies, markdown)
    elif not any(read_result(study.name, kept) for study in studies):
        raise SienaError(
            f"no study has been run in {store}", hint="siena study run --all --quick"
        )
    if markdown is not None:
        from siena.research.studies.reporting.markdown import write_pages

        print(write_pages(studies, kept, markdown))
        return
    path = output or store / "report.html"
    path.write_text(page(studies, kept), encoding="utf-8")
    print(path)
