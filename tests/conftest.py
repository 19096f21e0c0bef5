"""Hypothesis profiles, a guard, and how tests are collected and shared out."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, find, settings
from hypothesis.strategies import none

import demanded
from guard import only_this_process

HERE = Path(__file__).parent
# The folders whose tests need nothing but this process, and are held to that.
IN_PROCESS = [
    HERE / folder for folder in ("unit", "properties", "conformance", "fuzz", "house")
]
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")

# Tests make worlds, tables and trees of syntax that stay until they end.  With Python's
# 700 new objects the collector looks at half of them again and again while they are
# made: a sixth of the time of tests that compute.
NEW_OBJECTS = 50_000
# How often the young are looked at before older ones are.
ROUNDS = 20

# While writing code: new examples on every run, quickly.
settings.register_profile("dev", max_examples=50, deadline=None)
# In `make quick`: few, and the same on every run.
settings.register_profile("quick", max_examples=20, derandomize=True, deadline=None)
# In `make test`: the same examples on every run, whatever else the machine does.
settings.register_profile(
    "ci", max_examples=100, derandomize=True, print_blob=True, deadline=None
)
# Now and then, and before a release: as many as a night allows.
settings.register_profile(
    "night",
    max_examples=20_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(PROFILE)

if PROFILE == "night":
    # Twenty thousand examples outlast the time limit that protects everyday runs.
    os.environ["PYTEST_TIMEOUT"] = "0"


def pytest_configure(config: pytest.Config) -> None:
    """Say what is collected, and how it is shared out among processes."""
    config.pluginmanager.import_plugin("collecting")
    if demanded.IS_DEMANDED:
        config.pluginmanager.register(demanded, "demanded")
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.import_plugin("side_by_side")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage: what is collected stays to the end.

    Nor is it looked at again while tests run.  A quarter of the time of collection, and
    a tenth of that of tests, went into looking through modules and thousands of tests.
    """
    # When it first draws, Hypothesis has the collector look for who holds its generator
    # of random numbers, and warns if that has been set aside; so it draws before.
    find(none(), lambda _: True)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS, ROUNDS, ROUNDS)
        gc.enable()


@pytest.fixture(autouse=True)
def _guarded(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse sockets, processes and Spark where the folder says that there are none."""
    if not any(request.path.is_relative_to(folder) for folder in IN_PROCESS):
        yield
        return
    with only_this_process():
        yield
