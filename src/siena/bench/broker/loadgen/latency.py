"""Latencies, counted by their highest bits: small, and exact to 1.6 percent."""

import numpy as np
import numpy.typing as npt

from siena.bench.broker.kernels.checking import LATENCY_COUNTERS

Counters = npt.NDArray[np.int64]


def new_counters() -> Counters:
    """All at zero."""
    return np.zeros(LATENCY_COUNTERS, np.int64)


def percentile(counters: Counters, percent: float) -> float:
    """The seconds within which so many percent were; 0 if nothing was counted.

    >>> counters = new_counters()
    >>> counters[100] += 99  # of 100 nanoseconds
    >>> counters[64 * 10 + 100] += 1  # of 100 << 10
    >>> percentile(counters, 50), percentile(counters, 100)
    (1e-07, 0.000102912)
    """
    total = int(counters.sum())
    if total == 0:
        return 0.0
    place = int(np.searchsorted(np.cumsum(counters), total * percent / 100))
    shift, rest = divmod(place, 64)
    if shift > 0:  # what is shifted has its highest bit at 64
        shift, rest = shift - 1, rest + 64
    return ((rest << shift) + (1 << shift >> 1)) / 1e9
