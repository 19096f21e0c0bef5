"""A study with other parameters than those of its plan: ``--set sites=200``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from siena.errors import SienaError
from siena.research.studies.framework.claim import Answer, Decide, undecided
from siena.research.studies.framework.rows import Cell, Row
from siena.research.studies.framework.study import Size, Study

# What the plan itself counts, and an option sets.
SEED = "seed"


def override(study: Study, settings: Mapping[str, str]) -> Study:
    """The study with some parameters set in all its rows, under a name that says so.

    Rows that become equal are computed once.

    Raises:
        SienaError: if a row has no such parameter, or the value is not of its type.
    """
    if not settings:
        return study

    def plan(size: Size, seeds: int) -> list[Row]:
        rows = study.plan(size, seeds)
        cells = {name: _cell(study, rows, name, settings[name]) for name in settings}
        changed = ({**row, **cells} for row in rows)
        return list({tuple(row.items()): row for row in changed}.values())

    plan("quick", 1)  # a mistake is said now
    words = ",".join(f"{name}={value}" for name, value in sorted(settings.items()))
    claims = tuple(
        replace(claim, decide=_if_it_can(claim.decide)) for claim in study.claims
    )
    return replace(study, name=f"{study.name}@{words}", plan=plan, claims=claims)


def _if_it_can(decide: Decide) -> Decide:
    """A claim is written for the rows of its plan; others may not decide it."""

    def answer(rows: Sequence[Row]) -> Answer:
        try:
            return decide(rows)
        except (ArithmeticError, AssertionError, LookupError, ValueError) as error:
            return undecided(f"the claim is about other rows: {error}")

    return answer


def read_settings(texts: Iterable[str]) -> dict[str, str]:
    """What ``name=value`` sets.

    >>> read_settings(["sites=200"])
    {'sites': '200'}
    """
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise SienaError(f"{text!r} is not name=value")
        settings[name.strip()] = value.strip()
    return settings


def _cell(study: Study, rows: list[Row], name: str, value: str) -> Cell:
    """The value, of the type that the plan gives the parameter."""
    known = {other for row in rows for other in row} - {SEED}
    if name not in known:
        raise SienaError(
            f"{study.name} has no parameter {name!r}",
            hint=f"it has {', '.join(sorted(known))}",
        )
    kinds = {type(row[name]) for row in rows if row.get(name) is not None}
    try:
        if bool in kinds:
            return {"true": True, "false": False}[value.lower()]
        if kinds == {int}:
            return int(value)
        return float(value) if kinds <= {int, float} else value
    except (KeyError, ValueError):
        names = " or ".join(sorted(kind.__name__ for kind in kinds))
        raise SienaError(f"{name} is {names}, and not {value!r}") from None
