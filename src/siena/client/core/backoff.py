"""How long to wait before trying again: longer each time, and never all at once."""

import random
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses between attempts, in seconds.

    The pause grows by ``factor`` up to ``most_s``; of each, a share of ``jitter`` is
    left to chance, so that a thousand clients of one broker do not come back to it in
    the same moment.

    >>> import itertools, random
    >>> steady = Backoff(jitter=0)
    >>> list(itertools.islice(steady.pauses(random.Random(1)), 5))
    [0.05, 0.1, 0.2, 0.4, 0.8]

    Args:
        give_up_s: after so long without a connection the client gives up.
    """

    first_s: float = 0.05
    factor: float = 2.0
    most_s: float = 5.0
    jitter: float = 0.5
    give_up_s: float = 120.0

    def pauses(self, chance: random.Random) -> Iterator[float]:
        """One pause after another, without end."""
        pause = self.first_s
        while True:
            yield pause * (1 - self.jitter * chance.random())
            pause = min(pause * self.factor, self.most_s)
