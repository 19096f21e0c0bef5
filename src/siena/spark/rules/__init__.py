"""Rules on Spark: tables and streams of events in, alerts out.

``sources`` (where rules come from) → ``counting`` (conditions on several events),
``distinct`` (each value of a batch once), ``deciding`` (residuals) → ``compiled`` (one
file for all workers) → ``why``, ``alerting`` (what a task does) →
``remembering`` (windows, suppression) → ``live`` (rules that change) → ``applying``;
``history`` tries rules on the past.

>>> from siena.spark.rules import apply
>>> events = spark.read.parquet("events")                    # doctest: +SKIP
>>> apply(events, "rules.csv", key="id").show()              # doctest: +SKIP
"""

from siena.rules.reading import RuleSettings
from siena.spark.rules.applying import (
    Suppression,
    alerts,
    apply,
    bad_events,
    metrics,
)
from siena.spark.rules.compiled import CompiledRules, compile_rules, open_rules
from siena.spark.rules.history import RulesBacktest, backtest
from siena.spark.rules.live import LiveRules, Published
from siena.spark.rules.sources import rule_set

__all__ = [
    "CompiledRules",
    "LiveRules",
    "Published",
    "RuleSettings",
    "RulesBacktest",
    "Suppression",
    "alerts",
    "apply",
    "backtest",
    "bad_events",
    "compile_rules",
    "metrics",
    "open_rules",
    "rule_set",
]
