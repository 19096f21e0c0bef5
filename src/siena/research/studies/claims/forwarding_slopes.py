"""By which power of the filters the time for a message grows.

Over all sizes by least squares, and between the ends of the last decade: a curve that
bends upwards has a small slope in all, and a large one where it matters.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log, log1p, sqrt
from statistics import fmean, linear_regression

from siena.research.studies.framework.claim import Answer, undecided, weakest
from siena.research.studies.framework.intervals import Interval, between, student
from siena.research.studies.framework.rows import Row, curve

# A slope needs a decade of filters, and more points than a line has ends.
DECADE, SIZES_MIN = 10, 3
# Times of one program differ by so much between runs on a machine that is shared.
TIMING = 0.1


def grows_less(rows: Sequence[Row]) -> Answer:
    """Whether time grows less than the filters, in all and in the last decade."""
    points = curve(rows, "filters", "microseconds")
    if max(points) < DECADE * min(points):
        return undecided("needs a decade of filters")
    if len(points) < SIZES_MIN:
        return undecided(f"needs {SIZES_MIN} sizes")
    slope, late = exponent(points), last_decade(points)
    words = (
        f"exponent {slope.words()}, of {len(points)} sizes; in the last decade "
        f"{late.words()}"
    )
    return weakest(between(slope, 0, 1, words), between(late, -1, 1, words))


def exponent(points: Mapping[float, float]) -> Interval:
    """The slope of the logarithms, and how far it may be from that of a straight line.

    By Student's t over the points: they leave a line because it bends, and because
    tables of a size differ; seeds alone would say of the second only.

    >>> exponent({10: 10, 100: 100, 1000: 1000}).words()
    '1.00'
    >>> exponent({10: 10, 100: 200, 1000: 1000}).words()
    '1.00 (-1.21 to 3.21)'
    """
    xs, ys = ([log(x) for x in of] for of in (points, points.values()))
    slope, start = linear_regression(xs, ys)
    beyond = len(points) - 2
    left = sum((y - start - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    spread = sum((x - fmean(xs)) ** 2 for x in xs)
    error = sqrt(left / beyond / spread) * student(beyond)
    return Interval(slope - error, slope, slope + error)


def last_decade(points: Mapping[float, float]) -> Interval:
    """The same between the ends of the last decade of filters, or of a little more.

    A curve that bends upwards has a small slope in all, and a large one in the end.
    The limits are those of two times of which each may be off by :data:`TIMING`.

    >>> bent = {10: 10, 100: 20, 1000: 200}
    >>> last_decade(bent).words()
    '1.00 (0.92 to 1.08)'
    """
    first, last = ends_of_last_decade(points)
    width = log(last / first)
    slope, off = log(points[last] / points[first]) / width, 2 * log1p(TIMING) / width
    return Interval(slope - off, slope, slope + off)


def ends_of_last_decade(sizes: Iterable[float]) -> tuple[float, float]:
    """The largest size, and the largest of those of a tenth of it or less."""
    known = list(sizes)
    last = max(known)
    return max(size for size in known if size * DECADE <= last), last
