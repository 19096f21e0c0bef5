"""Rows go to their shards in pieces, and none is lost on the way."""

import numpy as np
import pyarrow as pa
from hypothesis import given, strategies as st

from siena.spark.streams.shards import (
    SHARDED,
    cut_into_shards,
    unpacked,
)


@given(st.lists(st.integers(0, 4), max_size=12))
def test_every_row_is_in_the_piece_of_its_shard_in_its_order(shards: list[int]) -> None:
    rows = pa.table({"row": pa.array(range(len(shards)), pa.int64())})
    cut = cut_into_shards(rows, np.array(shards, np.int64))
    assert cut.schema.names == SHARDED.names
    found = {
        shard: unpacked(piece)["row"].to_pylist()
        for shard, piece in zip(
            *(cut[n].to_pylist() for n in SHARDED.names), strict=True
        )
    }
    assert len(found) == cut.num_rows
    assert found == {
        shard: [row for row, of in enumerate(shards) if of == shard]
        for shard in set(shards)
    }
