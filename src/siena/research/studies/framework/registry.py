"""All studies, by name; each is loaded when it is asked for.

Ours stand in :data:`GROUPS`; others come from files and from installed packages.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from siena.errors import SienaError
from siena.research.studies.framework.loading import (
    installed,
    load_file,
    load_installed,
)
from siena.research.studies.framework.study import Study

# In the order of `siena study list`, and of the report.
GROUPS = {
    "Disjunction advantage": ("fig5", "fig6", "fig7"),
    "Architectures": (
        *("fig26", "fig27", "fig28", "fig29", "fig30", "fig31", "fig32", "fig33"),
        *("brokers", "choices", "hybrid", "robustness", "scale"),
    ),
    "Routing": (
        *("schemes", "memory", "advantage", "headers"),
        *("cbcb", "pruning", "patterns"),
    ),
    "Matching": ("gryphon", "poset", "forwarding"),
    "Covering": ("covering", "merging", "changes", "ways"),
}
# Where the studies of a group live, if not with the other claims.
_ROOMS_OF_GROUPS = {"Architectures": "architectures", "Covering": "covering"}
NAMES = tuple(name for names in GROUPS.values() for name in names)
_ROOMS = {
    name: "figures" if name.startswith("fig") else _ROOMS_OF_GROUPS.get(group, "claims")
    for group, names in GROUPS.items()
    for name in names
}


def find(name: str) -> Study:
    """The study of that name, or in that file; a scenario's file is a study, too.

    >>> find("fig5").paper
    'TR 2006/05, figure 5'
    >>> find("fig55")
    Traceback (most recent call last):
    siena.errors.SienaError: there is no study 'fig55' (did you mean fig5?)
    """
    if name.endswith(".py"):
        return _named(load_file(name))
    if name.endswith(".txt"):
        from siena.research.studies.figures.scenario_file import (  # noqa: PLC0415
            study_of_scenario,
        )

        return study_of_scenario(Path(name))
    if name in _ROOMS:
        module = f"siena.research.studies.{_ROOMS[name]}.{name}"
        study: Study = import_module(module).STUDY
        assert study.name == name
        return study
    others = installed()
    if name in others:
        return _named(load_installed(others[name]))
    here = [f"{name}.py"] if Path(f"{name}.py").is_file() else []
    close = here or get_close_matches(name, [*NAMES, *others], n=1)
    hint = f"did you mean {close[0]}?" if close else "see siena study list"
    raise SienaError(f"there is no study {name!r}", hint=hint)


def _named(study: Study) -> Study:
    """A study of another maker; its name is a folder's, and not one of ours."""
    if study.name in _ROOMS or not study.name.isidentifier():
        raise SienaError(
            f"a study of one's own cannot be called {study.name!r}",
            hint="letters, digits and underscores, and none of siena study list",
        )
    return study


def names() -> list[str]:
    """All studies that can be named: ours, then those that packages bring."""
    return [*NAMES, *sorted(installed().keys() - _ROOMS.keys())]


def find_all(names: Iterable[str] = NAMES) -> list[Study]:
    """Several studies, each once."""
    return [find(name) for name in dict.fromkeys(names)]
