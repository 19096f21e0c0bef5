"""Which law fits: both are fitted and judged alike, and chance may leave it open."""

from math import log

import numpy as np
import pytest

from siena.research.studies.architectures.scale_laws import better_law
from siena.research.studies.framework.intervals import Samples

SIZES = (1000, 10_000, 100_000, 1_000_000)
OPEN = "neither a logarithm nor a power fits better for sure"


def known(law: dict[int, float], spread: float, seeds: int) -> dict[int, Samples]:
    random = np.random.default_rng(4)
    return {
        size: {
            seed: at * float(1 + spread * random.standard_normal())
            for seed in range(1, seeds + 1)
        }
        for size, at in law.items()
    }


@pytest.mark.parametrize("seeds", [5, 10])
def test_a_steep_power_and_a_logarithm_are_told_apart(seeds: int) -> None:
    power = {size: size**0.3 for size in SIZES}
    line = {size: 2 * log(size) - 10 for size in SIZES}
    assert better_law(known(power, 0.02, seeds)) == "a power fits better"
    assert better_law(known(line, 0.02, seeds)) == "a logarithm fits better"


def test_a_choice_that_flips_with_the_seeds_is_left_open() -> None:
    power = {size: size**0.3 for size in SIZES}
    assert better_law(known(power, 0.5, 3)) == OPEN


def test_what_does_not_grow_follows_both() -> None:
    assert better_law({size: {1: 2.5, 2: 2.5} for size in SIZES}) == OPEN
