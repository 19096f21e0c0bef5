"""How tests are shared out where several processes run them (pytest-xdist).

The tests of a file stay together, for they share its fixtures; those of some folders,
too.  Half of the processes begin with tests that mostly wait (for Spark, for processes
that start, for clocks and disks), and the others with tests that compute, so that there
is always something for every core to do.  Both begin with what takes long, and meet at
what is short, so that all of them end at about the same time.
"""

import os

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# They share a Spark session, and the rows of studies.
TOGETHER = ("tests/integration/spark/", "tests/papers/")

# Where tests stand in the queue, of which both ends are taken first: those that wait
# are at its beginning and those that compute at its end.  A test has the place of the
# longest text here that its name begins with.
ORDER = (
    "tests/integration/spark/",
    "tests/integration/testing/chaos/",
    "tests/integration/bench/front/",
    "tests/integration/bench/network/",
    "tests/integration/brute_force/",
    "tests/integration/test_documents.py",
    "tests/integration/cli/study/",
    "tests/integration/cli/demo/",
    "tests/integration/broker/durable/",
    "tests/integration/broker/log/",
    "tests/integration/test_wheel.py",
    "tests/integration/cli/service/",
    "tests/integration/bench/",
    "tests/integration/cli/",
    "tests/integration/",
    "",  # doctests, and whatever else is short
    "tests/",
    "tests/unit/",
    "tests/conformance/",
    "tests/properties/",
    "tests/unit/brute_force/",
    "tests/unit/research/",
    "tests/unit/protocol/fast/",
    "tests/unit/matching/",
    "tests/integration/worlds/",
    "tests/papers/",
)

# How much less of a core the other processes ask for than the first, which has Spark:
# its tests follow each other in one process, and would otherwise be the last to end.
NICE = 5

FIRST = "gw0"  # as xdist calls it

# A process is given more when it has no more than this left to do: it begins a test
# only when it knows which one follows.
FEW = 2


class SideBySide(LoadScopeScheduling):  # type: ignore[misc]  # has no types
    """A process is given a file at a time, or a whole folder.

    Every second one is given the last of the queue, and the others the first.

    When a process dies, the test that it was at has failed, and is not begun again; the
    others that it was given go to another process.  (What we inherit begins the same
    test again and again, or waits for ever for the result of files that are done.)
    """

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # by number of tests, it would be
        self._places: dict[str, int] = {}

    def schedule(self) -> None:
        """Share out what there is, first of all to the process that was made first."""
        for node in sorted(self.assigned_work, key=number):
            self.assigned_work[node] = self.assigned_work.pop(node)
        super().schedule()

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget a process, and return the test that it died of, if it did."""
        given = self.assigned_work.pop(node)
        left = {
            scope: [t for t in unit if not unit[t]] for scope, unit in given.items()
        }
        died_of = next((test for tests in left.values() for test in tests), None)
        for scope, tests in reversed(left.items()):
            if again := {test: False for test in tests if test != died_of}:
                self.workqueue[scope] = again
                self.workqueue.move_to_end(scope, last=False)
        if died_of is not None:
            for other in self.nodes:
                self._reschedule(other)
        return died_of

    def _reschedule(self, node: WorkerController) -> None:
        if node not in self.registered_collections or node.shutting_down:
            return
        while self.workqueue and self._pending_of(self.assigned_work[node]) <= FEW:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()

    def _assign_work_unit(self, node: WorkerController) -> None:
        scope, unit = self.workqueue.popitem(last=number(node) % 2 == 1)
        self.assigned_work[node].setdefault(scope, {}).update(unit)
        node.send_runtest_some([self._place(test) for test in unit])

    def _place(self, test: str) -> int:
        """Where a test stands in the list that all processes have."""
        if not self._places:
            self._places = {test: n for n, test in enumerate(self.collection)}
        return self._places[test]

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((f for f in TOGETHER if file.startswith(f)), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SideBySide:
    """Share the tests out like this."""
    return SideBySide(config, log)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put the tests into the order of the queue, in every process the same."""
    if hasattr(config, "workerinput"):
        items.sort(key=rank)
        has_spark = bool(items) and items[0].nodeid.startswith(ORDER[0])
        if has_spark and config.workerinput["workerid"] != FIRST:
            os.nice(NICE)


def number(node: WorkerController) -> int:
    """Which of the processes it is, in the order in which they were made."""
    return int(node.gateway.id.removeprefix("gw"))


def rank(item: pytest.Item) -> int:
    """Where a test stands in the queue."""
    return ORDER.index(max(filter(item.nodeid.startswith, ORDER), key=len))
