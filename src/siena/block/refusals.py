"""Refusals: the reasons for which bytes are no block, as numbers and in words."""

from enum import IntEnum


class Refusal(IntEnum):
    """Why a block is bad; the engine's kernel has the same numbers."""

    TRUNCATED = 1
    TRAILING = 2
    NOT_A_MAP = 3
    NESTED = 4
    WRONG_TYPE = 5
    DUPLICATE = 6
    NOT_UTF8 = 7
    NOT_FINITE = 8
    OUT_OF_RANGE = 9
    TOO_MANY = 10
    TOO_LONG = 11
    # The one reason that no kernel gives: a text was to become a block, and did not.
    NOT_JSON = 12


BLOCK_ERRORS: dict[int, str] = {
    Refusal.TRUNCATED: "it ends too early",
    Refusal.TRAILING: "something stands behind its end",
    Refusal.NOT_A_MAP: "it is not a map",
    Refusal.NESTED: "it has a value with values inside",
    Refusal.WRONG_TYPE: "it has a value of another type",
    Refusal.DUPLICATE: "a name occurs twice",
    Refusal.NOT_UTF8: "a string is not UTF-8",
    Refusal.NOT_FINITE: "a float is not finite",
    Refusal.OUT_OF_RANGE: "a number or time is out of range",
    Refusal.TOO_MANY: "it has too many attributes",
    Refusal.TOO_LONG: "it, a name or a string is too long",
    Refusal.NOT_JSON: "it is not a notification in its JSON form",
}
"""Each reason in words, to stand behind "not a notification:"."""
