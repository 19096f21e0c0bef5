"""Atoms: patterns and folded texts, found once for each value that they hold of.

An atom stands beside the operands of substrings: where the kernel notes which of these
a new value contains, it notes which atoms hold of it, and filters are stored under both
alike.  To find them, the longest text that each must contain is folded and looked for,
all of them at once, in the folded value (Aho and Corasick); what is found is compared
token by token.  An atom without any such text is compared with every value.
"""

from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from siena.matching.engine.operands import Texts
from siena.matching.engine.ranks import ROOT_SUBSTRING, Arrays, Ints, tries
from siena.model import Operator
from siena.model.folding import FOLDED, fold, has_variants
from siena.model.operators import NEGATED, NEGATIONS
from siena.model.wildcards import read_wildcards

# Tokens below zero, as in the kernel.
OPEN, STAR = -1, -2
# Flags of an atom, as in the kernel: case is ignored; what is found needs no comparing.
FOLDS, IS_SURE = 1, 2

# Where any run of characters may stand beside the operand.
_STARS = {
    Operator.EQ: (False, False),
    Operator.PREFIX: (False, True),
    Operator.SUFFIX: (True, False),
    Operator.SUBSTRING: (True, True),
}
_PAGE = 256
_CHARACTERS = 0x110000


class Atom(NamedTuple):
    """A pattern: what is looked for, its tokens, and its flags."""

    literal: bytes
    tokens: tuple[int, ...]
    flags: int


def atom_of(operator: Operator, operand: str) -> Atom:
    """The atom of an operator, or of what it negates.

    >>> atom_of(Operator.LIKE, "a*bC?")
    Atom(literal=b'bc', tokens=(97, -2, 98, 67, -1), flags=0)
    >>> atom_of(Operator.SUBSTRING_FOLDED, "k").flags == FOLDS | IS_SURE
    True
    """
    plain = NEGATIONS[operator] if operator in NEGATED else operator
    if plain.exact is Operator.LIKE:
        parts = read_wildcards(operand).parts
        tokens: list[int] = []
        literal = ""
        for number, part in enumerate(parts):
            tokens += [STAR] if number else []
            tokens += [
                OPEN if is_open else ord(character)
                for character, is_open in zip(part.text, part.is_open, strict=True)
            ]
            literal = max((literal, *(run for _, run in part.literals)), key=len)
    else:
        before, behind = _STARS[plain.exact]
        literal = operand
        tokens = [*[STAR] * before, *map(ord, operand), *[STAR] * behind]
    flags = FOLDS if plain.ignores_case else 0
    sought = fold(literal)
    if plain.exact is Operator.SUBSTRING and (flags or not has_variants(sought)):
        flags |= IS_SURE
    return Atom(sought.encode(), tuple(tokens), flags)


def lay_out_atoms(given: Iterable[tuple[int, str]]) -> tuple[Ints, Arrays]:
    """Of each operator and operand the number of its atom, and the kernel's arrays.

    Atoms that are looked for by one text stand side by side, those without any first.
    """
    wanted = [atom_of(Operator(operator), operand) for operator, operand in given]
    literals = sorted({atom.literal for atom in wanted if atom.literal})
    pool = np.frombuffer(b"".join(literals) or b"\0", np.uint8)
    starts = np.array([0, *accumulate(map(len, literals))], np.int64)
    which = np.arange(len(literals), dtype=np.int32)
    nodes, found = tries(
        Texts(pool, starts), which, np.full(len(literals), ROOT_SUBSTRING, np.int32)
    )
    node_of = dict(zip(literals, nodes.tolist(), strict=True))
    atoms = sorted(set(wanted), key=lambda a: (node_of.get(a.literal, -1), a))
    number = {atom: k for k, atom in enumerate(atoms)}
    at = np.array([node_of.get(atom.literal, -1) for atom in atoms], np.int32)
    # Of each node where its atoms begin; those without a text stand before node 0.
    of_nodes = np.searchsorted(at, np.arange(len(found["node_ends"]) + 1))
    tokens = [token for atom in atoms for token in atom.tokens]
    bounds = [0, *accumulate(len(atom.tokens) for atom in atoms)]
    numbers = np.array([number[atom] for atom in wanted], np.int32)
    return numbers, {
        "fold_edges": found["edges"],
        "fold_links": found["node_links"],
        "fold_atoms": of_nodes.astype(np.int32),
        "atom_tokens": np.array(tokens or [0], np.int32),
        "atom_bounds": np.array(bounds, np.int32),
        "atom_flags": np.array([atom.flags for atom in atoms] or [0], np.int32),
        **_folding(),
    }


@cache
def _folding() -> Arrays:
    """The table of folding, in pages of which most are the same: nothing is changed."""
    pages = np.zeros(_CHARACTERS // _PAGE, np.int32)
    used = sorted({code // _PAGE for code in FOLDED})
    pages[used] = np.arange(1, len(used) + 1)
    shifts = np.zeros((len(used) + 1) * _PAGE, np.int32)
    for code, to in FOLDED.items():
        shifts[pages[code // _PAGE] * _PAGE + code % _PAGE] = to - code
    return {"fold_pages": pages, "fold_shifts": shifts}
