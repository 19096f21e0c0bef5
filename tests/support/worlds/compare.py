"""What differs between a script in the simulator and the same script elsewhere."""

from collections.abc import Callable, Iterable, Iterator

from worlds.drawing import draw_script
from worlds.invariants import Invariants, Reached, Tell, Violation, say_nothing
from worlds.live import play_over_sockets, play_virtual
from worlds.script import Script
from worlds.simulated import play_simulated

Play = Callable[[Script, Tell], Invariants]

PLAYS: dict[str, Play] = {
    "simulator": play_simulated,
    "virtual": play_virtual,
    "sockets": play_over_sockets,
}


def differences(seeds: Iterable[int], on: str) -> Iterator[str]:
    """What goes wrong with some seeds, each with how to see it again."""
    for seed in seeds:
        script = draw_script(seed)
        simulated, wrong = _played("simulator", script)
        if not wrong:
            live, wrong = _played(on, script)
            wrong = wrong or _first_difference(simulated, live)
        if wrong:
            yield wrong


def _played(on: str, script: Script) -> tuple[list[Reached], str]:
    """Whom everything has reached; or what went wrong."""
    try:
        return PLAYS[on](script, say_nothing).reached, ""
    except Violation as error:
        again = (
            f"PYTHONPATH=tests/support python -m worlds.replay {script.seed} --on {on}"
        )
        return [], f"seed {script.seed} ({script}), {on}: {error}\n    {again}"


def _first_difference(one: list[Reached], other: list[Reached]) -> str:
    for number, (here, there) in enumerate(zip(one, other, strict=True)):
        if here != there:
            return f"round {number}: {here} in the simulator, and {there}"
    return ""
