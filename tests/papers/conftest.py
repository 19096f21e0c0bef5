"""One store for all tests of this folder: figures share rows."""

import pytest

from siena.research.studies.framework.store import Store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A folder for the rows of all studies."""
    return Store(tmp_path_factory.mktemp("studies"))
