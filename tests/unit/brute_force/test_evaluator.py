"""The evaluator itself, against the golden rows of A.5.5 and against plainer ways."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from random import Random

import pytest

from brute_force.drawing import draw_question
from brute_force.evaluator import (
    LOOKED_UP,
    Question,
    _search,
    decide,
    is_witness,
)
from brute_force.language import (
    ADMITTED,
    All,
    Constraint,
    Expression,
    Negation,
    Notification,
    Raw,
    Value,
    constraints_in,
    selects,
)
from brute_force.universe import (
    EXHAUSTIVE,
    FOREIGN,
    LETTERS,
    Values,
    _with_a_foreigner,
    _words,
    constructed,
)


def x(operator: str, operand: int | None = None) -> Constraint:
    return Constraint("x", "integer", operator, operand)


def y(operator: str, operand: float) -> Constraint:
    return Constraint("y", "float", operator, operand)


def s(operator: str, operand: str) -> Constraint:
    return Constraint("s", "string", operator, operand)


def z(operator: str, operand: bool) -> Constraint:  # noqa: FBT001 # a value
    return Constraint("z", "boolean", operator, operand)


def what(operand: str) -> Constraint:
    return Constraint("what", "string", "=", operand)


LEVEL_ANY = Constraint("level", "integer", "any")
LEVEL_ABOVE_3 = Constraint("level", "integer", ">", 3)
FLOAT_ABOVE_3 = Constraint("x", "float", ">", 3.0)
ALARM, LOGIN = what("alarm"), what("login")
FINANCE = (s(">*", "finance/"), s("*", "stock"))
AB_BA = (s(">*", "ab"), s("*<", "ba"))
Row = tuple[str, str, Iterable[Constraint], Iterable[Constraint], bool]

GOLDEN: list[Row] = [
    ("T_A20", "covers", [x(">", 3), x("<", 7)], [x("=", 5)], True),
    ("T_A21", "covers", [x("=", 4)], [x(">", 3), x("<", 5)], True),
    ("T_A22", "covers", [x(">", 3), x("<", 5)], [x("=", 4)], True),
    ("T_A22_equal", "equivalent", [x(">", 3), x("<", 5)], [x("=", 4)], True),
    ("T_A23", "covers", [y("=", 4.0)], [y(">", 3.0), y("<", 5.0)], False),
    ("T_A24", "covers", [x(">", 4)], [x(">", 3), x("!=", 4)], True),
    ("T_A25", "covers", [x("!=", 10)], [x(">", 3), x("<", 7)], True),
    ("T_A26", "covers", [x("=", 3)], [x(">=", 3), x("<=", 3)], True),
    ("T_A27", "covers", [what("anything")], [x(">", 5), x("<", 3)], True),
    ("T_A28", "covers", [x("any")], [], False),
    ("T_A29", "covers", [], [x("any")], True),
    ("T_A29_empty", "covers", [], [], True),
    ("T_A30", "covers", [x(">", 3)], [x(">", 3), y("<", 1.0)], True),
    ("T_A31", "covers", [x(">", 3), y("<", 1.0)], [x(">", 3)], False),
    ("T_A32", "covers", [s(">*", "ab")], [s(">=", "abc"), s("<=", "abd")], True),
    ("T_A33", "covers", [s(">*", "a")], [s(">", "a"), s("<", "b")], True),
    ("T_A34", "covers", [s("*", "nance")], FINANCE, True),
    ("T_A35", "covers", [s("*", "abc")], [s(">*", "ab"), s("*<", "bc")], False),
    (
        "T_A36",
        "covers",
        [s("=", "a\0")],
        [s(">=", "a"), s("<=", "a\0"), s("!=", "a")],
        True,
    ),
    ("T_A37", "covers", [s("!=", "ab")], AB_BA, True),
    ("T_A38", "covers", [s("!=", "aba")], AB_BA, False),
    ("T_A39", "covers", [s("<=", "az")], [s(">*", "a")], False),
    ("T_A40", "covers", [s(">=", "a")], [s(">*", "a")], True),
    ("T_A41", "covers", [s(">", "a")], [s(">*", "a")], False),
    ("T_A42", "covers", [s("=", "zzz")], [s("*<", "ab"), s("*<", "cb")], True),
    ("T_A43", "covers", [s(">*", "ab")], [s(">=", "ab"), s("<", "ac")], True),
    ("T_A43_back", "covers", [s(">=", "ab"), s("<", "ac")], [s(">*", "ab")], True),
    ("T_A44", "covers", [z("=", False)], [z("!=", True)], True),
    ("T_A44_back", "covers", [z("!=", True)], [z("=", False)], True),
    ("T_A45", "covers", [x(">", 3)], [FLOAT_ABOVE_3], False),
    (
        "T_A46",
        "covers",
        [x("=", 1)],
        [x("=", 1), Constraint("x", "float", "=", 1.0)],
        True,
    ),
    ("T_A50", "covers-advertisement", [x("<", 5), x(">=", 5)], [x("any")], True),
    ("T_A51", "covers-advertisement", [x("any")], [x("<", 5), x(">", 9)], True),
    ("T_A52", "covers-advertisement", [ALARM, LOGIN], [ALARM], True),
    ("T_A53", "covers-advertisement", [ALARM], [ALARM, LEVEL_ANY], False),
    ("T_A54", "overlaps", [x("=", 3), x("=", 7)], [x(">", 3), x("<", 5)], False),
    ("T_A55", "overlaps", [ALARM, LEVEL_ANY], [ALARM, LEVEL_ABOVE_3], True),
    ("T_A56", "overlaps", [ALARM, LEVEL_ANY], [LOGIN], False),
    ("T_A57", "overlaps", [ALARM], [ALARM, LEVEL_ABOVE_3], False),
    ("T_A58", "overlaps", [ALARM], [], True),
    ("T_A58_empty", "overlaps", [], [], True),
]


@pytest.mark.parametrize(
    ("relation", "left", "right", "expected"),
    [row[1:] for row in GOLDEN],
    ids=[row[0] for row in GOLDEN],
)
def test_a_golden_row_is_decided_as_the_specification_says(
    relation: str,
    left: Iterable[Constraint],
    right: Iterable[Constraint],
    expected: bool,  # noqa: FBT001 # a column
) -> None:
    question = Question(relation, (All(tuple(left)), All(tuple(right))))
    verdict = decide(question)
    assert verdict.answer is expected
    assert verdict.witness is None or is_witness(question, verdict.witness)


@pytest.mark.parametrize(
    ("expected", "parts"),
    [
        (True, (*AB_BA, Negation(s("=", "aba")))),
        (
            False,
            (
                s("<=", "a\0"),
                s(">=", "a"),
                Negation(s("=", "a")),
                Negation(s("=", "a\0")),
            ),
        ),
        (False, (s("*", "xy"), Negation(s("*", "x")))),
        (True, (s("*", "x"), Negation(s("*", "xy")))),
        (False, (s("*<", "ab"), Negation(s("*<", "b")))),
        (True, (s("*<", "b"), Negation(s("*<", "ab")))),
    ],
)
def test_T_A49_is_decided_as_the_specification_says(  # the id
    expected: bool,  # noqa: FBT001 # a column
    parts: tuple[Expression, ...],
) -> None:
    assert decide(Question("satisfiable", (All(parts),))).answer is expected


def test_T_A59_an_empty_advertisement_admits_the_empty_notification() -> None:
    assert decide(Question("admits", (All(),), {})).answer
    something = {"x": Value("integer", 1)}
    assert not decide(Question("admits", (All(),), something)).answer


@pytest.mark.parametrize(
    ("general", "specific", "expected"),
    [
        (("number", ">", 3), [("integer", ">", 3)], True),
        (("integer", ">", 3), [("number", ">", 3)], False),
        (("number", "=", 4), [("number", ">", 3), ("number", "<", 5)], False),
        (("untyped", "any", None), [("number", "any", None)], True),
        (("number", "any", None), [("untyped", "any", None)], False),
        (("float", ">", 2.0**53), [("float", ">=", 2.0**53 + 2)], True),
        (("number", ">=", 2.0**53 + 2), [("float", ">", 2.0**53)], True),
        (("number", ">=", 2.0**53 + 2), [("number", ">", 2.0**53)], False),
        (("number", ">", 2**53 + 1), [("float", ">", 2.0**53)], True),
        (("number", "<", 2.0**63), [("integer", "any", None)], True),
    ],
)
def test_numbers_are_compared_as_reals(
    general: tuple[str, str, Raw | None],
    specific: Iterable[tuple[str, str, Raw | None]],
    expected: bool,  # noqa: FBT001 # a column
) -> None:
    others = All(tuple(Constraint("x", *parts) for parts in specific))
    question = Question("covers", (All((Constraint("x", *general),)), others))
    assert decide(question).answer is expected


def test_constructed_values_meet_every_cell_of_the_exhaustive_universe() -> None:
    """The argument at the top of universe.py, tried on strings and numbers."""
    random = Random(7)
    for _ in range(150):
        question = draw_question(random)
        by_name: dict[str, list[Constraint]] = {}
        for expression in question.expressions:
            for constraint in constraints_in(expression):
                by_name.setdefault(constraint.name, []).append(constraint)
        for constraints in by_name.values():
            exhaustive, few = (
                _cells(values, constraints)
                for values in (EXHAUSTIVE, constructed(constraints))
            )
            assert exhaustive <= few, constraints


def _cells(values: Values, constraints: Iterable[Constraint]) -> set[tuple[bool, ...]]:
    masks = [values.mask(constraint) for constraint in constraints]
    size = values.everything.bit_length()
    return {tuple(bool(mask >> bit & 1) for mask in masks) for bit in range(size)}


def test_masks_agree_with_the_definition_of_each_operator() -> None:
    random = Random(8)
    for _ in range(150):
        for expression in draw_question(random).expressions:
            for constraint in constraints_in(expression):
                values = constructed([constraint])
                mask = values.mask(constraint)
                for bit in range(1, values.everything.bit_length()):
                    assert bool(mask >> bit & 1) == selects(constraint, values[bit])


def test_boxes_find_a_witness_if_and_only_if_plain_enumeration_does() -> None:
    """Over a few values, every notification is tried one by one."""
    random = Random(9)
    seen = set()
    for _ in range(500):
        question = draw_question(random)
        if question.relation in LOOKED_UP:
            continue
        universe = _few_values(question)
        found = any(is_witness(question, n) for n in _notifications(universe))
        assert (_search(question, universe) is not None) is found, question
        seen.add((question.relation, found))
    assert len(seen) == 10  # five relations, each found and not found


def _few_values(question: Question) -> dict[str, Values]:
    """The operands themselves and one other value, for each name."""
    raws: dict[str, dict[str, list[Raw]]] = {}
    for expression in question.expressions:
        for name, wanted, _, operand in constraints_in(expression):
            by_kind = raws.setdefault(name, {"string": ["!"]})
            for kind in ADMITTED[wanted]:
                is_of_kind = kind != "integer" or isinstance(operand, int)
                if operand is not None and is_of_kind:
                    by_kind.setdefault(kind, []).append(operand)
    return {name: Values(by_kind) for name, by_kind in raws.items()}


def _notifications(universe: Mapping[str, Values]) -> Iterator[Notification]:
    sizes = [values.everything.bit_length() for values in universe.values()]
    for bits in product(*map(range, sizes)):
        pairs = zip(universe, bits, strict=True)
        yield {name: universe[name][bit] for name, bit in pairs if bit}


def test_the_exhaustive_universe_is_that_of_the_specification() -> None:
    words = set(_words(LETTERS, 5))
    assert len(words) == sum(4**length for length in range(6))
    assert all(set(FOREIGN) & set(word) for word in _with_a_foreigner(_words("ab", 2)))


def test_every_relation_is_drawn_with_both_answers() -> None:
    random = Random(10)
    seen = {
        (question.relation, decide(question).answer)
        for question in (draw_question(random) for _ in range(600))
    }
    relations = {relation for relation, _ in seen}
    assert len(seen) == 2 * len(relations) == 14
