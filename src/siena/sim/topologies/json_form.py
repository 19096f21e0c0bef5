"""Topologies as JSON: a list of links, which may say what the brokers are.

::

    {"links": [[1, 2], [2, 3, 2.5], {"from": 4, "to": 3, "role": "master"}]}

A link is a list ``[from, to, weight, role]``, of which the last two may be missing, or
an object.  The role is what ``from`` takes ``to`` for: ``master``, ``peer`` or
``mesh``.  Whatever is wrong is refused with the number of the link and its place.
"""

import json
import re
from typing import NamedTuple

from siena.errors import InvalidTopologyError, SienaError
from siena.lang.json_text import Json, read_json
from siena.messages import Side
from siena.routing.topology.topology import Topology, TopologyDraft
from siena.routing.topology.trees import Components
from siena.sim.topologies.regular import BROKERS_MAX

_NAMES = ("from", "to", "weight", "role")


class Plan(NamedTuple):
    """A topology, and what some brokers take some others for."""

    topology: Topology
    sides: dict[tuple[int, int], Side]


def parse_plan(text: str, *, acyclic: bool = False) -> Plan:
    """Read a topology with roles; with ``acyclic``, one that must have no cycle.

    >>> plan = parse_plan('{"links": [[1, 2], {"from": 3, "to": 2, "role": "mesh"}]}')
    >>> plan.topology.brokers, plan.sides
    ((1, 2, 3), {(3, 2): <Side.MESH: 'mesh'>})
    >>> parse_plan('{"links": [[1, 2], [2, 2]]}')
    Traceback (most recent call last):
    siena.errors.InvalidTopologyError: link 2, column 20: broker 2 cannot be linked to
    itself
    """
    match read_json(text):
        case {"links": [*links], **rest} if not rest:
            pass
        case _:
            raise InvalidTopologyError('a topology is {"links": [[1, 2], …]}')
    draft = TopologyDraft()
    sides: dict[tuple[int, int], Side] = {}
    joined = Components()
    for number, link in enumerate(links, start=1):
        try:
            one, other = _add(link, draft, sides)
            if not joined.join(one, other) and acyclic:
                raise InvalidTopologyError(
                    f"the link between {one} and {other} closes a cycle",
                    hint="the architecture has none",
                )
        except SienaError as error:
            error.at(text, _position(text, number))
            raise error.about(f"link {number}") from None
    if not draft.neighbours:
        draft.add_broker(1)
    return Plan(draft.finish(), sides)


def _add(
    link: Json, draft: TopologyDraft, sides: dict[tuple[int, int], Side]
) -> tuple[int, int]:
    if isinstance(link, list) and 2 <= len(link) <= len(_NAMES):
        link = dict(zip(_NAMES, link, strict=False))
    if not isinstance(link, dict) or not link.keys() <= set(_NAMES):
        raise InvalidTopologyError(
            'a link is [1, 2], or has "from", "to", "weight", "role"'
        )
    one, other = _broker(link.get("from")), _broker(link.get("to"))
    weight = link.get("weight", 1)
    if type(weight) not in {int, float}:
        raise InvalidTopologyError(f"a weight is a number, not {weight!r}")
    assert isinstance(weight, (int, float))
    draft.add_broker(one)
    draft.add_broker(other)
    draft.add_link(one, other, weight)
    if (role := link.get("role")) is not None:
        if role not in {"master", "peer", "mesh"}:
            raise InvalidTopologyError(f"a role is master, peer or mesh, not {role!r}")
        sides[one, other] = Side(role)
    return one, other


def _broker(value: Json) -> int:
    if type(value) is not int or not 1 <= value <= BROKERS_MAX:
        raise InvalidTopologyError(f"a broker is a number from 1, not {value!r}")
    return value


def _position(text: str, number: int) -> int:
    """Where a link begins; the text has been read once, so it is JSON."""
    found = re.search(r'"links"\s*:\s*\[', text)
    if found is None:  # the name is written in another way
        return 0
    start = at = found.end()
    decoder = json.JSONDecoder()
    for _ in range(number):
        while text[at] in " \t\r\n,":
            at += 1
        start = at
        _, at = decoder.raw_decode(text, at)
    return start
