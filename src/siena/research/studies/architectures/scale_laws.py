"""By which law something grows with the sites: a logarithm, or a power.

*At most a logarithm?*  A logarithm is a straight line where x is logarithmic: what the
last decade of sites adds is what the decades before added on average.  A power adds
more.  So the *excess* of the largest networks over the line of all others, as a share
of what they have and with an interval over the seeds, decides: none for a logarithm, or
for what does not grow, a quarter for N^0.25.  *Which law?*  Both are fitted to all
sizes, and what each leaves unexplained is compared, with an interval as well.
"""

from collections.abc import Mapping, Sequence
from math import log
from statistics import fmean

import numpy as np

from siena.research.studies.framework.intervals import (
    Interval,
    Means,
    Samples,
    cells,
    of_means,
)
from siena.research.studies.framework.rows import Row

# The powers that are tried, in steps that no network is exact enough for.
POWERS = np.linspace(-0.5, 1.5, 1001)
# What explains a thousandth more of all differences explains no more.
TIE = 0.001


def by_sites(rows: Sequence[Row], column: str) -> dict[int, Samples]:
    """A column by number of sites, then by seed."""
    known = cells(rows, ("sites",), column)
    return {int(str(sites)): known[(sites,)] for (sites,) in sorted(known)}


def excess(known: Mapping[int, Samples]) -> Interval:
    """How far the largest networks are above the line that fits all others best.

    A line that falls is taken for a level one: who grows at most as a logarithm may as
    well not grow at all.

    >>> law = {n: {1: 3 + 2 * log(n)} for n in (10, 100, 1000, 10_000)}
    >>> round(excess(law).value, 3) + 0.0
    0.0
    >>> power = {n: {1: n**0.25} for n in (1000, 10_000, 100_000, 1_000_000)}
    >>> round(excess(power).value, 2)
    0.26
    >>> abs(excess({n: {1: 7.0} for n in law}).value) < 1e-9
    True
    """
    *xs, last = (log(sites) for sites in known)
    away = np.array(xs) - fmean(xs)

    def above(*means: Means) -> Means:
        *others, largest = means
        slope = np.tensordot(away, others, axes=1) / (away**2).sum()
        line = np.mean(others, axis=0) + slope.clip(0) * (last - fmean(xs))
        share: Means = (largest - line) / largest
        return share

    return of_means(above, *known.values())


def exponent(known: Mapping[int, Samples]) -> Interval:
    """The p of a power N^p that fits best, by least squares over all sizes.

    >>> power = {n: {1: 3 * n**0.5} for n in (10, 100, 1000)}
    >>> round(exponent(power).value, 3)
    0.5
    """
    xs = np.array([log(sites) for sites in known])
    away = xs - xs.mean()

    def slope(*means: Means) -> Means:
        found: Means = np.tensordot(away, np.log(means), axes=1) / (away**2).sum()
        return found

    return of_means(slope, *known.values())


def better_law(known: Mapping[int, Samples]) -> str:
    """Whether a logarithm or a power fits better, with an interval over the seeds.

    Both have two numbers to fit, and are fitted and judged by the same squares.

    >>> better_law({n: {1: 3 + 2 * log(n)} for n in (10, 100, 1000)})
    'a logarithm fits better'
    >>> better_law({n: {1: 2 * n**0.4} for n in (10, 100, 1000)})
    'a power fits better'
    """
    sites = np.array(list(known), float)

    def share(*means: Means) -> Means:
        ys = np.array(means)
        all_ = ((ys - ys.mean(axis=0)) ** 2).sum(axis=0)
        more: Means = _beside_line(sites, ys) - _beside_power(sites, ys)
        return more / np.where(all_ > 0, all_, 1.0)

    found = of_means(share, *known.values())
    if found.low > TIE:
        return "a power fits better"
    if found.high < -TIE:
        return "a logarithm fits better"
    return "neither a logarithm nor a power fits better for sure"


def _beside_line(sites: Means, ys: Means) -> Means:
    """The squares that the best a + b log N leaves."""
    away = np.log(sites) - np.log(sites).mean()
    slope = np.tensordot(away, ys, axes=1) / (away**2).sum()
    line = ys.mean(axis=0) + np.multiply.outer(away, slope)
    left: Means = ((ys - line) ** 2).sum(axis=0)
    return left


def _beside_power(sites: Means, ys: Means) -> Means:
    """The squares that the best a N^p leaves."""
    curves = (sites / sites.max()) ** POWERS[:, None]
    curves /= np.sqrt((curves**2).sum(axis=1, keepdims=True))
    explained = np.tensordot(curves, ys, axes=1) ** 2
    left: Means = ((ys**2).sum(axis=0) - explained.max(axis=0)).clip(0)
    return left
