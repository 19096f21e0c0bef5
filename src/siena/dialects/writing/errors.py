"""Why a predicate is not written in another language."""

from siena.errors import FilterError
from siena.model import Constraint


class NotWritableError(FilterError):
    """Something that the other language does not say, or says differently."""

    def __init__(self, constraint: Constraint, language: str) -> None:
        super().__init__(
            f"{language} cannot say: {constraint}",
            hint="nothing is written that would match anything else",
        )
