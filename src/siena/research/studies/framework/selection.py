"""Which rows a claim is about, in words that find them in a table of all rows."""

from collections.abc import Iterable, Mapping, Sequence

from siena.research.studies.framework.rows import Cell, Row

# More values are told by the first and the last, if none between is left out.
LISTED = 4


def selection(own: Sequence[Row], rows: Sequence[Row], names: Iterable[str]) -> str:
    """The values of columns that select some rows of all; nothing if it is all of them.

    >>> table = [{"way": way, "n": n} for way in ("a", "b", "c") for n in range(1, 8)]
    >>> selection(table[1:7], table, ["way", "n"])
    'way = a; n = 2 to 7'
    >>> selection([row for row in table if row["way"] != "b"], table, ["way", "n"])
    'way not b'
    >>> selection(table[:8], table, ["way", "n"])
    'way not c (8 of 14 such rows)'
    >>> selection(table, table, ["way", "n"])
    ''
    """
    if not own or len(own) == len(rows):
        return ""
    known = {name: list(dict.fromkeys(row.get(name) for row in rows)) for name in names}
    here = {name: {row.get(name) for row in own} for name in known}
    wanted = [name for name in known if len(here[name]) < len(known[name])]
    such = _having(rows, wanted, here)
    needed: list[str] = []
    left = list(rows)
    while len(left) > len(such):
        # Parameters go together: what says most is said first, and what follows is not.
        name = min(wanted, key=lambda each: len(_having(left, [each], here)))
        needed.append(name)
        left = _having(left, [name], here)
    said = [_words(name, here[name], known[name]) for name in known if name in needed]
    words = "; ".join(said)
    if len(such) > len(own):
        words += f" ({len(own):,} of {len(such):,} such rows)"
    return words.strip()


def _having(
    rows: Sequence[Row], names: Sequence[str], cells: Mapping[str, set[Cell]]
) -> list[Row]:
    return [row for row in rows if all(row.get(n) in cells[n] for n in names)]


def _words(name: str, here: set[Cell], known: Sequence[Cell]) -> str:
    numbers = [cell for cell in known if isinstance(cell, int | float)]
    if len(here) > LISTED and len(numbers) == len(known):
        ordered = sorted(numbers)
        first, last = (ordered.index(pick(here)) for pick in (_least, _most))
        if last - first + 1 == len(here):
            return f"{name} = {_cell(ordered[first])} to {_cell(ordered[last])}"
    others = [cell for cell in known if cell not in here]
    if len(others) < len(here):
        return f"{name} not {', '.join(map(_cell, others))}"
    return f"{name} = {', '.join(_cell(cell) for cell in known if cell in here)}"


def _least(cells: set[Cell]) -> float:
    return min(cell for cell in cells if isinstance(cell, int | float))


def _most(cells: set[Cell]) -> float:
    return max(cell for cell in cells if isinstance(cell, int | float))


def _cell(cell: Cell) -> str:
    if cell is None:
        return "none"
    if isinstance(cell, bool):
        return str(cell).lower()
    return (
        f"{cell:,}"
        if isinstance(cell, int)
        else f"{cell:g}"
        if isinstance(cell, float)
        else cell
    )
