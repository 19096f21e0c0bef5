"""Fewer subscriptions that want the same: what a broker would keep of them.

Per interface, a filter that another one covers adds nothing, and within a filter a
constraint that others imply adds nothing either.  What is left, in constraints, over
what there was is the disjunction advantage alpha: 1 means that nothing could be saved.

Covering is transitive, so shares of the filters can be reduced first, each by a task of
its own, and what is left of them together.

Reference:
    TR 2006/05, section 4; E.8 of our specification.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, functions as F, types as T

from siena.algebra.poset.conditions import Covering
from siena.algebra.poset.poset import Poset
from siena.algebra.simplify import simplify
from siena.errors import SienaError
from siena.matching.input.filter_texts import read_interest
from siena.matching.matcher import filters_of
from siena.model import Filter
from siena.spark.batch.compiling import Reject

# Filters of one interface that a task compares with each other at first.
FILTERS_PER_SHARE = 20_000

INTERFACE, SHARE = "siena_interface", "siena_share"


class Reduction(NamedTuple):
    """What is left of subscriptions, and what was saved."""

    filters: DataFrame
    """``interface`` and ``filter``: what is left, as texts."""
    advantage: DataFrame
    """``interface``, ``filters`` and ``constraints`` as they were, ``filters_left``,
    ``constraints_left``, and ``alpha``."""


def reduce(
    subscriptions: DataFrame,
    *,
    by: str | None = None,
    covering: Covering = "exact",
    share: int = FILTERS_PER_SHARE,
) -> Reduction:
    """The covering-minimal filters of each interface, and the disjunction advantage.

    Args:
        subscriptions: a DataFrame with the column ``filter``.
        by: the column that says whose filters are put together; if it is not given
            ``interface``, or else all filters are those of one interface, ``0``.
        covering: ``exact``, or ``pairwise`` as in the paper.
        share: how many filters a task compares at first.

    Raises:
        SienaError: if a column is missing.  What is wrong with a filter, and where,
            only the running job can say.
    """
    if by is None and "interface" in subscriptions.columns:
        by = "interface"
    missing = [n for n in ("filter", by) if n and n not in subscriptions.columns]
    if missing:
        raise SienaError(f"subscriptions have no column {missing[0]!r}")
    interface = F.lit(0).cast("long") if by is None else F.col(by)
    rows = subscriptions.select(interface.alias(INTERFACE), "filter")
    kind = rows.schema[INTERFACE].dataType
    shares = F.greatest(F.lit(1), F.ceil(F.count("*") / share)).alias("shares")
    sizes = rows.groupBy(INTERFACE).agg(shares)
    # By the text: equal ones meet at once.
    place = F.pmod(F.xxhash64("filter"), F.col("shares")).cast("int")
    first = (
        rows.join(F.broadcast(sizes), INTERFACE)
        .select(INTERFACE, "filter", place.alias(SHARE))
        .groupBy(INTERFACE, SHARE)
        .applyInArrow(_reduced(covering), _schema(kind))
    )
    second = (
        first.groupBy(INTERFACE)
        .applyInArrow(_combined(covering), _schema(kind))
        .cache()
    )
    return Reduction(
        second.select(
            F.col(INTERFACE).alias("interface"), F.explode("kept").alias("filter")
        ),
        second.select(
            F.col(INTERFACE).alias("interface"),
            "filters",
            "constraints",
            F.size("kept").alias("filters_left"),
            "constraints_left",
            (F.col("constraints_left") / F.col("constraints")).alias("alpha"),
        ),
    )


def _schema(interface: T.DataType) -> T.StructType:
    return T.StructType(
        [
            T.StructField(INTERFACE, interface),
            T.StructField("kept", T.ArrayType(T.StringType())),
            T.StructField("filters", T.LongType()),
            T.StructField("constraints", T.LongType()),
            T.StructField("constraints_left", T.LongType()),
        ]
    )


def minimal(filters: Iterable[Filter], covering: Covering = "exact") -> list[Filter]:
    """The filters that no other covers, and that something can match.

    >>> from siena.lang.parser import parse_filter as parse
    >>> texts = ["x > 10 and y = 100", "y > 0", "y > 0 and y > -5"]
    >>> [str(f) for f in minimal(map(parse, texts))]
    ['y > 0']
    """
    poset = Poset.of_filters(covering)
    for f in filters:
        poset.add(simplify(f) if covering == "exact" else f)
    return sorted(poset.roots, key=str)


def _reduced(covering: Covering) -> Callable[[pa.Table], pa.Table]:
    """What reduces a share of the filters of one interface."""

    def run(rows: pa.Table) -> pa.Table:
        texts = enumerate(rows["filter"].to_pylist())
        generated = [f for row, text in texts for f in _filters(row, text)]
        kept = minimal(generated, covering)
        constraints = sum(len(f.constraints) for f in generated)
        return _row(rows, kept, len(generated), constraints)

    return run


def _combined(covering: Covering) -> Callable[[pa.Table], pa.Table]:
    """What reduces together what is left of the shares of one interface."""

    def run(rows: pa.Table) -> pa.Table:
        if rows.num_rows == 1:
            return rows  # of the only share there is nothing to compare
        texts = [text for kept in rows["kept"].to_pylist() for text in kept]
        filters = [f for row, text in enumerate(texts) for f in _filters(row, text)]
        counts = (sum(rows[name].to_pylist()) for name in ("filters", "constraints"))
        return _row(rows, minimal(filters, covering), *counts)

    return run


def _row(
    rows: pa.Table, kept: list[Filter], filters: int, constraints: int
) -> pa.Table:
    left = sum(len(f.constraints) for f in kept)
    return pa.table(
        {
            INTERFACE: rows[INTERFACE].slice(0, 1),
            "kept": pa.array([[str(f) for f in kept]], pa.list_(pa.string())),
            "filters": pa.array([filters], pa.int64()),
            "constraints": pa.array([constraints], pa.int64()),
            "constraints_left": pa.array([left], pa.int64()),
        }
    )


def _filters(row: int, text: str | None) -> tuple[Filter, ...]:
    try:
        return filters_of(read_interest(text))
    except SienaError as error:
        raise SienaError(str(Reject(row + 1, None, text, str(error)))) from error
