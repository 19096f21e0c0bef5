"""Figures of several rounds, and their table, with ratios of the same rounds."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from siena.bench.broker.report import machine

# One round of one contender: how many of its unit for a CPU second.
Measure = Callable[[], float]


class Line(NamedTuple):
    """What one contender did, in rounds; the first line of a question is ours."""

    question: str
    name: str
    unit: str
    rates: list[float]


def measure(
    question: str,
    unit: str,
    contenders: Mapping[str, Measure],
    rounds: int,
    say: Callable[[str], None],
) -> list[Line]:
    """Let all have their rounds in turn; the first round of each does not count."""
    lines = [Line(question, name, unit, []) for name in contenders]
    for number in range(rounds + 1):
        for line, once in zip(lines, contenders.values(), strict=True):
            say(f"{question}: {line.name}, round {number} of {rounds}")
            rate = once()
            if number:
                line.rates.append(rate)
    return lines


def ratios(ours: Line, other: Line) -> list[float]:
    """Ours against another's, round by round.

    >>> ratios(Line("q", "a", "x", [4.0, 9.0]), Line("q", "b", "x", [2.0, 3.0]))
    [2.0, 3.0]
    """
    return [a / b for a, b in zip(ours.rates, other.rates, strict=True)]


def show(lines: Sequence[Line]) -> None:
    """Print a table, and on what machine it was measured."""
    table = Table(box=None, header_style="dim")
    for column in ("question", "", "per CPU second", "spread", "first / this"):
        is_text = column in {"question", ""}
        table.add_column(column, justify="left" if is_text else "right", no_wrap=True)
    for line in lines:
        base = next(each for each in lines if each.question == line.question)
        of = ratios(base, line)
        table.add_row(
            line.question if line is base else "",
            line.name,
            f"{median(line.rates):,.0f} {line.unit}",
            f"{min(line.rates):,.0f} … {max(line.rates):,.0f}",
            "" if line is base else f"{median(of):.2f} ({min(of):.2f} … {max(of):.2f})",
        )
    console = Console(highlight=False, width=max(Console().width, 150))
    console.print(table)
    known = machine()
    console.print(
        f"{known['processor']}, {known['cores']} cores, {known['system']}, "
        f"Python {known['python']}",
        soft_wrap=True,
    )


def as_object(lines: Sequence[Line]) -> dict[str, Any]:
    """All of it, for programs."""
    return {"machine": machine(), "lines": [line._asdict() for line in lines]}
