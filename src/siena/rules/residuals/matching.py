"""Rules matched in bulk: the engine finds candidates, residuals decide them."""

from collections.abc import Mapping, Sequence

import numpy as np

from siena.block import decode
from siena.matching.engine.engine import Matches
from siena.matching.input.buffers import encode_all
from siena.matching.kernels.texts import values_of
from siena.matching.table import ForwardingTable
from siena.matching.texts import Bools, Longs
from siena.model import Value
from siena.model.expression import (
    Call,
    Expression,
    compile_expression,
    holds,
    names_of,
)
from siena.model.expression.operations import ANYWHERE
from siena.model.expression.rule import Rule
from siena.model.expression.tree import walk
from siena.rules.residuals.gate import Gate
from siena.rules.residuals.needs import need_of

# Answers of one residual that are remembered, and the bytes of the values of each.
ANSWERS_MAX = 4_096
ANSWER_BYTES_MAX = 1_024


class RuleMatcher:
    """Says which of some rules match, by their places, for many events at a time.

    >>> from siena.dialects import read_rule
    >>> rules = [read_rule("siena", "x > 3"), read_rule("sql", "x < y")]
    >>> matcher = RuleMatcher(rules)
    >>> matcher.match([{"x": 5, "y": 6}, {"x": 5, "y": 1}, {"x": 1}])
    [[0, 1], [0], []]
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.table = ForwardingTable()
        for number, rule in enumerate(rules):
            self.table.add(number, rule.predicate)
        self._residuals = [rule.residual for rule in rules]
        self._is_open = np.array([r is not None for r in self._residuals], np.bool_)
        self._gate = Gate([None if r is None else need_of(r) for r in self._residuals])
        self._names = [None if r is None else _looked_at(r) for r in self._residuals]
        self._answers: dict[int, dict[bytes, bool]] = {}
        for residual in filter(None, self._residuals):
            compile_expression(residual)

    def match(self, events: Sequence[Mapping[str, Value]]) -> list[list[int]]:
        """The rules that match each event."""
        counts, numbers = self.match_buffer(*encode_all(events))
        ends = np.cumsum(counts).tolist()
        found: list[int] = numbers.tolist()
        return [
            found[end - count : end]
            for end, count in zip(ends, counts.tolist(), strict=True)
        ]

    def match_buffer(self, data: bytes, offsets: Longs) -> Matches:
        """The rules that match blocks ``data[offsets[i]:offsets[i + 1]]``."""
        matches = self.table.match_buffer(data, offsets)
        counts = np.maximum(matches.counts, 0)
        numbers = matches.filters[: int(counts.sum())].astype(np.int64)
        is_open = self._is_open[numbers]
        if not is_open.any():
            return matches
        rows = np.repeat(np.arange(len(counts)), counts)
        asked = np.flatnonzero(is_open)
        is_kept = ~is_open
        is_kept[asked] = self._decided(data, offsets, rows[asked], numbers[asked])
        left = np.bincount(rows[is_kept], minlength=len(counts))
        kept = np.where(matches.counts < 0, matches.counts, left)
        return Matches(kept.astype(np.int32), numbers[is_kept].astype(np.int32))

    def _decided(
        self, data: bytes, offsets: Longs, rows: Longs, numbers: Longs
    ) -> Bools:
        """Whether the residual of each candidate holds."""
        found = self._gate.of_blocks(data, offsets, rows, numbers)
        places = np.flatnonzero(found)
        found[places] = [
            self._holds(number, data, start, end)
            for number, start, end in zip(
                numbers[places].tolist(),
                offsets[rows[places]].tolist(),
                offsets[rows[places] + 1].tolist(),
                strict=True,
            )
        ]
        return found

    def _holds(self, number: int, data: bytes, start: int, end: int) -> bool:
        """Whether a residual holds of a block; the same values are not asked again."""
        names = self._names[number]
        if names is None:
            return self._asked(number, data[start:end])
        answers = self._answers.setdefault(number, {})
        values = values_of(data, start, end, names)
        if values is None:
            return self._asked(number, data[start:end])
        if (answer := answers.get(values)) is None:
            answer = self._asked(number, data[start:end])
            if len(values) <= ANSWER_BYTES_MAX:
                if len(answers) >= ANSWERS_MAX:
                    answers.clear()
                answers[values] = answer
        return answer

    def _asked(self, number: int, block: bytes) -> bool:
        residual = self._residuals[number]
        assert residual is not None
        return holds(residual, decode(block))


def _looked_at(expression: Expression) -> tuple[bytes, ...] | None:
    """The names that an expression looks at, in order; none if it looks at all."""
    for node in walk(expression):
        if isinstance(node, Call) and node.operation in ANYWHERE:
            return None
    return tuple(sorted(name.encode() for name in names_of(expression)))
