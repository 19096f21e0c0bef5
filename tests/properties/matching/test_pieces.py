"""Tables of many interests at once are those of the same interests one by one."""

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

from matching.compared_tables import Compared, Step, agree, histories
from siena.matching.input.filter_texts import read_chunk
from siena.matching.pieces import join_pieces, make_piece, pick
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification, Predicate


@given(
    history=histories(),
    after=histories(),
    cuts=st.sets(st.integers(0, 40), max_size=3),
    picked=st.lists(st.integers(0, 39), max_size=12) | st.none(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_agree_with_the_reference(
    tmp_path: Path,
    history: list[Step],
    after: list[Step],
    cuts: set[int],
    picked: list[int] | None,
) -> None:
    """At once, from a file, and after whatever happens from then on."""
    interests = [step for step in history if isinstance(step, (Filter, Predicate))]
    bounds = [0, *sorted(c for c in cuts if c < len(interests)), len(interests)]
    pieces = [make_piece(interests[i:j]) for i, j in pairwise(bounds)]
    joined = join_pieces(pickle.loads(pickle.dumps(pieces)))  # noqa: S301
    assert joined.interests == len(interests)
    wanted = list(range(len(interests)))
    if picked is not None:
        wanted = [place for place in picked if place < len(interests)]
    both = Compared(interfaces=1)
    both.table = ForwardingTable.of_piece(pick(joined, np.array(wanted, np.int32)))
    for number, place in enumerate(wanted):
        both.reference.add(number, interests[place])
        both.held.append(number)
    asked = [s for s in (*history, *after) if isinstance(s, Notification)]
    agree(both.table, both.reference, asked)
    both.table.save(tmp_path / "table")
    agree(ForwardingTable.load(tmp_path / "table"), both.reference, asked)
    both.happen(after)
    agree(both.table, both.reference, asked)
    both.table.save(tmp_path / "table")
    agree(ForwardingTable.load(tmp_path / "table"), both.reference, asked)


def test_a_constraint_of_several_pieces_is_held_once() -> None:
    texts = [["x = 1 and y >* ab", "s *< end"], ["x = 1", "y >* ab and s * n"]]
    joined = join_pieces([read_chunk(chunk).piece for chunk in texts])
    spelled = joined.spellings.pool.tobytes()
    assert spelled.count(b"x = 1") == spelled.count(b"ab") == 1
    assert len(joined.rows.name) == 4
    assert len(joined.rows.names.starts) - 1 == 3
