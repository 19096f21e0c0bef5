"""``siena rules publish``: rules for streams that run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from siena.cli.common.spark_jobs import require_spark
from siena.cli.rules.event_options import ManyOption
from siena.cli.rules.options import (
    FieldsOption,
    LogsourceOption,
    PipelineOption,
    settings_of,
)
from siena.cli.rules.spark_options import Dialect, RulesPath, say_aside


def rules_publish(
    rules: RulesPath,
    folder: Annotated[
        Path, typer.Argument(help="Where streams look for rules; made if need be.")
    ],
    *,
    dialect: Dialect = "siena",
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: FieldsOption = None,
    pipeline: PipelineOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Answer with one JSON object.")
    ] = False,
) -> None:
    """Put rules in force, for the next micro-batch of streams that watch the folder.

    No stream is started anew.  What cannot be read is set aside and named on stderr.

    \b
    Examples:
      siena rules publish rules.csv live
      siena rules apply live incoming/ --stream --output alerts
      siena rules publish sigma/ live --logsource windows --json
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    from siena.spark.rules import LiveRules

    settings = settings_of(many, logsource, rename, pipeline)
    live = LiveRules(folder, settings=settings)
    published = live.publish(rules, dialect=dialect)
    count = say_aside(published.rejects)
    if as_json:
        form = {
            "revision": published.revision,
            "rules": published.rules,
            "set_aside": [aside._asdict() for aside in published.rejects],
        }
        print(json.dumps(form))
    else:
        more = f", {count:,} set aside" if count else ""
        print(f"revision {published.revision}: {published.rules:,} rules{more}")
