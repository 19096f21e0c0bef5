"""Pictures of worlds: all that is there, and nothing on top of something else."""

import pytest
from hypothesis import given

from networks import topologies
from siena import parse_filter
from siena.errors import LimitError
from siena.messages import Subscribe
from siena.routing.topology.topology import Topology
from siena.sim.picture.drawing import LINES_MAX, draw, overlaps
from siena.sim.topologies.regular import chain, star
from siena.sim.topologies.text import parse_shape
from siena.sim.world import World


def with_tables(topology: Topology) -> World:
    """A world with a subscription at each of its first brokers."""
    world = World(topology, "general")
    for number, at in enumerate(topology.brokers[:12]):
        text = f"price < {number} and airline = UA and what = x{'y' * number}"
        world.ask(world.client(f"c{at}", at), Subscribe(parse_filter(text)))
        world.run()
    return world


@pytest.mark.parametrize(
    "shape",
    ["chain:1", "chain:5", "star:30", "ring:5", "tree:3x2", "N12", "transit-stub"],
)
def test_nothing_covers_anything_else(shape: str) -> None:
    topology = parse_shape(shape)
    bare = draw(World(topology, "general"))
    assert overlaps(bare) == 0
    assert [box.broker for box in bare.boxes] == list(topology.brokers)
    assert len(bare.lines) == len(topology.links)
    if len(topology) < 50:
        assert overlaps(draw(with_tables(topology))) == 0


@given(topologies())
def test_no_box_covers_another_and_all_are_on_the_paper(topology: Topology) -> None:
    if topology.brokers[0] == 0:
        return
    picture = draw(World(topology, "general"))
    width, height = picture.size
    for box in picture.boxes:
        assert box.x - box.width / 2 + 1e-9 >= 0
        assert box.x + box.width / 2 <= width
        assert box.y + box.height / 2 <= 1e-9
        assert -height <= box.y - box.height / 2
    for one in picture.boxes:
        for other in picture.boxes:
            is_beside = abs(one.x - other.x) >= (one.width + other.width) / 2
            is_below = abs(one.y - other.y) >= (one.height + other.height) / 2
            assert one is other or is_beside or is_below


def test_what_covers_something_is_counted() -> None:
    picture = draw(World(star(3), "general"))
    twice = type(picture)(picture.boxes + picture.boxes[:1], picture.lines)
    assert overlaps(twice) == 1


def test_long_tables_and_long_filters_are_cut() -> None:
    world = World(chain(1), "acyclic")
    for number in range(2 * LINES_MAX):
        text = f"a = {number} and whatever = {'long' * 20}"
        world.ask(world.client("c", 1), Subscribe(parse_filter(text)))
    [box] = draw(world).boxes
    assert len(box.lines) == LINES_MAX
    assert box.lines[0].endswith("… : c")
    assert box.lines[-1] == f"… {LINES_MAX + 1} more"


def test_a_drawing_of_too_many_brokers_is_refused() -> None:
    with pytest.raises(LimitError, match="brokers in a drawing"):
        draw(World(chain(251), "acyclic"))
