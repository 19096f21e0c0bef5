"""How tests are shared out where several processes run them (pytest-xdist).

The tests of a file stay together, for they share its fixtures; those of some folders,
too.  What takes long begins, so that the last to end is short.
"""

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# They share a Spark session, and the rows of studies.
TOGETHER = ("tests/integration/spark/", "tests/papers/")
LONGEST_FIRST = (*TOGETHER, "tests/integration/", "tests/properties/", "tests/", "")


# A process is given more when it has no more than this left to do: it begins a test
# only when it knows which one follows.
FEW = 2


class SideBySide(LoadScopeScheduling):  # type: ignore[misc]  # has no types
    """A process is given a file at a time, or a whole folder, in the order of tests.

    When a process dies, the test that it was at has failed, and is not begun again; the
    others that it was given go to another process.  (What we inherit begins the same
    test again and again, or waits for ever for the result of files that are done.)
    """

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # by number of tests, it would be
        self._places: dict[str, int] = {}

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
        scope, unit = self.workqueue.popitem(last=False)
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
    """Put the tests into the order in which they begin, in every process the same."""
    if hasattr(config, "workerinput"):
        items.sort(key=rank)


def rank(item: pytest.Item) -> int:
    """Where a test stands in the queue."""
    return next(n for n, f in enumerate(LONGEST_FIRST) if item.nodeid.startswith(f))
