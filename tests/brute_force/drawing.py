"""Drawing questions at random, over domains so small that constraints meet.

Random filters over a large domain never touch each other, and a comparison would pass
by never being asked anything.  So each line has a few *topics*: a name, the kinds that
it is spoken of in, and a handful of close operands; and its second expression is often
a small change of the first.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from brute_force.evaluator import Question
from brute_force.language import (
    INTEGER_MAX,
    INTEGER_MIN,
    TIME_MAX,
    TIME_MIN,
    All,
    Constraint,
    Either,
    Expression,
    Negation,
    Notification,
    OneOf,
    Raw,
    Value,
    constraints_in,
)
from brute_force.universe import FLOAT_MAX, LETTERS

T = TypeVar("T")

RELATIONS = {
    "matches": 15,
    "admits": 10,
    "covers": 35,
    "covers-advertisement": 15,
    "overlaps": 15,
    "satisfiable": 10,
    "equivalent": 10,
}
# The wants that one name is spoken of in, and how often.
THEMES = {
    ("string",): 32,
    ("integer",): 14,
    ("float",): 8,
    ("number", "integer", "float"): 20,
    ("boolean",): 7,
    ("time",): 8,
    ("string", "number"): 5,
    ("boolean", "integer", "float"): 3,
    ("time", "integer", "string"): 3,
}
# Plain, reserved, in need of quotes, and one that only a naive reader splits in two.
NAMES = ("x", "y", "a-b.c", "and", "Integer", "odd name", "é", 'q"\\', "p\u2028q")
# Wants that need not be written, because a literal says them.
UNWRITTEN = frozenset({"string", "number", "boolean", "time"})
ORDERED = ("=", "!=", "<", "<=", ">", ">=")
PATTERNED = (">*", ">*", "*<", "*")
INTEGER_HOMES = (
    (tuple(range(-3, 4)), 85),
    ((INTEGER_MIN, INTEGER_MIN + 1, INTEGER_MIN + 2), 5),
    ((INTEGER_MAX - 2, INTEGER_MAX - 1, INTEGER_MAX), 5),
    ((2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2), 5),
)
NOW = 1_794_710_403_000_000  # 2026-11-15T02:40:03Z
TIME_HOMES = (
    (tuple(NOW + step for step in range(-2, 3)), 70),
    ((-1, 0, 1, 1_000_000), 15),
    ((TIME_MIN, TIME_MIN + 1, TIME_MIN + 2), 7),
    ((TIME_MAX - 2, TIME_MAX - 1, TIME_MAX), 8),
)
# The letters of A.5.6; neighbours of the surrogates, which succ() has to skip; and
# what a reader could take for something else.
ALPHABETS = ((LETTERS, 88), ("a\ud7ff\ue000\U0010ffff", 7), ("1\"'\\ \n", 5))
# Drawn predicates stay small, so that "not shown" is no excuse for the product.
FILTERS_MAX = 12


@dataclass(frozen=True, slots=True)
class Topic:
    """A name, and what a line may say of it."""

    name: str
    wants: Sequence[str]
    strings: Sequence[str]
    integers: Sequence[int]
    floats: Sequence[float]
    times: Sequence[int]

    def operands(self, wanted: str, random: Random) -> Sequence[Raw]:
        """The operands to choose from for a constraint, or a value, of that kind."""
        match wanted:
            case "string":
                return self.strings
            case "integer":
                return self.integers
            case "float":
                return self.floats
            case "number":
                return self.integers if random.random() < 0.6 else self.floats
            case "time":
                return self.times
            case _:
                return (False, True)


def draw_question(random: Random) -> Question:
    """A question about one to three names."""
    relation = random.choices(list(RELATIONS), list(RELATIONS.values()))[0]
    drawer = Drawer(random)
    match relation:
        case "matches":
            expression = drawer.predicate()
            return Question(relation, (expression,), drawer.notification(expression))
        case "admits":
            expression = drawer.advertisement()
            return Question(relation, (expression,), drawer.notification(expression))
        case "satisfiable":
            return Question(relation, (drawer.predicate(),))
        case "overlaps":
            return Question(relation, (drawer.advertisement(), drawer.predicate()))
        case "covers-advertisement":
            return Question(relation, drawer.pair(drawer.advertisement))
        case "equivalent":
            return Question(relation, drawer.twins())
        case _:
            return Question(relation, drawer.pair(drawer.predicate))


class Drawer:
    """Expressions and notifications about one line's topics."""

    def __init__(self, random: Random) -> None:
        self._random = random
        count = random.choices((1, 2, 3), (45, 38, 17))[0]
        self._topics = [self._topic(name) for name in random.sample(NAMES, count)]

    def predicate(self) -> Expression:
        """A filter, or for a share of the lines a predicate with or, not and in."""
        if self._chance(0.65):
            return self.filter()
        while True:
            predicate = self._tree(depth=2)
            if _filters(predicate) <= FILTERS_MAX:
                return predicate

    def filter(self) -> All:
        """A conjunction of none to four constraints on each topic."""
        return All(tuple(self._some_constraints()))

    def advertisement(self) -> All:
        """Constraints, and lists of values, for each topic."""
        parts: list[Expression] = list(self._some_constraints())
        if self._chance(0.15):
            parts.append(self._one_of())
        return All(tuple(parts))

    def pair(self, draw: Callable[[], Expression]) -> tuple[Expression, Expression]:
        """Two expressions; the second is often a small change of the first."""
        first = draw()
        second = draw() if self._chance(0.35) else self._relative(first)
        return self._in_any_order(first, second)

    def twins(self) -> tuple[Expression, Expression]:
        """Two expressions that may well mean the same."""
        if self._chance(0.2):
            return self.pair(self.predicate)
        first = self.predicate()
        return self._in_any_order(first, self._rewritten(first))

    def notification(self, expression: Expression) -> Notification:
        """A notification with values close to what the expression speaks of."""
        notification = {}
        operands = [c for c in constraints_in(expression) if c.operand is not None]
        for topic in self._topics:
            near = [c for c in operands if c.name == topic.name]
            if self._chance(0.9):
                notification[topic.name] = self._value(topic, near)
        if self._chance(0.1):
            notification["extra"] = Value("integer", 1)
        return notification

    def _in_any_order(
        self, first: Expression, second: Expression
    ) -> tuple[Expression, Expression]:
        if _filters(second) > FILTERS_MAX:
            second = first
        return (first, second) if self._chance(0.6) else (second, first)

    def _topic(self, name: str) -> Topic:
        wants = self._weighted(list(THEMES.items()))
        home = self._weighted(INTEGER_HOMES)
        return Topic(
            name=name,
            wants=wants,
            strings=self._strings(),
            integers=self._random.sample(home, 3),
            floats=self._floats(home),
            times=self._random.sample(self._weighted(TIME_HOMES), 3),
        )

    def _strings(self) -> list[str]:
        """Three or four words; most are derived from one before them."""
        letters = self._weighted(ALPHABETS)
        words = [self._word(letters)]
        while len(words) < self._random.choice((3, 4)):
            base = self._random.choice(words)
            ways = (
                base[:-1],
                base[1:],
                (base + self._random.choice(letters))[:3],
                (self._random.choice(letters) + base)[:3],
                base[:-1] + self._random.choice(letters),
                self._word(letters),
            )
            words.append(self._random.choice(ways))
        return words

    def _word(self, letters: str) -> str:
        length = self._random.choices((0, 1, 2, 3), (1, 4, 5, 3))[0]
        return "".join(self._random.choices(letters, k=length))

    def _floats(self, home: Sequence[int]) -> list[float]:
        """Three floats at or next to integers, halves, or the ends of the domain."""
        centre = float(self._random.choice(home))
        around = [
            centre,
            math.nextafter(centre, math.inf),
            math.nextafter(centre, -math.inf),
            centre + 0.5,
            float(self._random.choice(home)),
        ]
        if self._chance(0.1):
            tiny = math.nextafter(0, 1)
            around = [FLOAT_MAX, -FLOAT_MAX, tiny, -tiny, -0.0]
        return self._random.sample(around, 3)

    def _some_constraints(self) -> list[Constraint]:
        found = []
        for topic in self._topics:
            count = self._random.choices((0, 1, 2, 3, 4), (12, 46, 26, 12, 4))[0]
            found += [self._constraint(topic) for _ in range(count)]
        self._random.shuffle(found)
        return found

    def _constraint(self, topic: Topic, *, negatable: bool = False) -> Constraint:
        wanted = self._random.choice(topic.wants)
        if not negatable and self._chance(0.07):
            return Constraint(topic.name, self._loose(wanted), "any")
        operators = ORDERED
        if wanted == "string":
            operators = (*ORDERED, *(PATTERNED[:2] if negatable else PATTERNED))
        operand = self._random.choice(topic.operands(wanted, self._random))
        operator = self._random.choice(operators)
        if negatable and operator == ">*" and not operand:
            operator = ">="  # not starts with "" is not any, which is refused
        return Constraint(topic.name, wanted, operator, operand)

    def _loose(self, wanted: str) -> str:
        return "untyped" if self._chance(0.5) else wanted

    def _one_of(self) -> OneOf:
        topic = self._random.choice(self._topics)
        # A type before the name stands for every value; without one they may mix.
        wants = [want for want in topic.wants if want in UNWRITTEN]
        if not wants or self._chance(0.5):
            wants = [self._random.choice(topic.wants)]
        options = []
        for _ in range(self._random.choice((1, 2, 3))):
            wanted = self._random.choice(wants)
            operand = self._random.choice(topic.operands(wanted, self._random))
            options.append(Constraint(topic.name, wanted, "=", operand))
        return OneOf(tuple(options))

    def _tree(self, depth: int, *, negatable: bool = False) -> Expression:
        if depth == 0 or self._chance(0.25):
            if self._chance(0.15):
                return self._one_of()
            topic = self._random.choice(self._topics)
            return self._constraint(topic, negatable=negatable)
        if self._chance(0.2):
            return Negation(self._tree(depth - 1, negatable=True))
        count = self._random.choice((2, 2, 3))
        parts = [self._tree(depth - 1, negatable=negatable) for _ in range(count)]
        return Either(tuple(parts)) if self._chance(0.6) else All(tuple(parts))

    def _relative(
        self, expression: Expression, *, negatable: bool = False
    ) -> Expression:
        """The expression with a constraint or two dropped, changed or added."""
        match expression:
            case Constraint():
                return self._changed(expression, negatable=negatable)
            case OneOf(options=options):
                kept = [o for o in options if self._chance(0.8)] or options[:1]
                return OneOf(tuple(kept))
            case Negation(part=part):
                return Negation(self._relative(part, negatable=True))
            case Either(parts=parts):
                chosen = [p for p in parts if self._chance(0.9)] or parts
                return Either(
                    tuple(self._relative(p, negatable=negatable) for p in chosen)
                )
            case All(parts=parts):
                kept_parts = [p for p in parts if self._chance(0.9)]
                changed = [self._relative(p, negatable=negatable) for p in kept_parts]
                while self._chance(0.4) or not changed:
                    topic = self._random.choice(self._topics)
                    changed.append(self._constraint(topic, negatable=negatable))
                return All(tuple(changed))

    def _changed(self, constraint: Constraint, *, negatable: bool) -> Constraint:
        if self._chance(0.7):
            return constraint
        topic = next(t for t in self._topics if t.name == constraint.name)
        if constraint.operator not in ORDERED or self._chance(0.3):
            return self._constraint(topic, negatable=negatable)
        if self._chance(0.5):
            return constraint._replace(operator=self._random.choice(ORDERED))
        operands = topic.operands(constraint.wanted, self._random)
        return constraint._replace(operand=self._random.choice(operands))

    def _rewritten(self, expression: Expression) -> Expression:
        """The expression with parts said in another way, rarely with a change."""
        match expression:
            case Constraint():
                return expression
            case OneOf(options=options):
                return Either(options) if self._chance(0.5) else OneOf(options[::-1])
            case Negation(part=part):
                return Negation(self._rewritten(part))
            case Either(parts=parts):
                return Either(tuple(self._rewritten(p) for p in reversed(parts)))
            case All(parts=parts):
                said: list[Expression] = []
                for part in parts:
                    said += self._said_otherwise(part)
                self._random.shuffle(said)
                return All(tuple(said))

    def _said_otherwise(self, part: Expression) -> Sequence[Expression]:
        if not isinstance(part, Constraint):
            return (self._rewritten(part),)
        if self._chance(0.2):
            return (self._changed(part, negatable=True),)
        if self._chance(0.4):
            return (part,)
        ways = _synonyms(part)
        return self._random.choice(ways) if ways else (part, part)

    def _value(self, topic: Topic, near: Sequence[Constraint]) -> Value:
        if near and self._chance(0.8):
            constraint = self._random.choice(near)
            wanted, raw = constraint.wanted, constraint.operand
        else:
            wanted = self._random.choice(topic.wants)
            raw = self._random.choice(topic.operands(wanted, self._random))
        assert raw is not None
        if wanted == "string" and self._chance(0.4):
            return Value("string", str(raw) + self._random.choice(topic.strings))
        if wanted == "number" or self._chance(0.05):
            wanted = "float" if isinstance(raw, float) else "integer"
            return self._number(wanted, raw)
        return Value(wanted, raw)

    def _number(self, kind: str, raw: Raw) -> Value:
        """The raw number, where it fits, as the other kind of number."""
        if isinstance(raw, str | bool):
            return Value("integer", 1)
        if self._chance(0.5) and abs(raw) <= 2**53 and float(raw).is_integer():
            other = float(raw) if kind == "integer" else int(raw)
            return Value("float" if kind == "integer" else "integer", other)
        return Value(kind, raw)

    def _weighted(self, pairs: Sequence[tuple[T, int]]) -> T:
        things = [thing for thing, _ in pairs]
        return self._random.choices(things, [weight for _, weight in pairs])[0]

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability


def _filters(expression: Expression, *, negated: bool = False) -> int:
    """How many filters the expression becomes when it is multiplied out."""
    match expression:
        case Constraint(operator=operator):
            # What does not start with v lies below v, or above all that do.
            return 2 if negated and operator == ">*" else 1
        case Negation(part=part):
            return _filters(part, negated=not negated)
        case OneOf(options=options):
            return 1 if negated else len(options)
        case All(parts=parts) | Either(parts=parts):
            counts = [_filters(part, negated=negated) for part in parts]
            is_conjunction = isinstance(expression, All) is not negated
            return math.prod(counts) if is_conjunction else sum(counts)


def _synonyms(constraint: Constraint) -> list[tuple[Constraint, ...]]:
    """Other ways to say the same, by one constraint or by several."""
    operand = constraint.operand
    match constraint.operator:
        case "=":
            low, high = (constraint._replace(operator=o) for o in (">=", "<="))
            return [(low, high), (constraint, low)]
        case ">" | "<" as operator:
            weak = constraint._replace(operator=operator + "=")
            unequal = constraint._replace(operator="!=")
            return [(weak, unequal), (constraint, weak), *_stepped(constraint)]
        case ">*" if isinstance(operand, str) and operand and operand[-1] < "b":
            last = operand[:-1] + chr(ord(operand[-1]) + 1)
            low = constraint._replace(operator=">=")
            high = constraint._replace(operator="<", operand=last)
            return [(low, high), (constraint, low)]
        case "!=" if isinstance(operand, bool):
            return [(constraint._replace(operator="=", operand=not operand),)]
        case _:
            return []


def _stepped(constraint: Constraint) -> list[tuple[Constraint, ...]]:
    """A strict bound as a weak one at the next value, where the kind has such."""
    operand, is_upper = constraint.operand, constraint.operator == "<"
    if constraint.wanted == "string" and isinstance(operand, str):
        # Only upwards: no string comes just before another, but one comes after.
        return [] if is_upper else [(_weak(constraint, operand + "\0"),)]
    if constraint.wanted != "integer" or not isinstance(operand, int):
        return []
    following = operand - 1 if is_upper else operand + 1
    if not INTEGER_MIN <= following <= INTEGER_MAX:
        return []
    return [(_weak(constraint, following),)]


def _weak(constraint: Constraint, operand: Raw) -> Constraint:
    return constraint._replace(operator=constraint.operator + "=", operand=operand)
