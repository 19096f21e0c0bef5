"""The exchange's obvious twin: it lays out one frame after the other."""

import numpy as np

from siena.broker.data.exchange import Key, Routed
from siena.matching.table import ForwardingTable
from siena.messages import Party
from siena.model import Filter, Predicate
from siena.protocol.data_frames import pack_msg
from siena.protocol.fast.split_frames import Octets, PublishRun, cut_one_by_one
from siena.protocol.limits import FRAME_BYTES_MAX


class ObviousExchange:
    """Who wants what, and what they get."""

    def __init__(self) -> None:
        self._table = ForwardingTable()
        # Of each interest whose it is, and of each party its interest.
        self._owners: dict[int, tuple[int, int] | Key] = {}
        self._parties: dict[int, dict[int, int]] = {}
        self._watched: dict[tuple[Key, Filter], int] = {}
        self._away: set[int] = set()

    def __len__(self) -> int:
        return len(self._table)

    def subscribe(
        self,
        connection: int,
        number: int,
        interest: Filter | Predicate,
        *,
        is_away: bool = False,
    ) -> None:
        """A connection wants something, under a number that it does not use yet."""
        added = self._table.add(0, interest)
        assert is_away == (connection in self._away)
        self._owners[added] = connection, number
        numbers = self._parties.setdefault(connection, {})
        assert number not in numbers, "taken"
        numbers[number] = added

    def unsubscribe(self, connection: int, number: int) -> None:
        """A connection wants nothing under this number any more."""
        numbers = self._parties[connection]
        self._drop(numbers.pop(number))
        if not numbers:
            del self._parties[connection]

    def suspend(self, connection: int) -> None:
        """A connection is away."""
        self._away.add(connection)

    def resume(self, connection: int) -> None:
        """It is here again."""
        self._away.discard(connection)

    def watch(self, key: Key, interest: Filter) -> None:
        """Somebody who is no plain connection wants something."""
        added = self._watched[key, interest] = self._table.add(0, interest)
        self._owners[added] = key

    def unwatch(self, key: Key, interest: Filter) -> None:
        """And no longer wants it."""
        self._drop(self._watched.pop((key, interest)))

    def route(self, sent: Octets, start: int, end: int) -> Routed:
        """What everybody gets of the publications that stand at the beginning."""
        pieces = cut_one_by_one(sent[:end], FRAME_BYTES_MAX, start).pieces
        run = next(iter(pieces), None)
        blocks = run.blocks() if isinstance(run, PublishRun) else []
        offsets = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
        counts, filters = self._table.match_buffer(b"".join(blocks), offsets)
        frames: dict[int, list[bytes]] = {}
        bad: list[tuple[int, int]] = []
        others: dict[Key, list[int]] = {}
        at, found = 0, filters.tolist()
        for index, count in enumerate(counts.tolist()):
            if count < 0:
                bad.append((index, -count))
                continue
            wanted: dict[int, list[int]] = {}
            for owner in {self._owners[f] for f in found[at : at + count]}:
                if isinstance(owner, tuple) and owner[0] in self._away:
                    party = Party(str(owner[0]), owner[1])
                    others.setdefault(party, []).append(index)
                elif isinstance(owner, tuple):
                    wanted.setdefault(owner[0], []).append(owner[1])
                else:
                    others.setdefault(owner, []).append(index)
            at += count
            for connection, numbers in wanted.items():
                frame = pack_msg(sorted(numbers), blocks[index])
                frames.setdefault(connection, []).append(frame)
        return Routed(
            len(blocks),
            run.end if isinstance(run, PublishRun) else start,
            [(c, b"".join(parts), len(parts)) for c, parts in frames.items()],
            bad,
            [(key, np.array(indices, np.int32)) for key, indices in others.items()],
        )

    def _drop(self, added: int) -> None:
        self._table.remove(added)
        del self._owners[added]
