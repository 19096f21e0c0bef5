"""Hypothesis profiles: how many examples each property is tried with."""

import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")

# While writing code: new examples on every run, quickly.
settings.register_profile("dev", max_examples=50, deadline=None)
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
