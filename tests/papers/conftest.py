"""One store for all tests of this folder, and a patient collector of garbage."""

import gc
from collections.abc import Iterator

import pytest

from siena.research.studies.framework.store import Store

# Worlds of thousands of routers are made and dropped one after another.  With Python's
# 700 the collector looks at half of a world again and again while it is being made.
NEW_OBJECTS = 50_000
# How often the young are looked at before older ones are.
ROUNDS = 20


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A folder for the rows of all studies: figures share rows."""
    return Store(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="package", autouse=True)
def patient_collector() -> Iterator[None]:
    """Look for garbage less often, and not at all among what is loaded by now."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, ROUNDS, ROUNDS)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
