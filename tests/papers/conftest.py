"""One store for all tests of this folder, and what studies load set aside."""

import gc
from collections.abc import Iterator

import pytest

from siena.research.studies.framework.store import Store


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
