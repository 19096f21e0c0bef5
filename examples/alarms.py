"""Alarms in a building: who says what they want hears of it, and of nothing else.

Run it as it is, with a broker of its own; or against yours:

    siena serve &
    python examples/alarms.py siena://127.0.0.1:2606
"""

import asyncio
import sys
from contextlib import nullcontext

import siena
from siena import testing

REPORTS = [
    {"what": "temperature", "room": "lab", "degrees": 21},
    {"what": "alarm", "kind": "smoke", "room": "kitchen", "level": 2},
    {"what": "door", "room": "vault", "open": True},
    {"what": "alarm", "kind": "smoke", "room": "lab", "level": 5},
    {"what": "alarm", "kind": "motion", "room": "vault", "level": 4},
]


async def main(url: str) -> None:
    """A guard, a chief and the sensors, on three connections."""
    async with (
        siena.connect(url) as guard,
        siena.connect(url) as chief,
        siena.connect(url) as sensors,
    ):
        alarms = sensors.advertise("what = alarm, level any, kind any, room any")
        print("does anybody want alarms?", not (await alarms.settled()).quenched)

        severe = await guard.subscribe("what = alarm and level > 3").settled()
        break_in = await chief.subscribe(
            "what = door and open = true and room = vault then kind = motion"
        ).settled()
        await alarms.wanted()
        print("and now?", not alarms.quenched)

        await sensors.publish_many(REPORTS)
        await sensors.flush()

        async for alarm in severe:
            print("guard:", alarm)
            if alarm["kind"] == "motion":
                break
        door, motion = await break_in.get()
        print("chief:", door, "then", motion)


if __name__ == "__main__":
    with nullcontext() if sys.argv[1:] else testing.broker() as broker:
        asyncio.run(main(broker.url if broker else sys.argv[1]))
