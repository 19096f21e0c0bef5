"""Plays the scripts of some seeds again, and tells what happens.

::

    PYTHONPATH=tests/support python -m worlds.replay 17      # step by step
    PYTHONPATH=tests/support python -m worlds.replay 17 --on sockets
    PYTHONPATH=tests/support python -m worlds.replay 0 5000  # only what goes wrong
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from worlds.compare import PLAYS, differences
from worlds.drawing import draw_script
from worlds.invariants import Invariants, Tell, Violation
from worlds.script import Script


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one seed, or those from one up to another."""
    parser = argparse.ArgumentParser(prog="worlds.replay", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("end", type=int, nargs="?", help="the first seed not to play")
    parser.add_argument("--on", choices=sorted(PLAYS), default="virtual")
    given = parser.parse_args(arguments)
    if given.end is not None:
        wrong = list(differences(range(given.seed, given.end), given.on))
        print("\n".join(wrong) or "no difference")
        return bool(wrong)
    script = draw_script(given.seed)
    print(script)
    return _tell(PLAYS[given.on], script)


def _tell(play: Callable[[Script, Tell], Invariants], script: Script) -> int:
    try:
        invariants = play(script, print)
    except Violation as error:
        print(error)
        return 1
    print(f"{invariants.deliveries} deliveries, and nothing wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
