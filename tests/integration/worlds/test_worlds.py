"""Simulator and brokers do the same with the same scripts."""

import pytest

from worlds.compare import differences
from worlds.drawing import CLIENTS, draw_script
from worlds.live import play_virtual
from worlds.replay import main

# Scripts in one test, of which a failing one is named with its seed.
AT_ONCE = 25


def blocks(first: int, end: int) -> list[range]:
    """Seeds, so many at once."""
    return [range(seed, seed + AT_ONCE) for seed in range(first, end, AT_ONCE)]


@pytest.mark.parametrize("seeds", blocks(0, 500), ids=str)
def test_brokers_in_virtual_time_deliver_what_the_simulator_delivers(
    seeds: range,
) -> None:
    assert "\n".join(differences(seeds, "virtual")) == ""


def test_who_moves_is_told_anew_whether_its_advertisements_are_wanted() -> None:
    seeds = 1_791, 1_883, 1_922, 2_373, 2_491
    assert "\n".join(differences(seeds, "virtual")) == ""


@pytest.mark.slow
@pytest.mark.parametrize("seeds", blocks(500, 1_500), ids=str)
def test_so_they_do_in_more_worlds(seeds: range) -> None:
    assert "\n".join(differences(seeds, "virtual")) == ""


@pytest.mark.parametrize("seeds", [range(5 * n, 5 * n + 5) for n in range(5)], ids=str)
def test_brokers_on_sockets_deliver_what_the_simulator_delivers(seeds: range) -> None:
    assert "\n".join(differences(seeds, "sockets")) == ""


def test_scripts_are_about_everything() -> None:
    scripts = [draw_script(seed) for seed in range(100)]
    rounds = [this for script in scripts for this in script.rounds]
    ops = {hurried.step.op for this in rounds for hurried in this.hurried}
    asked = {"subscribe", "unsubscribe", "advertise", "unadvertise", "publish"}
    assert ops == asked | {"suspend", "resume", "move", "connect", "disconnect"}
    assert {len(script.topology.brokers) for script in scripts} == {1, 2, 3, 4, 5}
    assert {script.architecture for script in scripts} == {
        *("hierarchical", "acyclic", "general")
    }
    assert all(set(script.clients) == set(CLIENTS) for script in scripts)


def test_one_seed_is_one_run() -> None:
    for seed in (3, 5):
        runs: list[list[str]] = [[], []]
        for told in runs:
            play_virtual(draw_script(seed), told.append)
        assert runs[0] == runs[1]
        assert len(runs[0]) > 50


def test_a_seed_can_be_played_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["7"]) == 0
    told = capsys.readouterr().out
    assert "round 0 (calm): ann at" in told
    assert "nothing wrong" in told
    assert main(["0", "2"]) == 0
    assert capsys.readouterr().out == "no difference\n"
