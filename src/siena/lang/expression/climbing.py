"""Climbing: reading what is joined by operations of different strengths.

A reader says what an operand is, how strongly the token at the front joins, and what it
makes of the left side and the rest.  However many strengths there are, a parenthesis is
three calls deep, so that what may be nested fits on Python's stack.
"""

import abc
import re
from collections.abc import Callable
from typing import Generic, TypeVar

from siena.errors import LimitError
from siena.lang.expression.tokens import Tokens
from siena.model.limits import NESTING_MAX

T = TypeVar("T")


class Climber(abc.ABC, Generic[T]):
    """A text, its tokens, and how deep the reader is in it."""

    def __init__(
        self,
        text: str,
        pattern: re.Pattern[str],
        folded: Callable[[str], str] = str.lower,
    ) -> None:
        self.tokens = Tokens(text, pattern, folded)
        self.depth = 0

    def climb(self, weakest: int = 0) -> T:
        """What is joined by operations that are at least so strong."""
        if self.depth == NESTING_MAX:
            what = "levels of parentheses, signs and not"
            raise LimitError("NESTING_MAX", NESTING_MAX, what).at(
                self.tokens.text, self.tokens.start
            )
        self.depth += 1
        start = self.tokens.start
        found = self.operand()
        while (strength := self.strength()) is not None and strength >= weakest:
            found = self.joined(found, strength, start)
        self.depth -= 1
        return found

    @abc.abstractmethod
    def operand(self) -> T:
        """What stands between operations."""

    @abc.abstractmethod
    def strength(self) -> int | None:
        """How strongly the token at the front joins; None if it does not."""

    @abc.abstractmethod
    def joined(self, left: T, strength: int, start: int) -> T:
        """What the token at the front makes of the left side, begun at ``start``."""
