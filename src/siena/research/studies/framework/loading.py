"""Studies of other makers: a file of Python, or an installed package.

A file is a module with a ``STUDY`` in it; ``siena study new`` writes one.  A package
names its studies as entry points of the group ``siena.studies``.
"""

import sys
from importlib import import_module, invalidate_caches
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from siena.errors import SienaError
from siena.research.studies.framework.study import Study

GROUP = "siena.studies"


def installed() -> dict[str, EntryPoint]:
    """The studies that installed packages bring, by name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def load_file(name: str) -> Study:
    """The study in a file.

    The folder of the file is where Python looks for modules from now on, behind all
    others, so that what computes a row can be found by name, here and in tasks.

    Raises:
        SienaError: if there is no such file, or no study in it.
    """
    path = Path(name).resolve()
    if not path.is_file():
        raise SienaError(f"{name}: there is no such file", hint="siena study new NAME")
    if not path.stem.isidentifier():
        raise SienaError(
            f"{name}: {path.stem!r} is no name of a module",
            hint="letters, digits and underscores",
        )
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    invalidate_caches()
    found = find_spec(path.stem)
    if found is None or found.origin is None or Path(found.origin) != path:
        raise SienaError(
            f"{name}: another module is called {path.stem}", hint="rename the file"
        )
    return _study_in(path.stem, "STUDY", name)


def load_installed(point: EntryPoint) -> Study:
    """The study that an entry point leads to."""
    return _study_in(point.module, point.attr or "STUDY", f"entry point {point.name}")


def _study_in(module: str, attribute: str, named: str) -> Study:
    try:
        study = getattr(import_module(module), attribute, None)
    except Exception as error:
        raise SienaError(
            f"{named}: could not be imported: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(study, Study):
        raise SienaError(
            f"{named}: has no {attribute} that is a Study",
            hint="siena study new writes one to begin with",
        )
    return study
