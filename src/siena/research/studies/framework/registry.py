"""All studies, by name; each is loaded when it is asked for."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module

from siena.errors import SienaError
from siena.research.studies.framework.study import Study

# In the order of `siena study list`, and of the report.
GROUPS = {
    "Disjunction advantage": ("fig5", "fig6", "fig7"),
    "Architectures": (
        *("fig26", "fig27", "fig28", "fig29", "fig30", "fig31", "fig32", "fig33"),
        *("brokers", "choices", "robustness", "scale"),
    ),
    "Routing": ("schemes", "memory", "cbcb", "pruning"),
    "Matching": ("gryphon", "forwarding"),
    "Covering": ("covering", "merging", "changes"),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)


def find(name: str) -> Study:
    """The study of that name.

    >>> find("fig5").paper
    'TR 2006/05, figure 5'
    >>> find("fig55")
    Traceback (most recent call last):
    siena.errors.SienaError: there is no study 'fig55' (did you mean fig5?)
    """
    if name not in NAMES:
        close = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {close[0]}?" if close else "see siena study list"
        raise SienaError(f"there is no study {name!r}", hint=hint)
    room = "figures" if name.startswith("fig") else "claims"
    study: Study = import_module(f"siena.research.studies.{room}.{name}").STUDY
    assert study.name == name
    return study


def find_all(names: Iterable[str] = NAMES) -> list[Study]:
    """Several studies, each once."""
    return [find(name) for name in dict.fromkeys(names)]
