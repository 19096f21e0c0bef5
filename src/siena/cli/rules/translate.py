"""``siena translate``: rules in the languages of others, and back."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from siena.cli.rules.event_options import ManyOption
from siena.cli.rules.options import (
    FieldsOption,
    LogsourceOption,
    PipelineOption,
    settings_of,
)
from siena.cli.terminal.completion import WRITTEN, dialects, one_of
from siena.errors import SienaError
from siena.model.expression import spell_expression
from siena.model.expression.rule import Rule

# A rule in a file: longer than any text that a reader takes.
FILE_BYTES_MAX = 4 * 1_048_576
# Filters that a person is shown; --json has them all.
FILTERS_SHOWN = 20


def translate(
    rule: Annotated[
        str, typer.Argument(help="The rule, or a file with it, or - for stdin.")
    ],
    *,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="The dialect of the rule: cesql, cloudevents, sql, amqp, azure, "
            "eventbridge, sns, sigma, siena or expression.",
            autocompletion=dialects,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            help="Write it in this language, if that is exact: siena, sql, amqp, "
            "azure, eventbridge, sns; or as an expression, which always is.",
            autocompletion=one_of(*WRITTEN),
            show_default=False,
        ),
    ] = None,
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: FieldsOption = None,
    pipeline: PipelineOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Answer with one JSON object.")
    ] = False,
) -> None:
    """Read a rule of another language as a filter, and say whether that is exact.

    What filters cannot say is covered by what they can, and stays as a residual, an
    expression that decides what the filters let through.

    \b
    Examples:
      siena translate --from sql "price * 2 > 7 AND symbol LIKE 'D%'"
      siena translate --from cesql "type LIKE 'com.%' AND sequence = 5"
      siena translate --from eventbridge '{"detail": {"state": ["on"]}}' --to sql
      siena translate --from sigma rule.yml --logsource windows --json
    """  # noqa: D301 -- Typer needs the backspace itself
    from siena.dialects import read_rule
    from siena.dialects.writing import write_rule
    from siena.lang.expression import expression_to_json
    from siena.lang.interest_form import interest_to_json

    settings = settings_of(many, logsource, rename, pipeline)
    try:
        found = read_rule(
            source,
            _text(rule),
            many=settings.many,
            logsource=settings.logsource,
            fields=settings.fields,
            pipeline=settings.pipeline_text(),
        )
        written = write_rule(found, to) if to is not None else None
    except SienaError as error:
        if as_json:
            print(json.dumps({"error": str(error)}))
        elif error.place is not None and not sys.stderr.isatty():
            print(error.place.pointer(), file=sys.stderr)  # a terminal gets it anyway
        raise
    if as_json:
        residual = found.residual
        answer = {
            "exact": found.is_exact,
            "filters": len(found.predicate),
            "predicate": interest_to_json(found.predicate),
            "residual": None if residual is None else expression_to_json(residual),
        }
        print(json.dumps(answer if written is None else {**answer, "text": written}))
    elif written is not None:
        print(written)
    else:
        _show(found)


def _show(found: Rule) -> None:
    count = len(found.predicate)
    filters = "1 filter" if count == 1 else f"{count} filters"
    print(f"{filters}, exact" if found.is_exact else f"{filters} and a residual")
    for filter_ in found.predicate.filters[:FILTERS_SHOWN]:
        print(f"  {filter_}")
    if count > FILTERS_SHOWN:
        print(f"  … and {count - FILTERS_SHOWN} more (--json has them all)")
    if found.residual is not None:
        print(f"if  {spell_expression(found.residual)}")


def _text(rule: str) -> str:
    if rule == "-":
        if sys.stdin is None:
            raise SienaError("there is no standard input to read")
        return sys.stdin.read(FILE_BYTES_MAX)
    path = Path(rule)
    # A rule is seldom the name of a file that is there, and then it is quoted wrong.
    if len(rule) > 255 or "\n" in rule or not path.is_file():
        return rule
    if path.stat().st_size > FILE_BYTES_MAX:
        raise SienaError(f"{rule} is longer than a rule may be")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SienaError(f"{rule} is not a text in UTF-8") from None
