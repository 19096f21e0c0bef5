"""Reading Sigma rules into expressions.

pySigma reads the YAML, applies the modifiers and, if one is given, a processing
pipeline; what is left is a tree of fields and values.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from sigma.exceptions import SigmaError
from sigma.processing.pipeline import ProcessingPipeline
from sigma.rule import SigmaRule
from yaml import MarkedYAMLError, YAMLError

from siena.dialects.sigma.conditions import read_condition
from siena.dialects.sigma.logsources import WAYS, LogSource
from siena.errors import FilterError, FilterSyntaxError, LimitError, SienaError
from siena.model.expression import Expression, all_of, any_of
from siena.model.limits import TEXT_CHARACTERS_MAX

_CORRELATION = re.compile(r"^correlation\s*:", re.MULTILINE)
# Pipelines that are remembered as they were read.
PIPELINES_KEPT = 8
# What pySigma raises of YAML that is no rule, beside errors of its own.
_STUMBLES = (
    AttributeError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)


class SigmaSettings(NamedTuple):
    """How the fields and the log source of a rule are read.

    ``fields`` names the attribute of a field where it is called otherwise;
    ``logsource`` is ``attributes``, ``windows`` or ``none``
    (:mod:`siena.dialects.sigma.logsources`); ``pipeline`` is one of pySigma's.
    """

    fields: Mapping[str, str] = {}
    logsource: str = "attributes"
    pipeline: ProcessingPipeline | None = None


@lru_cache(PIPELINES_KEPT)
def read_pipeline(text: str) -> ProcessingPipeline:
    """A processing pipeline of pySigma's, in YAML.

    Raises:
        FilterError: if it is none.
    """
    try:
        found: ProcessingPipeline = ProcessingPipeline.from_yaml(text)
    except (SigmaError, YAMLError, *_STUMBLES) as error:
        raise FilterError(f"this is not a pipeline: {_message(error)}") from None
    return found


def read_sigma(text: str, settings: SigmaSettings | None = None) -> Expression:
    """The expression of a rule in YAML."""
    settings = settings or SigmaSettings()
    rule = _rule(text)
    try:
        if settings.pipeline is not None:
            settings.pipeline.apply(rule)
        return _expression(rule, settings)
    except (SigmaError, *_STUMBLES) as error:
        raise FilterError(_message(error)).about(_shown(rule)) from None
    except SienaError as error:
        raise error.about(_shown(rule)) from None


def _rule(text: str) -> SigmaRule:
    if len(text) > TEXT_CHARACTERS_MAX:
        what = "characters of text"
        raise LimitError("TEXT_CHARACTERS_MAX", TEXT_CHARACTERS_MAX, what)
    if _CORRELATION.search(text):
        raise FilterError(
            "a correlation is about several events, and this reads rules about one",
            hint="write it as a pattern",
        )
    try:
        return SigmaRule.from_yaml(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        found = FilterSyntaxError(f"this is not YAML: {error.problem}")
        raise found.at(text, mark.index if mark else 0) from None
    except (SigmaError, YAMLError) as error:
        raise FilterError(_message(error)) from None
    except _STUMBLES as error:
        raise FilterError(f"this is not a rule: {_message(error)}") from None


def _expression(rule: SigmaRule, settings: SigmaSettings) -> Expression:
    source = rule.logsource
    parts = LogSource(source.category, source.product, source.service)
    wanted = any_of(
        read_condition(condition.parsed, lambda name: settings.fields.get(name, name))
        for condition in rule.detection.parsed_condition
    )
    return all_of((WAYS[settings.logsource](parts), wanted))


def _shown(rule: SigmaRule) -> str:
    return " ".join(str(rule.title).split())[:100]


def _message(error: Exception) -> str:
    return " ".join(str(error).split())
