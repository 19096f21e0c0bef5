"""A gap: between two moments something may have been lost; how much is not known."""

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class MissedInterval:
    """Between two moments, in microseconds since 1970, notifications may be missing.

    >>> print(MissedInterval(0, 2_500_000, "the link to hub was down"))
    notifications may be missing from 1970-01-01T00:00:00Z to 1970-01-01T00:00:02Z, the
    link to hub was down
    """

    start_us: int
    end_us: int
    reason: str

    @property
    def start(self) -> datetime:
        """When it began."""
        return datetime.fromtimestamp(self.start_us / 1e6, UTC)

    @property
    def end(self) -> datetime:
        """When it ended."""
        return datetime.fromtimestamp(self.end_us / 1e6, UTC)

    def __str__(self) -> str:
        """It, for people."""
        start, end = (f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in (self.start, self.end))
        return f"notifications may be missing from {start} to {end}, {self.reason}"
