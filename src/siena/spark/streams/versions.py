"""Subscriptions that change while a stream runs.

A folder holds versions of a compiled table, numbered; the editor of subscriptions
publishes a new one.  Each micro-batch looks once, on the driver, for the newest, and is
matched with that alone: a change is in force for the next micro-batch, and no
micro-batch sees half of it.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, functions as F

from siena.errors import SienaError
from siena.spark.batch.compiling import (
    SUFFIX,
    CompiledSubscriptions,
    OnError,
    open_compiled,
    tables_folder,
)
from siena.spark.batch.matching import Subscriptions, compile_subscriptions, match

# Versions that stay in the folder; a micro-batch that runs may still use an old one.
VERSIONS_KEPT = 16
# Versions of which a process that uses them keeps a file; those before are of
# micro-batches that have ended.
USED_KEPT = 4
# What is written of a batch goes here, below the folder of a sink.
BATCH = "batch"


class VersionedSubscriptions:
    """A folder of compiled subscriptions, of which the newest is in force."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._opened: tuple[int, CompiledSubscriptions] | None = None
        # Files of our own, of the versions that this process has used.
        self._home: Path | None = None
        self._used: list[Path] = []

    def publish(
        self, subscriptions: Subscriptions, *, on_error: OnError = "raise"
    ) -> int:
        """Put subscriptions in force from the next micro-batch on; their version.

        One process at a time may publish.

        Raises:
            SienaError: if a subscription is bad; then nothing has changed.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        version = max(self.versions(), default=0) + 1
        compile_subscriptions(subscriptions, on_error=on_error).keep(
            self._path(version)
        )
        for old in sorted(self.versions())[:-VERSIONS_KEPT]:
            self._path(old).unlink(missing_ok=True)
        return version

    def versions(self) -> list[int]:
        """The versions that are there."""
        return [
            int(path.stem)
            for path in self.folder.glob(f"*{SUFFIX}")
            if path.stem.isdecimal()
        ]

    def current(self) -> tuple[int, CompiledSubscriptions]:
        """The newest version.

        Raises:
            SienaError: if nothing was published.
        """
        while True:
            newest = max(self.versions(), default=0)
            if newest == 0:
                raise SienaError(f"no subscriptions were published in {self.folder}")
            if self._opened is None or self._opened[0] != newest:
                try:
                    self._opened = newest, self._open(newest)
                except FileNotFoundError:
                    continue  # so many newer ones were published that it is gone
            return self._opened

    def _open(self, version: int) -> CompiledSubscriptions:
        """A version under a name that stays while it may be used."""
        if self._home is None:
            self._home = Path(tempfile.mkdtemp(dir=tables_folder()))
        opened = replace(open_compiled(self._path(version)), home=self._home)
        named = opened.named()
        if named in self._used:  # the same subscriptions as once before
            self._used.remove(named)
        self._used.append(named)
        # A stream runs for months: what it has used is not kept for ever.
        for old in self._used[:-USED_KEPT]:
            old.unlink(missing_ok=True)
        del self._used[:-USED_KEPT]
        return opened

    def _path(self, version: int) -> Path:
        return self.folder / f"{version:08d}{SUFFIX}"


def each_batch(
    subscriptions: VersionedSubscriptions,
    write: Callable[[DataFrame, int], None],
    **options: Any,  # noqa: ANN401 -- those of match
) -> Callable[[DataFrame, int], None]:
    """What a stream does with each of its micro-batches, for ``foreachBatch``.

    >>> query = (  # doctest: +SKIP
    ...     events.writeStream
    ...     .foreachBatch(each_batch(versions, to_parquet("deliveries"), key="id"))
    ...     .option("checkpointLocation", "checkpoint")
    ...     .start()
    ... )

    ``write`` gets the answers of :func:`~siena.spark.batch.matching.match`, with the
    ``version`` of the subscriptions, and the number of the micro-batch.  After a
    failure Spark gives the same batch again: what is written for a number replaces what
    was.
    """

    def run(batch: DataFrame, number: int) -> None:
        version, compiled = subscriptions.current()
        answers = match(batch, compiled, **options)
        write(answers.withColumn("version", F.lit(version)), number)

    return run


def to_parquet(folder: str | os.PathLike[str]) -> Callable[[DataFrame, int], None]:
    """A sink: each micro-batch in a folder of its own, written again as a whole."""

    def write(answers: DataFrame, number: int) -> None:
        answers.write.mode("overwrite").parquet(f"{os.fspath(folder)}/{BATCH}={number}")

    return write
