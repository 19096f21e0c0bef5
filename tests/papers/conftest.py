"""One store for all tests of this folder, and what studies load set aside."""

import gc
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from siena.research.studies.framework.store import Store

# Studies whose rows, small as they are, take two seconds and more to compute.  They
# are computed by `make test-papers`; every day their claims are decided, and refuted,
# by the rows that stand beside the page (test_kept.py).
LONG = (
    *("fig6", "fig7", "fig26", "fig27", "fig28", "fig29", "fig30"),
    *("brokers", "choices", "hybrid", "robustness", "scale", "advantage", "cbcb"),
    *("patterns", "poset", "forwarding", "merging", "changes", "ways"),
)
OF_LONG = re.compile(rf"\[(?:{'|'.join(LONG)})-?\b")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What computes rows of those studies is slow."""
    here = Path(__file__).parent
    for item in items:
        computes = "store" in getattr(item, "fixturenames", ())
        computes |= item.name.startswith("test_a_wrong_")
        if computes and item.path.parent == here and OF_LONG.search(item.name):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A folder for the rows of all studies: figures share rows."""
    return Store(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="package", autouse=True)
def patient_collector() -> Iterator[None]:
    """Look for no garbage among what is loaded by now."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
