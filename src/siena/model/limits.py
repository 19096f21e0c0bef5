"""How long and how many: the limits that every value of the model keeps.

Each is named in the :class:`~siena.errors.LimitError` that it causes.  They are
far above honest use; they exist so that no text, file or peer can make a
process grow without bound.
"""

# One text handed to a parser: longer than any filter a person would write, and read
# in well under a second.  What is printed reads back up to this length.
TEXT_CHARACTERS_MAX = 1_048_576
# Parentheses inside parentheses: keeps the recursive parser off the stack's end.
NESTING_MAX = 100
# An attribute's name.
NAME_CHARACTERS_MAX = 1_024
# A string value in a notification.
STRING_CHARACTERS_MAX = 1_048_576
# The string that a constraint compares with.  Reasoning about an operand takes time
# that grows with the square of its length.
OPERAND_CHARACTERS_MAX = 4_096
# Constraints in one filter or advertisement (the papers' library allowed 255).
CONSTRAINTS_MAX = 256
# Filters in one predicate, after `or`, `in` and `not` have been multiplied out.
FILTERS_MAX = 1_024
# Alternatives that are made and compared to multiply out one `except`: about a second.
DIFFERENCE_STEPS_MAX = 4_194_304
# Steps in one pattern.
STEPS_MAX = 64
# Attributes in one notification.
ATTRIBUTES_MAX = 1_024
# Levels of an expression: keeps the walks over it off the stack's end.
EXPRESSION_DEPTH_MAX = 100
# Operations, attributes and values of one expression.
EXPRESSION_NODES_MAX = 65_536
# Arguments of one operation of an expression: parts of one `or`, say.
ARGUMENTS_MAX = 16_384
# Combinations of values that one condition on multi-valued attributes may look at.
COMBINATIONS_MAX = 65_536
# A text that an expression computes, by joining others.
COMPUTED_CHARACTERS_MAX = 1_048_576
# A regular expression, and the memory in bytes that its automaton may take.
REGULAR_CHARACTERS_MAX = 8_192
REGULAR_BYTES_MAX = 8_388_608
