"""Rules that change while streams run.

A folder holds *revisions* of a rule set, numbered and compiled; the editor of rules
publishes a new one.  A micro-batch is given the newest when its first task asks, once
and for all: which one is written down under the number of the micro-batch, by a link
that only one task can make.  So all tasks of a micro-batch apply the same rules, and a
micro-batch that Spark runs again, also by a driver that was killed and started anew,
applies those that it had before.

All workers have to see the folder under its name, as they see checkpoints.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from pyspark import TaskContext

from siena.errors import SienaError
from siena.rules.entry import SetAside
from siena.rules.reading import RuleSettings
from siena.spark.batch.compiling import SUFFIX, OnError
from siena.spark.rules.compiled import (
    CompiledRules,
    LoadedRules,
    compile_rules,
    load,
    open_rules,
)
from siena.spark.rules.sources import RuleSource

# Revisions that stay in the folder, beside those that a micro-batch was given.
REVISIONS_KEPT = 16
# Micro-batches of a query of which it stays written down what they were given.
BATCHES_KEPT = 64
# Of these the last ones may have to be run again.
BATCHES_OPEN = 2
# After so many days without a micro-batch, it is forgotten what a query was given:
# whoever begins it again then gets the newest rules for all that is left.
QUERY_DAYS_KEPT = 90
ASSIGNED = "assigned"
# Under which Spark tells its tasks of which query and micro-batch they are.
QUERY, BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


class Published(NamedTuple):
    """A revision that was published: its number, its rules, and what was put aside."""

    revision: int
    rules: int
    rejects: tuple[SetAside, ...]


class LiveRules:
    """A folder of revisions, of which the newest is in force for what comes next."""

    def __init__(
        self, folder: str | os.PathLike[str], *, settings: RuleSettings | None = None
    ) -> None:
        self.folder = Path(folder).absolute()
        self.settings = settings

    def publish(
        self,
        rules: RuleSource | CompiledRules,
        *,
        dialect: str = "siena",
        on_error: OnError = "set_aside",
    ) -> Published:
        """Put rules in force from the next micro-batch on.

        Raises:
            SienaError: if there are no rules, or one is bad and that is an error; then
                nothing has changed.
        """
        compiled = compile_rules(
            rules, settings=self.settings, dialect=dialect, on_error=on_error
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        unnamed = self.folder / f".publishing.{uuid4().hex}"
        compiled.keep(unnamed)
        try:
            revision = max(self.revisions(), default=0) + 1
            while True:  # somebody else may publish, too
                try:
                    os.link(unnamed, revision_path(self.folder, revision))
                    break
                except FileExistsError:
                    revision += 1
        finally:
            unnamed.unlink()
        self._forget()
        return Published(revision, len(compiled), compiled.rejects)

    def revisions(self) -> list[int]:
        """The revisions that are there, oldest first."""
        return sorted(_numbers(self.folder, SUFFIX))

    def current(self) -> tuple[int, CompiledRules]:
        """The newest revision.

        Raises:
            SienaError: if nothing was published.
        """
        newest = max(self.revisions(), default=0)
        if newest == 0:
            raise SienaError(
                f"no rules were published in {self.folder}",
                hint="LiveRules(…).publish(rules), or siena rules publish",
            )
        return newest, open_rules(revision_path(self.folder, newest))

    def given(self, query: str) -> dict[int, int]:
        """Of each of the last micro-batches of a query, the revision it was given."""
        folder = self.folder / ASSIGNED / query
        return {
            number: int((folder / _batch(number)).read_text())
            for number in sorted(_numbers(folder, ""))
        }

    def _forget(self) -> None:
        """Remove old revisions that no micro-batch will ask for, and old queries."""
        needed = set(self.revisions()[-REVISIONS_KEPT:])
        # By the clock of whoever keeps the folder: something was published just now.
        newest = revision_path(self.folder, max(self.revisions()))
        eldest = newest.stat().st_mtime - QUERY_DAYS_KEPT * 86_400
        for query in (self.folder / ASSIGNED).glob("*"):
            # A folder changes with every micro-batch.
            if query.stat().st_mtime < eldest:
                shutil.rmtree(query, ignore_errors=True)
                continue
            needed.update(list(self.given(query.name).values())[-BATCHES_OPEN:])
        for revision in set(self.revisions()) - needed:
            revision_path(self.folder, revision).unlink(missing_ok=True)


@dataclass(frozen=True)
class Fixed:
    """Rules that were shipped to the workers under a name."""

    name: str
    revision: int | None = None

    def __call__(self) -> tuple[LoadedRules, int | None]:
        """The rules, in a worker."""
        return load(self.name), self.revision


@dataclass(frozen=True)
class Newest:
    """The rules that a micro-batch is given, of those in a folder."""

    folder: str

    def __call__(self) -> tuple[LoadedRules, int | None]:
        """The rules, in a worker.

        Raises:
            SienaError: if this is no task of a stream, or there are no rules.
        """
        context = TaskContext.get()
        query = context.getLocalProperty(QUERY) if context else None
        batch = context.getLocalProperty(BATCH) if context else None
        if query is None or batch is None:
            raise SienaError("it is not known of which micro-batch this task is")
        folder = Path(self.folder)
        revision = revision_for(folder, query, int(batch))
        return load(str(revision_path(folder, revision))), revision


def revision_for(folder: Path, query: str, batch: int) -> int:
    """The revision that a micro-batch is given: always the same.

    Raises:
        SienaError: if nothing was published.
    """
    place = folder / ASSIGNED / query
    file = place / _batch(batch)
    while True:
        try:
            return int(file.read_text())
        except FileNotFoundError:
            place.mkdir(parents=True, exist_ok=True)
        newest = max(_numbers(folder, SUFFIX), default=0)
        if newest == 0:
            raise SienaError(f"no rules were published in {folder}")
        written = place / f".{uuid4().hex}"
        written.write_text(str(newest))
        try:
            os.link(written, file)
        except FileExistsError:
            pass  # another task of the micro-batch was first
        else:
            for old in _numbers(place, ""):
                if old <= batch - BATCHES_KEPT:
                    (place / _batch(old)).unlink(missing_ok=True)
        finally:
            written.unlink()


def revision_path(folder: Path, revision: int) -> Path:
    """The file of a revision."""
    return folder / f"{revision:08d}{SUFFIX}"


def _batch(number: int) -> str:
    return f"{number:012d}"


def _numbers(folder: Path, suffix: str) -> Iterator[int]:
    for path in folder.glob(f"*{suffix}"):
        name = path.name.removesuffix(suffix)
        if name.isdecimal():
            yield int(name)
