"""Drawing questions at random, over domains so small that constraints meet.

Random filters over a large domain never touch each other, and a comparison would pass
by never being asked anything.  So each line has a few *topics*: a name, the kinds that
it is spoken of in, and a handful of close operands (:mod:`brute_force.topics`); and its
second expression is often a small change of the first.
"""

import math
from collections.abc import Callable, Sequence
from random import Random

from brute_force.evaluator import Question
from brute_force.language import (
    FOLDING,
    INTEGER_MAX,
    INTEGER_MIN,
    OPERATORS,
    All,
    Constraint,
    Either,
    Except,
    Expression,
    Negation,
    Notification,
    OneOf,
    Raw,
    Value,
    constraints_in,
)
from brute_force.topics import Topic, draw_topic

RELATIONS = {
    "matches": 15,
    "admits": 10,
    "covers": 35,
    "covers-advertisement": 15,
    "overlaps": 15,
    "satisfiable": 10,
    "equivalent": 10,
}
# Plain, reserved, in need of quotes, and one that only a naive reader splits in two.
NAMES = ("x", "y", "a-b.c", "and", "Integer", "odd name", "é", 'q"\\', "p\u2028q")
# Wants that need not be written, because a literal says them.
UNWRITTEN = frozenset({"string", "number", "boolean", "time"})
ORDERED = ("=", "!=", "<", "<=", ">", ">=")
DUELLING = (">*", "*<", "*<", "*", "*", "*", "*", "=")
PATTERNED = (">*", ">*", "*<", "*")
NEGATED = ("does not start with", "does not end with", "does not contain")
LIKE = ("like", "like", "not like")
# Drawn predicates stay small, so that "not shown" is no excuse for the product.
FILTERS_MAX = 12


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
        case _ if random.random() < 0.2:
            return Question(relation, drawer.duel())
        case _:
            return Question(relation, drawer.pair(drawer.predicate))


class Drawer:
    """Expressions and notifications about one line's topics."""

    def __init__(self, random: Random) -> None:
        self._random = random
        count = random.choices((1, 2, 3), (45, 38, 17))[0]
        self._topics = [
            draw_topic(name, random) for name in random.sample(NAMES, count)
        ]

    def predicate(self) -> Expression:
        """A filter, or for a share of the lines a predicate with or, not and in."""
        if self._chance(0.6):
            return self.filter()
        while True:
            predicate = self._tree(depth=2)
            if self._chance(0.25):
                predicate = Except(predicate, self._tree(depth=1))
            if _filters(predicate) <= FILTERS_MAX:
                return predicate

    def filter(self) -> All:
        """A conjunction of none to four constraints on each topic."""
        return All(tuple(self._some_constraints()))

    def advertisement(self) -> All:
        """Constraints, and lists of values, for each topic."""
        parts: list[Expression] = list(self._some_constraints(promised=True))
        if self._chance(0.15):
            parts.append(self._one_of())
        return All(tuple(parts))

    def pair(self, draw: Callable[[], Expression]) -> tuple[Expression, Expression]:
        """Two expressions; the second is often a small change of the first."""
        first = draw()
        second = draw() if self._chance(0.35) else self._relative(first)
        if draw == self.advertisement and any(
            c.operator == "absent" for c in constraints_in(second)
        ):
            second = draw()  # a promise never says that
        return self._in_any_order(first, second)

    def duel(self) -> tuple[Expression, Expression]:
        """A union of constraints against a narrow range, all about one name.

        To refute the cover, a value must lie in the range and avoid every constraint at
        once: the hardest question that one attribute can be asked, and a rare one if
        left to chance.
        """
        topic = self._random.choice(self._topics)
        wants = tuple(want for want in topic.wants if want in {"number", "integer"})
        if not wants or self._chance(0.5):
            wants = ("string",)
        operators = DUELLING if wants == ("string",) else ORDERED
        count = self._random.choice((1, 2, 3))
        avoided = [self._about(topic, wants, operators) for _ in range(count)]
        general = Either(tuple(avoided)) if count > 1 else All(tuple(avoided))
        extra = self._random.choices((0, 1, 2), (45, 30, 25))[0]
        kept = [self._about(topic, wants, operators) for _ in range(extra)]
        return general, All((*self._range(topic, wants), *kept))

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

    def _some_constraints(self, *, promised: bool = False) -> list[Constraint]:
        found = []
        for topic in self._topics:
            count = self._random.choices((0, 1, 2, 3, 4), (12, 46, 26, 12, 4))[0]
            found += [self._constraint(topic, promised=promised) for _ in range(count)]
        self._random.shuffle(found)
        return found

    def _constraint(self, topic: Topic, *, promised: bool = False) -> Constraint:
        wanted = self._random.choice(topic.wants)
        if self._chance(0.07):
            return Constraint(topic.name, self._loose(wanted), "any")
        if not promised and self._chance(0.06):
            return Constraint(topic.name, "untyped", "absent")
        if wanted == "string" and self._chance(0.45):
            return self._closed(topic)
        operators = (*ORDERED, *PATTERNED) if wanted == "string" else ORDERED
        operand = self._random.choice(topic.operands(wanted, self._random))
        operator = self._random.choice(operators)
        return Constraint(topic.name, wanted, operator, operand)

    def _closed(self, topic: Topic) -> Constraint:
        """A negation, a pattern, or what ignores case."""
        operator = self._random.choice((*PATTERNED, *NEGATED, *LIKE, "=", "!="))
        if operator in LIKE:
            operand = topic.pattern(self._random)
        else:
            operand = self._random.choice(topic.strings)
        if operator not in {*NEGATED, *LIKE} or self._chance(0.4):
            operator += FOLDING
        return Constraint(topic.name, "string", operator, operand)

    def _range(self, topic: Topic, wants: Sequence[str]) -> list[Constraint]:
        """A lower and an upper bound, in this order."""
        one, other = (self._about(topic, wants, ("=",)) for _ in range(2))
        if OPERATORS[">"](one.operand, other.operand):
            one, other = other, one
        lower, upper = (
            self._random.choice((">", ">=")),
            self._random.choice(("<", "<=")),
        )
        return [one._replace(operator=lower), other._replace(operator=upper)]

    def _about(
        self, topic: Topic, wants: Sequence[str], operators: Sequence[str]
    ) -> Constraint:
        wanted = self._random.choice(wants)
        operand = self._random.choice(topic.operands(wanted, self._random))
        return Constraint(topic.name, wanted, self._random.choice(operators), operand)

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

    def _tree(self, depth: int) -> Expression:
        if depth == 0 or self._chance(0.25):
            if self._chance(0.15):
                return self._one_of()
            topic = self._random.choice(self._topics)
            return self._constraint(topic)
        if self._chance(0.2):
            return Negation(self._tree(depth - 1))
        count = self._random.choice((2, 2, 3))
        parts = [self._tree(depth - 1) for _ in range(count)]
        return Either(tuple(parts)) if self._chance(0.6) else All(tuple(parts))

    def _relative(self, expression: Expression) -> Expression:
        """The expression with a constraint or two dropped, changed or added."""
        match expression:
            case Constraint():
                return self._changed(expression)
            case OneOf(options=options):
                kept = [o for o in options if self._chance(0.8)] or options[:1]
                return OneOf(tuple(kept))
            case Negation(part=part):
                return Negation(self._relative(part))
            case Except(wanted=kept, unwanted=taken):
                if self._chance(0.2):
                    return self._relative(kept)
                return Except(self._relative(kept), self._relative(taken))
            case Either(parts=parts):
                chosen = [p for p in parts if self._chance(0.9)] or parts
                return Either(tuple(self._relative(p) for p in chosen))
            case All(parts=parts):
                kept_parts = [p for p in parts if self._chance(0.9)]
                changed = [self._relative(p) for p in kept_parts]
                while self._chance(0.4) or not changed:
                    topic = self._random.choice(self._topics)
                    changed.append(self._constraint(topic))
                return All(tuple(changed))

    def _changed(self, constraint: Constraint) -> Constraint:
        if self._chance(0.7):
            return constraint
        topic = next(t for t in self._topics if t.name == constraint.name)
        if constraint.operator not in ORDERED or self._chance(0.3):
            return self._constraint(topic)
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
            case Except(wanted=kept, unwanted=taken):
                return Except(self._rewritten(kept), self._rewritten(taken))
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
            return (self._changed(part),)
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
        if wanted == "string" and self._chance(0.2):
            return Value("string", str(raw).swapcase())
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
        case Except(wanted=kept, unwanted=taken):
            if negated:
                return _filters(kept, negated=True) + _filters(taken)
            return _filters(kept) * _complements(taken)
        case OneOf(options=options):
            return 1 if negated else len(options)
        case All(parts=parts) | Either(parts=parts):
            counts = [_filters(part, negated=negated) for part in parts]
            is_conjunction = isinstance(expression, All) is not negated
            return math.prod(counts) if is_conjunction else sum(counts)


def _complements(expression: Expression, *, negated: bool = False) -> int:
    """About how many filters there are to what the expression does not match."""
    match expression:
        case Constraint() | OneOf():
            return 3
        case Negation(part=part):
            return _complements(part, negated=not negated)
        case Except(wanted=kept, unwanted=taken):
            return _complements(kept) + _filters(taken)
        case All(parts=parts) | Either(parts=parts):
            counts = [_complements(part, negated=negated) for part in parts]
            is_conjunction = isinstance(expression, All) is not negated
            return sum(counts) if is_conjunction else math.prod(counts)


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
