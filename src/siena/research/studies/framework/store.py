"""Where rows are kept: a file for each, under the hash of what made it.

A row is known by the function that computes it, its parameters with the seed, and the
version of the code.  It is written beside its place and moved there, so there is never
half a row; a process that is killed has lost the rows that were being computed, and no
other.  Figures that need the same row share it.
"""

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from siena.errors import SienaError
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.sources import code_version
from siena.research.studies.framework.study import Run


class Task(NamedTuple):
    """A row to be computed: ``module:function`` and parameters."""

    run: str
    parameters: Row
    version: str

    @property
    def key(self) -> str:
        """Under what the row is kept."""
        what = [self.run, self.version, sorted(self.parameters.items())]
        return sha256(json.dumps(what).encode()).hexdigest()[:32]

    @property
    def function(self) -> Run:
        """What computes it."""
        module, _, name = self.run.partition(":")
        run: Run = getattr(import_module(module), name)
        return run


class Kept(NamedTuple):
    """A row that has been computed, and the processor time that it took."""

    row: Row
    seconds: float


def task_of(run: Run, parameters: Row) -> Task:
    """The task of a function for some parameters, with the code as it is now."""
    name = f"{run.__module__}:{run.__qualname__}"
    return Task(name, parameters, code_version(run.__module__))


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of rows, and of what was made from them."""

    folder: Path

    def find(self, task: Task) -> Kept | None:
        """The row, if it has been computed."""
        try:
            text = self._path(task).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        try:
            kept = json.loads(text)
            return Kept(kept["row"], kept["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise SienaError(
                f"{self._path(task)}: is no row of a study",
                hint="remove it, and it is computed again",
            ) from error

    def keep(self, task: Task, kept: Kept) -> None:
        """Keep a row; an equal one may be there already."""
        path = self._path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes may keep the same row at once.
        beside = path.with_suffix(f".{os.getpid()}.part")
        content = {"run": task.run, "version": task.version, **kept._asdict()}
        beside.write_text(json.dumps(content), encoding="utf-8")
        beside.replace(path)

    def of(self, study: str) -> Path:
        """The folder of a study: its table, its figure, what was found."""
        return self.folder / study

    def _path(self, task: Task) -> Path:
        return self.folder / "rows" / task.key[:2] / f"{task.key}.json"
