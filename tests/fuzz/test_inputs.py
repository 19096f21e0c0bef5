"""Mutated inputs of every kind, a few hundred of each."""

import random

import pytest

from fuzz.inputs import TARGETS, fuzz

# A log is opened for each of its inputs.
COUNTS = {"logs": 60, "frames": 100}


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_are_taken_or_refused(target: str) -> None:
    count = COUNTS.get(target, 400)
    assert fuzz(target, random.Random(7), lambda tried: tried >= count) == count
