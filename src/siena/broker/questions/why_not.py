"""Why not: of a notification, who wants it, and what the others have against it.

Nothing is published.  The answer is for the whole table of a broker: how many want it;
which constraints keep it from most of the others; the filters that it misses by
least, page by page; and of each neighbour whether it would be sent there, or by what
it misses.
"""

from time import perf_counter
from typing import Any

import numpy as np

from siena.algebra.explanation import explain_matches
from siena.broker.questions.interest_index import Bools, InterestIndex, Ints
from siena.broker.questions.viewing import Viewer, cut
from siena.errors import LimitError
from siena.model import Constraint, Filter, Notification
from siena.model.expression.residual import ResidualPredicate

# Of what is shown at most so many: filters of a page, and constraints.
PAGE_MAX = 200
AGAINST_MAX = 30
# Filters that match and whose residuals are asked; what is beyond counts as wanting.
RESIDUALS_MAX = 1_000

Form = dict[str, Any]


class WhyNot:
    """One notification against all that is wanted."""

    def __init__(
        self, index: InterestIndex, notification: Notification, viewer: Viewer
    ) -> None:
        self._began = perf_counter()
        self._index, self._notification, self._viewer = index, notification, viewer
        self._fails = ~index.truth(notification)
        self._missing = index.sums(self._fails)
        self._seen = viewer.seen(index)
        matched: Ints = np.flatnonzero(self._seen & (self._missing == 0)).astype(
            np.int32
        )
        self._kept_back = self._residuals(matched)
        is_wanting = np.zeros(len(self._seen), np.bool_)
        is_wanting[matched] = True
        is_wanting[list(self._kept_back)] = False
        self._wanting: Ints = np.flatnonzero(is_wanting).astype(np.int32)
        self._is_other: Bools = self._seen & ~is_wanting
        self.wanting = len(self._wanting)
        """How many filters want it."""
        self.others = int(np.count_nonzero(self._is_other))
        """And how many do not."""

    def _residuals(self, matched: Ints) -> dict[int, ResidualPredicate]:
        """The filters that match, and for whose holders no residual holds."""
        found = {}
        for number in matched[:RESIDUALS_MAX].tolist():
            residuals = self._index.residuals(number)
            if residuals and not any(map(self._lets_through, residuals)):
                found[number] = residuals[0]
        return found

    def _lets_through(self, interest: ResidualPredicate) -> bool:
        try:
            return interest.lets_through(self._notification)
        except LimitError:  # then nothing is delivered
            return False

    # --- Parts of the answer --------------------------------------------------------

    def answer(self, limit: int, offset: int, constraint: Constraint | None) -> Form:
        """All of it, with a page of those that it misses by least."""
        limit = min(limit, PAGE_MAX)
        wanting = self._wanting[:limit].tolist()
        said = {
            "text": str(self._notification),
            "filters": self.wanting + self.others,
            "wanting": self.wanting,
            "held": int(self._index.counts()[self._wanting].sum()),
            "wanted_by": [self._viewer.shown(self._index, n) for n in wanting],
            "against": self.against(),
            "near": self.near(limit, offset, constraint),
            "offset": offset,
            "complete": self._viewer.is_complete,
        }
        return {**said, "milliseconds": 1_000 * (perf_counter() - self._began)}

    def against(self) -> list[Form]:
        """The constraints that fail, those first which most filters fail at.

        ``alone`` are the filters of which no other constraint fails.
        """
        fail = self._index.tally(self._fails, self._is_other.astype(np.int32))
        alone = self._is_other & (self._missing == 1)
        only = self._index.tally(self._fails, alone.astype(np.int32))
        most = np.argsort(-fail, kind="stable")[:AGAINST_MAX]
        return [
            {
                "constraint": cut(self._index.constraints[number]),
                "because": self._because(number),
                "filters": int(fail[number]),
                "alone": int(only[number]),
            }
            for number in most.tolist()
            if fail[number]
        ]

    def _because(self, number: int) -> str:
        alone = Filter((self._index.constraints[number],))
        return cut(explain_matches(alone, self._notification)[0].because)

    def near(
        self, limit: int, offset: int, constraint: Constraint | None
    ) -> list[Form]:
        """Those that do not want it, by how little they miss; maybe at one place."""
        chosen = self._is_other
        if constraint is not None:
            chosen = chosen & self._index.has(constraint)
        numbers = np.flatnonzero(chosen)
        order = np.argsort(self._missing[numbers], kind="stable")
        page = numbers[order[offset : offset + limit]]
        return [self._missed(number) for number in page.tolist()]

    def _missed(self, number: int) -> Form:
        shown = self._viewer.shown(self._index, number)
        f = self._index.filters[number]
        reasons = explain_matches(f, self._notification)
        missing = [
            {"constraint": cut(each.subject), "because": cut(each.because)}
            for each in reasons
            if not each.holds
        ]
        if number in self._kept_back:
            text = str(self._kept_back[number]).rpartition(", if ")[2]
            missing = [{"constraint": f"if {cut(text)}", "because": "it does not hold"}]
        return {**shown, "missing": missing, "of": max(1, len(f))}

    def route(self, neighbour: int) -> Form:
        """Whether it would be sent to a neighbour, and for what; or what is missing."""
        numbers = self._index.of_neighbour(neighbour)
        numbers = numbers[self._seen[numbers]]
        said: Form = {"filters": len(numbers), "goes": False, "nearest": None}
        if not len(numbers):
            return said
        nearest = int(numbers[np.argmin(self._missing[numbers])])
        if self._missing[nearest]:
            return {**said, "nearest": self._missed(nearest)}
        return {**said, "goes": True, "by": cut(self._index.filters[nearest])}
