"""The census of the tests: how many there are of each name."""

from collections import Counter

import pytest

CENSUS = pytest.StashKey[Counter[str]]()
"""Every test that was collected, even if left out, and the number of its cases."""

IS_WHOLE = pytest.StashKey[bool]()
"""Whether that was the whole suite."""


def name_of(item: pytest.Item) -> str:
    """A test by its name, a doctest by what it documents."""
    file, _, name = item.nodeid.partition("::")
    if file.startswith("tests/"):
        return name.split("[")[0]
    if not file.startswith("src/"):
        return f"doctest {file}"
    module = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    module = module.removesuffix(".__init__")
    return f"doctest {name[len(module) + 1 :] or module.rpartition('.')[2]}"
