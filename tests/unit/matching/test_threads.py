"""Threads that match on one table while another changes it.

With a free-threaded Python nothing but the table itself keeps them apart.
"""

import random
import sys
import sysconfig
import threading
from collections.abc import Callable

import pytest

from siena.lang.parser import parse_filter
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification

STANDING, PASSING = 1, 2  # interfaces: of what stays, and of what comes and goes
THREADS = 4
ROUNDS = 60


def a_filter(draw: random.Random) -> Filter:
    """Over so few values that many match."""
    name, other = draw.sample("abcd", 2)
    number = draw.randrange(8)
    operator = draw.choice(["=", "<", ">", "!="])
    shapes = (
        f"{name} {operator} {number}",
        f"{name} > {number} and {other} {operator} {draw.randrange(8)}",
        f"{name} any and s >* {draw.choice('xyz')}",
        f"s *< {draw.choice('xyz')} and {name} {operator} {number}",
    )
    return parse_filter(draw.choice(shapes))


def a_notification(draw: random.Random) -> Notification:
    values: dict[str, int | str] = {name: draw.randrange(8) for name in "abcd"}
    values["s"] = "".join(draw.choices("xyz", k=3))
    return Notification(values)


def run_all(tasks: list[Callable[[], None]]) -> None:
    """Each in a thread, all at once; what one of them raises is raised here."""
    errors: list[BaseException] = []
    together = threading.Barrier(len(tasks))

    def guarded(task: Callable[[], None]) -> None:
        try:
            together.wait()
            task()
        except BaseException as error:  # noqa: BLE001 -- raised again below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Stress:
    """Some threads match, and one changes the table.

    What stands must always be found, and what passes by only if it matches.
    """

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.table = ForwardingTable()
        # Every interest that there ever was, by its number; and those that stay.
        self.held: dict[int, Filter] = {}
        for _ in range(300):
            self.add(STANDING)
        self.standing = frozenset(self.held)
        self.published = [a_notification(self.draw) for _ in range(20)]
        self.must = [
            {number for number, f in self.held.items() if f.matches(notification)}
            for notification in self.published
        ]
        self.is_over = threading.Event()
        self.compared = 0

    def add(self, interface: int) -> int:
        f = a_filter(self.draw)
        number = self.table.add(interface, f)
        self.held[number] = f
        return number

    def change(self, rounds: int) -> None:
        passing: list[int] = []
        for _ in range(rounds):
            passing += [self.add(PASSING) for _ in range(20)]
            self.draw.shuffle(passing)
            for _ in range(min(15, len(passing))):
                self.table.remove(passing.pop())
            if not self.draw.randrange(8):
                self.table.consolidate()
        self.is_over.set()

    def match(self) -> None:
        while True:
            was_over = self.is_over.is_set()
            for notification, must in zip(self.published, self.must, strict=True):
                self.compare(notification, must)
            if was_over:  # at rest, too
                return

    def compare(self, notification: Notification, must: set[int]) -> None:
        found = self.table.match_filters(notification)
        assert len(found) == len(set(found))
        assert self.standing.intersection(found) == must
        for number in set(found) - must:
            # It may be found a moment before its thread has written it down.
            f = self.held.get(number)
            assert f is None or f.matches(notification)
        assert (STANDING in self.table.match(notification)) == bool(must)
        self.compared += 1

    def run(self, rounds: int) -> None:
        run_all([lambda: self.change(rounds), *[self.match] * THREADS])
        assert self.compared


@pytest.mark.parametrize("seed", range(3))
def test_threads_match_while_another_changes_the_table(seed: int) -> None:
    Stress(seed).run(ROUNDS)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_they_do_so_for_long() -> None:
    for seed in range(10):
        Stress(100 + seed).run(5 * ROUNDS)


def test_kernels_leave_a_free_threaded_python_free() -> None:
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has a lock")
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined,unused-ignore]
