"""Texts of filters into a piece: those that are good, and which they are."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.errors import InvalidFormError, SienaError
from siena.lang.interest_form import interest_from_json
from siena.lang.json_text import read_json
from siena.lang.parser import parse_interest
from siena.matching.pieces import Piece, make_piece
from siena.model import Filter, Pattern, Predicate


class ReadTexts(NamedTuple):
    """The interests of all texts that are good, and which those are; both ascend."""

    piece: Piece
    good: npt.NDArray[np.int32]


def read_interest(text: str | None, *, residuals: bool = False) -> Filter | Predicate:
    """A filter or predicate, of text or of its JSON form; perhaps with a residual.

    Raises:
        SienaError: if there is none, or it is something else.
    """
    if text is None:
        raise InvalidFormError("there is no filter")
    is_json = text.lstrip().startswith(("{", "[{"))
    interest = (
        interest_from_json(read_json(text))
        if is_json
        else parse_interest(text, residuals=residuals)
    )
    if isinstance(interest, Pattern):
        raise InvalidFormError(
            "a pattern cannot be a filter here", hint="siena.spark.match_patterns"
        )
    return interest


def read_chunk(texts: Sequence[str | None]) -> ReadTexts:
    """The interests of texts, one after the other.

    What is wrong with a bad one :func:`read_interest` says.

    >>> found = read_chunk(["x > 3", "x >", "y any"])
    >>> found.piece.interests, found.good.tolist()
    (2, [0, 2])
    """
    good: list[int] = []

    def interests() -> Iterator[Filter | Predicate]:
        for place, text in enumerate(texts):
            try:
                interest = read_interest(text, residuals=True)
            except SienaError:
                continue
            good.append(place)
            yield interest

    piece = make_piece(interests())
    return ReadTexts(piece, np.array(good, np.int32))
