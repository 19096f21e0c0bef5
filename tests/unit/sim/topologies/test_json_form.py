"""Topologies as JSON: what is read, and what is refused, with its place."""

import json

import pytest
from hypothesis import given

from networks import topologies
from siena.errors import SienaError
from siena.messages import Side
from siena.routing.topology.topology import Topology
from siena.sim.topologies.json_form import parse_plan


@given(topologies())
def test_what_is_written_is_read(topology: Topology) -> None:
    links = [(one, other, float(weight)) for one, other, weight in topology.links]
    wanted = Topology(links, brokers=[] if links else [1])
    assert parse_plan(json.dumps({"links": links})).topology == wanted


def test_roles_are_what_the_first_takes_the_second_for() -> None:
    plan = parse_plan('{"links": [[2, 1, 1, "master"], {"from": 1, "to": 3}]}')
    assert plan.sides == {(2, 1): Side.MASTER}
    assert plan.topology.brokers == (1, 2, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1]", "a topology is"),
        ("{", "column 2: this is not JSON"),
        ('{"links": [[1]]}', "link 1, column 12: a link is"),
        ('{"links": [[1, 1]]}', "link 1, column 12: broker 1 cannot be linked to its"),
        ('{"links": [[1, 2],\n[2, 1]]}', "link 2, line 2, column 1: link 2-1 is there"),
        ('{"links": [[1, 2, -4]]}', "link 1, column 12: the weight of link 1-2 is -4"),
        ('{"links": [[1, 2, "x"]]}', "link 1, column 12: a weight is a number, not"),
        ('{"links": [[1, 2, true]]}', "link 1, column 12: a weight is a number, not"),
        ('{"links": [[0, 2]]}', "link 1, column 12: a broker is a number from 1, not"),
        ('{"links": [[1, 2, 1, "king"]]}', "link 1, column 12: a role is master, pe"),
        ('{"links": [{"from": 1, "too": 2}]}', "link 1, column 12: a link is"),
        ('{"links": [[true, 2]]}', "link 1, column 12: a broker is a number from 1"),
        ('{"links": [], "colour": 1}', "a topology is"),
        ('{"link\\u0073": [[1]]}', "link 1, column 1: a link is"),
    ],
)
def test_a_bad_topology_is_refused_with_its_link(text: str, reason: str) -> None:
    with pytest.raises(SienaError) as refused:
        parse_plan(text)
    assert str(refused.value).startswith(reason)


def test_where_there_must_be_no_cycle_the_link_that_closes_one_is_named() -> None:
    text = '{"links": [\n[1, 2],\n[2, 3],\n[3, 1]\n]}'
    assert not parse_plan(text).topology.is_tree
    with pytest.raises(SienaError) as refused:
        parse_plan(text, acyclic=True)
    assert str(refused.value).startswith(
        "link 3, line 4, column 1: the link between 3 and 1 closes a cycle"
    )
