"""The data pipeline: tables and streams of notifications on Spark.

``batch`` has tables, ``streams`` streams, ``source`` a broker's log as either, and
``rules`` alerts; ``foreign`` reads subscriptions in other languages, ``hints`` say what
to write instead; ``sql`` is the same in SQL, ``files`` reads what people have,
``tally`` says how far a job is, and ``session`` starts one if there is none.

>>> import siena.spark
>>> spark = siena.spark.start_session()              # doctest: +SKIP
>>> flights = spark.read.parquet("flights")          # doctest: +SKIP
>>> who = spark.read.json("subscriptions.ndjson")    # doctest: +SKIP
>>> siena.spark.match(flights, who).show()           # doctest: +SKIP
"""

from siena.spark.batch.asking import MismatchedKindsWarning, MissingAttributesWarning
from siena.spark.batch.backtesting import Backtest, backtest
from siena.spark.batch.compiling import (
    CompiledSubscriptions,
    Reject,
    UnsatisfiableWarning,
    open_compiled,
)
from siena.spark.batch.join import match_by_join
from siena.spark.batch.matching import (
    compile_subscriptions,
    match,
    unreadable,
)
from siena.spark.batch.parquet import match_parquet
from siena.spark.batch.reducing import Reduction, reduce
from siena.spark.session import start_session
from siena.spark.source.data_source import register_source
from siena.spark.sql import register
from siena.spark.streams.patterns import match_patterns
from siena.spark.streams.versions import VersionedSubscriptions, each_batch, to_parquet
from siena.spark.tally import Tally

__all__ = [
    "Backtest",
    "CompiledSubscriptions",
    "MismatchedKindsWarning",
    "MissingAttributesWarning",
    "Reduction",
    "Reject",
    "Tally",
    "UnsatisfiableWarning",
    "VersionedSubscriptions",
    "backtest",
    "compile_subscriptions",
    "each_batch",
    "match",
    "match_by_join",
    "match_parquet",
    "match_patterns",
    "open_compiled",
    "reduce",
    "register",
    "register_source",
    "start_session",
    "to_parquet",
    "unreadable",
]
