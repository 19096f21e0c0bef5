"""A catalogue: filters that come and go, found by what covers them, or they cover.

*Theory of operation.*  A filter is a box: another covers it if it contains it, name by
name.  Filters with the same tokens stand in one *cell*, as boxes of what is left of
them, a tree of ends (:mod:`siena.algebra.catalogue.box_tree`)::

    symbol = DIS, price > 3, price < 9
    symbol = DIS, price > 5                cell (symbol = DIS, price in numbers)
    symbol = DIS                           cell (symbol = DIS)
    price > 3, symbol >* D                 cell (price in numbers, symbol in strings)

What covers a filter has some of its names, so its cell is found along a trie of tokens,
from the root, where there are few ways that fit: equalities first of all, for an
equality covers nothing but itself.  The shortest ways come first, as they lead to the
most general filters.  What a filter covers has all of its names, so its cell is
registered under one of them, the rarest, and the others are looked at.  Only what
contains a substring is found by itself, by pieces of its texts.

What is found so is only likely.  It has to select a sample of what it covers, which
refutes most of what is wrong, and then ``covers`` decides.

Cost: see ``siena bench covering``.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from siena.algebra.catalogue.attribute import Attribute, Ends, Hint, ends_within
from siena.algebra.catalogue.box_tree import BoxTree, Limit
from siena.algebra.catalogue.facet import (
    MISSING,
    OPEN,
    PARTS,
    PLACED,
    POINT,
    Facet,
    Token,
    point_token,
)
from siena.algebra.catalogue.operands import Texts
from siena.algebra.catalogue.profile import Profile
from siena.model import Filter, Value

Covers = Callable[[Filter, Filter], bool]


class Catalogue:
    """Filters, as profiles, in the order of covering.

    >>> from siena.algebra.covering import covers_filter
    >>> from siena.lang.parser import parse_filter as parse
    >>> catalogue = Catalogue(covers_filter)
    >>> for text in ("x > 3", "x > 5", "x > 5 and s = a", "s >* a"):
    ...     catalogue.add(Profile(parse(text)))
    >>> wide, narrow = Profile(parse("x > 4")), Profile(parse("s = ab and x = 9"))
    >>> [str(p.filter) for p in catalogue.above(narrow)]
    ['s >* a', 'x > 3', 'x > 5']
    >>> [str(p.filter) for p in catalogue.below(wide)]
    ['x > 5', 's = a and x > 5']

    One that is in the catalogue is above and below itself.  A caller that changes the
    catalogue while a search is going on takes the rest of it as a list first.
    """

    def __init__(self, covers: Covers) -> None:
        self._covers = covers
        self._root = _Cell(())
        self._attributes: dict[str, Attribute[_Cell]] = {}
        # For names on which a substring was asked for: strings that are selected.
        self._texts: dict[str, Texts[Profile]] = {}
        # Names that some filter wants to be absent, and how many cells do.
        self._missing: Counter[str] = Counter()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Profile]:
        waiting = [self._root]
        while waiting:
            cell = waiting.pop()
            yield from cell.find((), ())
            waiting += (cell.children or {}).values()

    def add(self, profile: Profile) -> None:
        """Enter a filter that is not there."""
        self._size += 1
        cell, tokens = self._root, profile.tokens()
        for depth, token in enumerate(tokens, start=1):
            children = cell.children
            if children is None:
                children = cell.children = {}
            child = children.get(token)
            if child is None:
                child = children[token] = _Cell(tokens[:depth])
            cell = child
        if cell.stock is None:
            self._register(cell)
        cell.add(profile)
        if self._texts:
            for texts, text in self._texts_of(profile):
                texts.add(text, profile)

    def remove(self, profile: Profile) -> None:
        """Take a filter out that is there."""
        self._size -= 1
        path = [self._root]
        for token in profile.tokens():
            children = path[-1].children
            assert children is not None
            path.append(children[token])
        path[-1].remove(profile)
        if self._texts:
            for texts, _ in self._texts_of(profile):
                texts.remove(profile)
        if path[-1].stock is None:
            self._forget(path[-1])
        while len(path) > 1 and path[-1].stock is None and not path[-1].children:
            gone, parent = path.pop(), path[-1]
            assert parent.children is not None
            del parent.children[gone.tokens[-1]]
            if not parent.children:
                parent.children = None

    def above(self, profile: Profile, turn: int = 0) -> Iterator[Profile]:
        """The filters that cover one, the most general forms first.

        Which of one form is the first depends on the ``turn``, any number.
        """
        ways = self._ways(profile.facets)
        if not ways and self._root.stock is None:  # most often
            return iter(())
        return self._covering(profile, ways, turn)

    def _covering(
        self, profile: Profile, ways: list[list[Hint]], turn: int
    ) -> Iterator[Profile]:
        f, covers, samples = profile.filter, self._covers, profile.samples()
        for found in self._along(ways, turn):
            if found is profile or (
                (samples is None or found.filter.matches(samples))
                and covers(found.filter, f)
            ):
                yield found

    def below(self, profile: Profile) -> Iterator[Profile]:
        """The filters that one covers."""
        found = self._rarest(profile.facets)
        if found is None:  # most often
            return iter(())
        return self._covered(profile, *found)

    def _covered(
        self, profile: Profile, rarest: Facet | None, attribute: Attribute["_Cell"]
    ) -> Iterator[Profile]:
        f, covers = profile.filter, self._covers
        for found in self._beneath(profile.facets, rarest, attribute):
            if found is profile or (
                found.is_sampled_by(profile) and covers(f, found.filter)
            ):
                yield found

    def match(self, notification: Mapping[str, Value]) -> Iterator[Profile]:
        """The filters that match a notification, which is a point for each name."""
        facets = [
            _point(name, value)
            for name, value in notification.items()
            if name in self._attributes
        ]
        facets += map(_missing, self._missing.keys() - notification.keys())
        ways = self._ways(tuple(sorted(facets, key=itemgetter(0))))
        for found in self._along(ways):
            if found.filter.matches(notification):
                yield found

    def _register(self, cell: "_Cell") -> None:
        for token in cell.tokens:
            name = token[0]
            attribute = self._attributes.get(name)
            if attribute is None:
                attribute = self._attributes[name] = Attribute(name)
            attribute.enter(token, cell)
            if token[1] == MISSING:
                self._missing[name] += 1

    def _forget(self, cell: "_Cell") -> None:
        for token in cell.tokens:
            name, form = token[:2]
            self._attributes[name].leave(token, cell)
            if not self._attributes[name]:
                del self._attributes[name]
            if form == MISSING:
                self._missing -= Counter([name])

    def _texts_of(self, profile: Profile) -> Iterator[tuple[Texts[Profile], str]]:
        """Where a filter is found by a string that it selects."""
        for name, text in profile.texts():
            if name in self._texts:
                yield self._texts[name], text

    def _along(self, ways: list[list[Hint]], turn: int = 0) -> Iterator[Profile]:
        """What has tokens on these ways, at most one of each, and no others."""
        if self._root.stock is not None:
            yield from self._root.find((), ())
        level: list[_Stage] = [_Stage(self._root, 0, 0, (), ())] if ways else []
        while level:
            following: list[_Stage] = []
            for stage in level:
                for next_stage in stage.follow(ways):
                    cell, _, _, at_most, at_least = next_stage
                    if cell.stock is not None:
                        yield from cell.find(at_most, at_least, turn)
                    if cell.children is not None:
                        following.append(next_stage)
            level = following

    def _ways(self, facets: tuple[Facet, ...]) -> list[list[Hint]]:
        ways: list[list[Hint]] = []
        for facet in facets:
            attribute = self._attributes.get(facet.name)
            if attribute is not None:
                hints = attribute.covering(facet)
                if hints:
                    ways.append(hints)
        return ways

    def _rarest(
        self, facets: tuple[Facet, ...]
    ) -> "tuple[Facet | None, Attribute[_Cell]] | None":
        """Of the facets the one under which there is least; ``None`` if nothing is.

        If there are no facets, there is no such one, and all is below.
        """
        rarest: Facet | None = None
        found: Attribute[_Cell] = _NO_ATTRIBUTE
        least = -1
        for facet in facets:
            attribute = self._attributes.get(facet.name)
            weight = 0 if attribute is None else attribute.weight(facet)
            if not weight or attribute is None:
                return None
            if least < 0 or weight < least:
                rarest, found, least = facet, attribute, weight
        return rarest, found

    def _beneath(
        self,
        facets: tuple[Facet, ...],
        rarest: Facet | None,
        attribute: Attribute["_Cell"],
    ) -> Iterator[Profile]:
        """What has, for each facet, a token that it may cover."""
        if rarest is None:
            yield from self
            return
        if rarest.form == PARTS:
            yield from self._containing(attribute, rarest)
            return
        for token, _ in attribute.covered(rarest):
            for cell in attribute.cells(token):
                limits = cell.limits(facets)
                if limits is not None:
                    yield from cell.find(*limits)

    def _containing(
        self, attribute: Attribute["_Cell"], facet: Facet
    ) -> Iterator[Profile]:
        """What may contain a substring on a name."""
        texts = self._texts.get(facet.name)
        if texts is None:
            texts = self._texts[facet.name] = Texts()
            for cell in attribute.all_cells():
                for profile in cell.find((), ()):
                    for name, text in profile.texts():
                        if name == facet.name:
                            texts.add(text, profile)
        yield from texts.containing(facet.token[2])
        for cell in attribute.cells((facet.name, OPEN)):
            yield from cell.find((), ())


class _Cell:
    """The filters with the same tokens, and the ways to those with more.

    ``stock`` is ``None`` where there is only a way.  Most cells have one filter, which
    then stands for itself.
    """

    __slots__ = ("children", "stock", "tokens")

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = tokens
        self.children: dict[Token, _Cell] | None = None
        self.stock: Profile | list[Profile] | BoxTree[Profile] | None = None

    def add(self, profile: Profile) -> None:
        """Enter a filter."""
        place = profile.place()
        if place:
            if self.stock is None:
                self.stock = BoxTree()
            assert isinstance(self.stock, BoxTree)
            self.stock.add(place, profile)
        elif isinstance(self.stock, list):
            self.stock.append(profile)
        else:
            assert not isinstance(self.stock, BoxTree)
            self.stock = profile if self.stock is None else [self.stock, profile]

    def remove(self, profile: Profile) -> None:
        """Take a filter out."""
        if isinstance(self.stock, BoxTree):
            self.stock.remove(profile.place(), profile)
        elif isinstance(self.stock, list):
            self.stock.remove(profile)
        else:
            self.stock = None
        if not self.stock:
            self.stock = None

    def find(
        self, at_most: "_Limits", at_least: "_Limits", turn: int = 0
    ) -> Iterator[Profile]:
        """The filters whose ends are within limits."""
        if self.stock is None:
            return iter(())
        if isinstance(self.stock, BoxTree):
            return self.stock.find(at_most, at_least, turn)
        return iter(self.stock if isinstance(self.stock, list) else (self.stock,))

    def limits(self, facets: tuple[Facet, ...]) -> tuple["_Limits", "_Limits"] | None:
        """Where the places must lie of what the facets cover; ``None`` if nowhere."""
        wanted = iter(facets)
        facet: Facet | None = next(wanted)
        ends = 0
        most: _Limits = ()
        least: _Limits = ()
        for token in self.tokens:
            if facet is not None and token[0] == facet.name:
                within: Ends | bool = ends_within(facet, token)
                if within is False:
                    return None
                if isinstance(within, tuple):
                    least = (*least, (ends, within[0]))
                    most = (*most, (ends + 1, within[1]))
                facet = next(wanted, None)
            if token[1] in PLACED:
                ends += 2
        return None if facet is not None else (most, least)


_Limits = tuple[Limit, ...]


class _Stage(NamedTuple):
    """How far a search has come: a cell, and the first of the ways that may follow.

    ``ends`` are those of the tokens up to here, which have to be in the limits.
    """

    cell: _Cell
    since: int
    ends: int
    at_most: _Limits
    at_least: _Limits

    def follow(self, ways: Sequence[Sequence[Hint]]) -> "Iterator[_Stage]":
        """The stages that come next."""
        cell, since, ends, at_most, at_least = self
        children = cell.children
        if children is None:
            return
        for i in range(since, len(ways)):
            for token, limits in ways[i]:
                child = children.get(token)
                if child is None:
                    continue
                following = ends + 2 if token[1] in PLACED else ends
                if limits is None:
                    yield _Stage(child, i + 1, following, at_most, at_least)
                else:
                    most = (*at_most, (ends, limits[0]))
                    least = (*at_least, (ends + 1, limits[1]))
                    yield _Stage(child, i + 1, following, most, least)


_NO_ATTRIBUTE: Attribute[_Cell] = Attribute("")


def _point(name: str, value: Value) -> Facet:
    key: tuple[Any, ...] = ()
    return Facet(name, POINT, point_token(name, value), value, value, value, key)


def _missing(name: str) -> Facet:
    return Facet(name, MISSING, (name, MISSING), None, None, None, ())
