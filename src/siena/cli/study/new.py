"""``siena study new``: a study of one's own, to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from siena.cli.study.options import require_studies
from siena.errors import SienaError


def study_new(
    name: Annotated[
        str,
        typer.Argument(
            help="Letters, digits and underscores; the file is NAME.py.",
            show_default=False,
        ),
    ],
    *,
    folder: Annotated[
        Path, typer.Option("--folder", help="Where to write it.")
    ] = Path(),
) -> None:
    """Write a study of one's own: one file, which runs as it is.

    It has all the parts: what computes a row, the plan of rows, claims with wrong rows
    that must refute them, and the figure.  Change them one by one.

    \b
    Example:
      siena study new bands
      siena study check bands.py
      siena study run bands.py --quick
    """  # noqa: D301 -- Typer needs the backspace itself
    require_studies()
    from siena.research.studies import template
    from siena.research.studies.framework.registry import NAMES

    if not name.isidentifier() or name in NAMES:
        raise SienaError(
            f"a study cannot be called {name!r}",
            hint="letters, digits and underscores, and none of siena study list",
        )
    path = folder / f"{name}.py"
    text = Path(template.__file__).read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace(template.STUDY.name, name))
    except FileExistsError:
        raise SienaError(f"{path} is there already", hint="another name") from None
    print(path)
    print(f"Run it:  siena study run {path} --quick")
