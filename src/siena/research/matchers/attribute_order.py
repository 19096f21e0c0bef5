"""In which order a search tree tests the attributes, and a filter in that order.

A schema would fix the attributes once and for all; here names come with the filters
that use them, and a name that comes later is tested later.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from siena.model import Constraint, Filter

Test = tuple[Constraint, ...]
"""All constraints of a filter on one attribute: what one branch of a tree asks."""

Path = tuple[tuple[int, Test], ...]
"""The tests of a filter, each with its level, in ascending order of levels."""


class AttributeOrder:
    """The level at which each attribute is tested.

    >>> from siena.lang.parser import parse_filter as parse
    >>> order = AttributeOrder(["what", "level"])
    >>> [level for level, _ in order.path(parse("level > 3, where = attic"))]
    [1, 2]
    >>> order.names
    ['what', 'level', 'where']
    """

    __slots__ = ("_levels", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(dict.fromkeys(names))
        self._levels = {name: level for level, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def path(self, f: Filter) -> Path:
        """The tests of the filter; names without a level get the next ones."""
        return tuple(sorted((self._level(n), tests) for n, tests in f.by_name.items()))

    def _level(self, name: str) -> int:
        level = self._levels.setdefault(name, len(self.names))
        if level == len(self.names):
            self.names.append(name)
        return level


def fewest_open_first(filters: Iterable[Filter]) -> Iterator[str]:
    """The names, those first that the fewest filters leave open.

    A filter that does not test an attribute sends every search on, whatever the value
    is; so it pays to have such steps at the bottom, where few filters are left.

    >>> from siena.lang.parser import parse_filter as parse
    >>> filters = map(parse, ["x = 1", "x = 2, y = 1", "z = 1, y = 2, x any"])
    >>> list(fewest_open_first(filters))
    ['x', 'y', 'z']
    """
    tested = Counter(name for f in filters for name in f.by_name)
    # By name where the counts tie, so that the same filters give the same tree.
    yield from sorted(tested, key=lambda name: (-tested[name], name))
