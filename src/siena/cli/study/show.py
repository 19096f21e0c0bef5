"""``siena study show``: what is a study about, and what did it find?"""

from typing import Annotated

import typer

from siena.cli.study.options import FOLDER, Folder, finding_lines, require_studies


def study_show(
    name: Annotated[str, typer.Argument(help="A study.", show_default=False)],
    *,
    store: Folder = FOLDER,
) -> None:
    """Say what a study asks, with which parameters, and what was found last time.

    \b
    Example:
      siena study show fig5
    """  # noqa: D301 -- Typer needs the backspace itself
    require_studies()
    from siena.research.studies.framework.registry import find
    from siena.research.studies.framework.results import command, read_result
    from siena.research.studies.framework.store import Store
    from siena.research.studies.reporting.summary import sentence

    study = find(name)
    print(f"{study.title} [{study.paper}]\n")
    print(f"The paper: {study.says}")
    print(f"The figure: {study.caption}")
    print(f"Expected: {study.shape}")
    if study.remark:
        print(f"Note: {study.remark}")
    print("\nParameters:")
    width = max(len(p.name) for p in study.parameters)
    for p in study.parameters:
        print(f"  {p.name:<{width}}  {p.value} ({p.source})")
    result = read_result(study.name, Store(store))
    if result is None:
        print(f"\nNot run yet: {command(study, 'full', None)}")
        return
    print(f"\nFound ({result.size}, {result.seeds} seeds, code {result.code}):")
    print(sentence(result.findings))
    for finding in result.findings:
        print(finding_lines(finding))
    print(f"\nFiles: {Store(store).of(study.name)}")
