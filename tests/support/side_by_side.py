"""How tests are shared out where several processes run them (pytest-xdist).

The tests of a file stay together, for they share its fixtures; those of some folders,
too.  What takes long begins, so that the last to end is short.
"""

import pytest
from xdist.scheduler import LoadScopeScheduling

# They share a Spark session, and the rows of studies.
TOGETHER = ("tests/integration/spark/", "tests/papers/")
LONGEST_FIRST = (*TOGETHER, "tests/integration/", "tests/properties/", "tests/", "")


class SideBySide(LoadScopeScheduling):  # type: ignore[misc]  # has no types
    """A process is given a file at a time, or a whole folder, in the order of tests."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # by number of tests, it would be

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
