"""How long does a large network take to settle, and does everybody get what they want?

Clients come to random brokers of a general network, within one period, and subscribe;
some of them go again; and publications travel all at once.  What everybody received is
compared with the oracle, a flat list of filters: the last line is printed only if
nothing was lost, nothing came twice and nothing came to anybody who did not want it.

Messages take a random time each, so what is on its way meets on the way.  Times are of
the processor, on one core.  The full size takes some minutes: ask for it with
``--brokers 1000 --clients 10000``.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from siena.bench.network.crowd import Crowd
from siena.cli.common.progress import Progress
from siena.sim.topologies.text import parse_shape
from siena.sim.world import World

LATENCY = 0.5, 1.5


def main() -> None:
    """Let the clients come, some go, and all publications travel."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--brokers", type=int, default=100)
    options.add_argument("--clients", type=int, default=1_000)
    options.add_argument("--publications", type=int, default=1_000)
    options.add_argument(
        "--topology", choices=("barabasi-albert", "waxman"), default="barabasi-albert"
    )
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", action="store_true", help="print one object")
    chosen = options.parse_args()
    # Nothing that is made here is thrown away: looking for garbage would be in vain.
    gc.disable()
    rows = run(chosen)
    if chosen.json:
        print(json.dumps({"rows": rows, "seconds": sum(r["seconds"] for r in rows)}))
    else:
        seconds = sum(row["seconds"] for row in rows)
        print(f"every delivery is as the oracle says; {seconds:.0f} s in all")


def run(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each phase."""
    rows: list[dict[str, Any]] = []
    progress = Progress(sys.stderr)
    worlds: list[Crowd] = []

    def build() -> None:
        name = f"{chosen.topology}:{chosen.brokers}"
        shape = parse_shape(name, seed=chosen.seed)
        world = World(shape, "general", seed=chosen.seed, latency=LATENCY)

        def show(share: float) -> None:
            messages = world.network.account.counts.total()
            progress.show(f"{share:.0%}, {messages:,} messages")

        worlds.append(Crowd(world, chosen.seed, show))

    def phase(what: str, act: Callable[[], object]) -> None:
        before = worlds[0].world.network.account.counts.total() if worlds else 0
        progress.show(f"{what} ...")
        start = time.process_time()
        act()
        seconds = time.process_time() - start
        messages = worlds[0].world.network.account.counts.total() - before
        rows.append({"phase": what, "messages": messages, "seconds": seconds})
        progress.clear()
        if not chosen.json:
            said = f"{what:<40}{messages:>12,} messages {seconds:>8.1f} s"
            print(said, flush=True)

    phase(f"{chosen.brokers:,} brokers begin", build)
    [crowd] = worlds
    some = chosen.clients // 10
    phase(f"{chosen.clients:,} clients subscribe", lambda: crowd.come(chosen.clients))
    phase(f"{some:,} ask whether that has settled", lambda: crowd.settle(some))
    for when in ("", " again"):
        what = f"{chosen.publications:,} publications travel{when}"
        phase(what, lambda: crowd.publish(chosen.publications))
        phase("the oracle is asked", crowd.verify)
        if not when:
            phase(f"{some:,} clients unsubscribe", lambda: crowd.go(some))
    return rows


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
