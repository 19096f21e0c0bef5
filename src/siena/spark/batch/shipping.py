"""How a compiled table reaches the workers: as a file, mapped there and shared.

The driver hands the file to Spark under the name of its contents, once per session.
Every Python worker maps what its machine got; workers of one machine share the pages.
A broadcast variable would give each worker a copy of its own.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from weakref import WeakKeyDictionary

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from siena.matching.input.several import AskedTable
from siena.matching.table import ForwardingTable
from siena.spark.batch.compiling import (
    CompiledSubscriptions,
    Owners,
    contents_of,
    read_owners,
)
from siena.spark.foreign.reading import names_in

# Tables that a worker keeps mapped, the last used ones.
TABLES_KEPT_MAX = 4


@dataclass(frozen=True)
class Loaded:
    """A table as a worker has it."""

    table: ForwardingTable
    owners: Owners

    @cached_property
    def asked(self) -> AskedTable:
        """The table, to be asked; it goes with what is made for that."""
        return AskedTable(self.table)

    def attributes(self) -> frozenset[str] | None:
        """What filters and residuals name; none, if a residual looks everywhere."""
        more = names_in(self.owners.residuals.values())
        return None if more is None else more.union(self.table.attributes())


# What each session was given: Spark refuses a name for the second time.
_given: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()
# In a worker, which serves many tasks one after the other; by the contents.
_loaded: OrderedDict[str, Loaded] = OrderedDict()


def ship(spark: SparkSession, compiled: CompiledSubscriptions) -> str:
    """Let all workers of a session have the table; what :func:`load` is to be given.

    Workers of this machine map the file where it is.  Others get it from Spark, which
    reads it from its place whenever a new worker comes; so that place is our own.
    """
    path = compiled.named()
    if _is_here(spark):
        return str(path)
    given = _given.setdefault(spark, set())
    if path.name not in given:
        spark.addArtifacts(str(path), file=True)
        given.add(path.name)
    return path.name


def load(name: str) -> Loaded:
    """The table of that name, in a worker; mapped and verified the first time.

    A file that has another one's place by now is another table: what a query names may
    have been compiled anew since the worker began.
    """
    path = Path(name if Path(name).is_absolute() else SparkFiles.get(name))
    contents = contents_of(path)
    found = _loaded.get(contents)
    if found is None:
        table = ForwardingTable.load(path)
        found = _loaded[contents] = Loaded(table, read_owners(table))
        while len(_loaded) > TABLES_KEPT_MAX:
            _loaded.popitem(last=False)
    _loaded.move_to_end(contents)
    return found


def _is_here(spark: SparkSession) -> bool:
    """Whether all workers are on this machine: never known of Spark Connect."""
    if is_connect(spark):
        return False
    master = spark.sparkContext.master or ""
    return master == "local" or master.startswith("local[")


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")
