"""``siena study list``: which studies there are."""

import json

from siena.cli.study.options import FOLDER, Folder, Json, require_studies


def study_list(*, store: Folder = FOLDER, as_json: Json = False) -> None:
    """List all studies, and whether they have been run.

    Those that installed packages bring come last (entry points of siena.studies).

    \b
    Examples:
      siena study list
      siena study list --json
    """  # noqa: D301 -- Typer needs the backspace itself
    require_studies()
    from siena.research.studies.framework.registry import find_all, names
    from siena.research.studies.framework.results import read_result
    from siena.research.studies.framework.store import Store
    from siena.research.studies.reporting.summary import short

    entries = []
    for study in find_all(names()):
        result = read_result(study.name, Store(store))
        entries.append(
            {
                "name": study.name,
                "title": study.title,
                "paper": study.paper,
                "rows": len(study.rows("full")),
                "quick_rows": len(study.rows("quick")),
                "run": result.size if result else None,
                "verdicts": short(result.findings) if result else None,
                "failures": len(result.failures) if result else None,
            }
        )
    if as_json:
        print(json.dumps(entries))
        return
    for entry in entries:
        state = ""
        if entry["run"]:
            state = f"   run ({entry['run']}): {entry['verdicts']}"
        print(f"{entry['name']:<12} {entry['title']} [{entry['paper']}]{state}")
