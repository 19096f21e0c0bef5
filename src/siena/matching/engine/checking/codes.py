"""Codes of constraints that are no intervals of ranks, and of the tests that they need.

In columns, the class of such a constraint is :data:`BEYOND` plus its operator.
"""

from siena.model import Kind, Operator
from siena.model.operators import NEGATED, NEGATIONS

BEYOND = 32

# Codes of tests, as in the kernel: the attribute is not there; it is there, and of a
# kind that is not among some; it is a string, and an atom does not hold of it.
ABSENT, OTHER, WITHOUT = range(3)

# What the constraints on a name look for in its values, as bits; and the last of the
# bits by which an atom says which names it is about: it stands for all the others.
# Names are numbered by how often they are used, so that few share it.
USES_PARTS, USES_ATOMS = 1, 2
LAST_BIT = 31

# The kinds of values as bits, as the kernel tells them from coordinates.
KIND_BITS = {
    Kind.BOOLEAN: 1,
    Kind.STRING: 2,
    Kind.INTEGER: 4,
    Kind.FLOAT: 8,
    Kind.TIME: 16,
}

# Those that hold of a value or do not, found once for each value.
ATOMS = frozenset(
    {Operator.LIKE, Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING}
    | {o for o in Operator if o.ignores_case and o not in NEGATED}
)
# Those that say what an attribute is not.
CHECKED = frozenset(
    {Operator.ABSENT, Operator.OTHER} | {o for o in NEGATED if NEGATIONS[o] in ATOMS}
)


# Those of constraints that are no intervals of ranks.
NO_INTERVALS = CHECKED | {Operator.LIKE} | {o for o in Operator if o.ignores_case}


def kind_bits(kind: Kind) -> int:
    """The bits of all kinds of values that a kind stands for."""
    return sum(KIND_BITS[part] for part in kind.parts)
