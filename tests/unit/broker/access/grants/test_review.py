"""Who may see something is found without trying, or keeping, everything at once."""

import tracemalloc

from siena.broker.access.grants.review import who
from siena.broker.access.grants.roles import Roles

BYTES_MAX = 4_000_000


def test_identities_are_tried_one_by_one_however_many_there_are() -> None:
    text = "to = ${identity} and a = ${claim.a} and b = ${claim.b}"
    roles = Roles.from_form({"desk": {"subscribe": text}})
    strings = {f"n{place}": f"v{place}" for place in range(60)}
    tracemalloc.start()
    try:
        assert list(who(roles, strings)) == []
        assert tracemalloc.get_traced_memory()[1] < BYTES_MAX
    finally:
        tracemalloc.stop()
