"""Arrow batches are matched as the same notifications are, however they lie."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, example, given, strategies as st

from kernels import plain
from siena.block import BLOCK_ERRORS, encode, encode_in_order
from siena.errors import SienaError
from siena.lang import parse_filter, parse_predicate
from siena.lang.notification_form import notification_from_text
from siena.matching.engine import engine, tiers
from siena.matching.engine.engine import Engine, Matches
from siena.matching.input.arrow import TextColumn
from siena.matching.input.json_rows import _encode_slowly, encode_texts, read_plain
from siena.matching.kernels.json import Transcoder
from siena.matching.kernels.match import Kernel
from siena.matching.table import ForwardingTable
from siena.model import Filter, Kind, Notification, Value
from siena.model.limits import ATTRIBUTES_MAX, STRING_CHARACTERS_MAX
from strategies import NAMES, filters, kinds_of_one_family, values_of

KERNELS: dict[str, Callable[..., Any]] = {
    "compiled": Kernel,
    "plain": plain("match").Kernel,
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# The types that values of a kind may have in a column, if they fit.
TYPES: dict[Kind, list[pa.DataType]] = {
    Kind.INTEGER: [
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    ],
    Kind.FLOAT: [pa.float64(), pa.float32()],
    Kind.BOOLEAN: [pa.bool_()],
    Kind.STRING: [pa.utf8(), pa.large_utf8(), pa.string_view()],
    Kind.TIME: [
        *(pa.timestamp("us"), pa.timestamp("us", "UTC")),
        *(pa.timestamp("ns", "Europe/Rome"), pa.timestamp("ms"), pa.timestamp("s")),
    ],
}
UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Tables that are made here use this kernel."""
    name: str = request.param
    monkeypatch.setattr(tiers, "Engine", partial(Engine, kernel=KERNELS[name]))
    return name


# --- Drawing batches ----------------------------------------------------------------


def raw(value: Value | None, kind: pa.DataType) -> object:
    """A value as pyarrow takes it for a column of this type."""
    if isinstance(value, datetime):
        # Exactly: pyarrow would go through floats, or not as far as the year 1.
        microseconds = (value - EPOCH) // timedelta(microseconds=1)
        return microseconds * UNITS[kind.unit] // 1_000_000
    return value


def as_column(values: Sequence[Value | None], kind: pa.DataType) -> pa.Array | None:
    """A column of this type, or none if the values do not fit exactly."""
    stored = pa.int64() if pa.types.is_timestamp(kind) else kind
    try:
        column = pa.array([raw(v, kind) for v in values], stored).cast(kind)
    except (pa.ArrowInvalid, OverflowError):
        return None
    if pa.types.is_timestamp(kind):
        whole = 1_000_000 // min(1_000_000, UNITS[kind.unit])
        if any(isinstance(v, datetime) and v.microsecond % whole for v in values):
            return None
    elif column.to_pylist() != list(values):
        return None
    return column


@st.composite
def columns(draw: st.DrawFn, kinds: tuple[Kind, ...], rows: int) -> pa.Array:
    """A column of one kind, with nulls, sliced and dictionary-encoded at times."""
    concrete = sorted({part for kind in kinds for part in kind.parts})
    kind = draw(st.sampled_from(concrete))
    before, behind = draw(st.integers(0, 9)), draw(st.integers(0, 3))
    one: st.SearchStrategy[Value | None] = values_of((kind,))
    if kind is Kind.STRING:
        one = one | st.sampled_from(["a" * 12, "a" * 13, "ab" * 20])
    if draw(st.booleans()):
        one = st.none() | one
    values = draw(st.lists(one, min_size=rows, max_size=rows))
    padded = [*([None] * before), *values, *([None] * behind)]
    fitting = [c for t in TYPES[kind] if (c := as_column(padded, t)) is not None]
    column = draw(st.sampled_from(fitting))
    event(f"type: {column.type}")
    if draw(st.booleans()):
        column = draw(dictionaries(column))
    return column.slice(before, rows)


@st.composite
def dictionaries(draw: st.DrawFn, column: pa.Array) -> pa.Array:
    """The same column with its values in a dictionary, where nulls may stand too."""
    form = draw(st.sampled_from([pa.int8(), pa.uint16(), pa.int32(), pa.uint64()]))
    values = pa.concat_arrays([pa.nulls(2, column.type), column])[1:]
    places = [
        k if is_valid or draw(st.booleans()) else None
        for k, is_valid in enumerate(column.is_valid().to_pylist(), 1)
    ]
    return pa.DictionaryArray.from_arrays(pa.array(places, form), values)


@st.composite
def batches(
    draw: st.DrawFn,
) -> tuple[list[Filter], list[Notification], object]:
    """Filters, notifications, and the same notifications as something of Arrow."""
    kinds = draw(kinds_of_one_family())
    wanted = draw(st.lists(filters(kinds, max_size=2), max_size=8))
    rows = draw(st.integers(0, 9))
    first = draw(st.integers(0, rows))
    last = draw(st.integers(first, rows))
    found = {name: draw(columns(kinds, rows)) for name in (*NAMES, "unknown")}
    made = pa.record_batch({**found, "nothing": pa.nulls(rows)})
    notified = [Notification() for _ in range(rows)]
    for name, column in found.items():
        for i, value in enumerate(python(column)):
            if value is not None:
                notified[i] = Notification({**notified[i], name: value})
    sliced: object = made.slice(first, last - first)
    if draw(st.booleans()):
        # A struct whose offset is its own, and not that of its columns.
        sliced = pa.StructArray.from_arrays(
            made.columns, names=made.schema.names
        ).slice(first, last - first)
    return wanted, notified[first:last], sliced


def python(column: pa.Array) -> list[Value | None]:
    if isinstance(column, pa.DictionaryArray):
        known = python(column.dictionary)
        return [None if k is None else known[k] for k in column.indices.to_pylist()]
    if not pa.types.is_timestamp(column.type):
        values: list[Value | None] = column.to_pylist()
        return values
    unit = UNITS[column.type.unit]
    return [
        None if v is None else EPOCH + timedelta(microseconds=v * 1_000_000 // unit)
        for v in column.cast(pa.int64()).to_pylist()
    ]


def table_of(wanted: Sequence[Filter]) -> ForwardingTable:
    table = ForwardingTable()
    for f in wanted:
        table.add(1, f)
    return table


def answers(matches: Matches) -> list[int | list[int]]:
    """Of each row the numbers that match, or why it is bad."""
    found = matches.filters.tolist()
    result: list[int | list[int]] = []
    for count in matches.counts.tolist():
        result.append(count if count < 0 else sorted(found[: max(0, count)]))
        del found[: max(0, count)]
    assert not found
    return result


@pytest.mark.parametrize("name", KERNELS)
@given(batches())
def test_a_batch_is_matched_as_its_notifications_are(
    name: str, drawn: tuple[list[Filter], list[Notification], Any]
) -> None:
    wanted, notified, batch = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "Engine", partial(Engine, kernel=KERNELS[name]))
        table = table_of(wanted)
        found = answers(table.match_arrow(batch))
        assert found == answers(table.match_batch(notified))
    event(f"something matched: {any(found)}")


# --- Examples -----------------------------------------------------------------------

SOME = [
    *("x > 2", "x any", "s = ab", "s starts with a", "t > 2026-01-01T00:00:00Z"),
    *("b = true", "x < 0 and s any", "f < 0.5"),
]


@pytest.mark.usefixtures("kernel")
def test_tiers_and_removed_and_empty_filters_are_joined() -> None:
    table = ForwardingTable()
    empty = table.add(0, Filter())
    numbers = [table.add(i, parse_filter(f"x > {i}")) for i in range(100)]
    batch = pa.record_batch({"x": [5, None, 50]})
    table.match_arrow(batch)
    late = table.add(7, parse_predicate("x = 5 or x < 9"))
    table.remove(numbers[3])
    assert answers(table.match_arrow(batch)) == [
        sorted([empty, late, *numbers[:3], *numbers[4:5]]),
        [empty],
        sorted([empty, *numbers[:3], *numbers[4:50]]),
    ]
    table.remove(empty)
    assert answers(table.match_arrow(batch))[1] == []


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("known", ["x", "y"])
@pytest.mark.parametrize(
    ("column", "code"),
    [
        (pa.array([1, 2**63, 3], pa.uint64()), 9),
        (pa.array([1.0, float("nan"), 3.0]), 8),
        (pa.array([1.0, float("inf"), 3.0], pa.float32()), 8),
        (pa.array([1, -62135596801, 3], pa.int64()).cast(pa.timestamp("s")), 9),
        (pa.array([1, 253402300800, 3], pa.int64()).cast(pa.timestamp("s")), 9),
        (pa.array([1, 253402300800_000, 3], pa.int64()).cast(pa.timestamp("ms")), 9),
        (pa.array([1, 253402300800_000_000, 3]).cast(pa.timestamp("us")), 9),
        (pa.array([1, -62135596800_000_001, 3]).cast(pa.timestamp("us")), 9),
        (pa.Array.from_buffers(pa.utf8(), 3, pa.array([b"a", b"\xff", b"c"]).buffers()),
         7),
    ],
)  # fmt: skip
def test_a_bad_value_makes_its_row_bad(column: pa.Array, code: int, known: str) -> None:
    """As in a block, whether or not a filter has the name."""
    table = table_of([parse_filter(f"{known} any")])
    one = [0] if known == "x" else []
    assert code in BLOCK_ERRORS
    batch = pa.record_batch({"x": column})
    assert answers(table.match_arrow(batch)) == [one, -code, one]
    encoded = column.dictionary_encode() if column.type != pa.utf8() else column
    batch = pa.record_batch({"x": encoded})
    assert answers(table.match_arrow(batch)) == [one, -code, one]


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("nanoseconds", "wanted"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1999, "1970-01-01T00:00:00.000001Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (-1000, "1969-12-31T23:59:59.999999Z"),
        (-1001, "1969-12-31T23:59:59.999998Z"),
        (-(2**63), "1677-09-21T00:12:43.145224Z"),
        (2**63 - 1, "2262-04-11T23:47:16.854775Z"),
    ],
)
def test_nanoseconds_are_cut_off_towards_the_past(
    nanoseconds: int, wanted: str
) -> None:
    table = table_of([parse_filter(f"t = {wanted}")])
    column = pa.array([nanoseconds], pa.int64()).view(pa.timestamp("ns"))
    assert answers(table.match_arrow(pa.record_batch({"t": column}))) == [[0]]


@pytest.mark.usefixtures("kernel")
def test_a_row_with_too_many_attributes_is_bad() -> None:
    table = table_of([parse_filter("a0 any")])
    dense = {f"a{i}": [i, i] for i in range(ATTRIBUTES_MAX)}
    one_more = pa.array([None, "v"], pa.utf8()).dictionary_encode()
    batch = pa.record_batch({**dense, "last": one_more})
    assert answers(table.match_arrow(batch)) == [[0], -10]


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("place", [3, -1, 127])
def test_an_index_outside_its_dictionary_is_bad(place: int) -> None:
    table = table_of([parse_filter("s any")])
    column = pa.DictionaryArray.from_arrays(
        pa.array([0, place, 2], pa.int8()), ["a", "b", "c"], safe=False
    )
    assert answers(table.match_arrow(pa.record_batch({"s": column}))) == [[0], -9, [0]]


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    "words", [[13, 0, 1, 0], [13, 0, -1, 0], [13, 0, 0, 8], [13, 0, 0, -1], [-1] * 4]
)
def test_a_view_outside_its_bytes_is_bad(words: list[int]) -> None:
    table = table_of([parse_filter("s any")])
    views = np.array([[1, 97, 0, 0], words, [13, 0, 0, 7]], np.int32)
    column = pa.Array.from_buffers(
        pa.string_view(),
        3,
        [None, pa.py_buffer(views.tobytes()), pa.py_buffer(b"a" * 20)],
    )
    batch = pa.record_batch({"s": column})
    assert answers(table.match_arrow(batch)) == [[0], -1, [0]]
    assert answers(table.match_arrow(batch, json="s")) == [-12, -12, -12]


@pytest.mark.usefixtures("kernel")
def test_more_strings_than_the_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "VALUE_BYTES_REMEMBERED", 256)
    table = table_of([parse_filter("s ends with '7'")])
    texts = [f"{'x' * 60}{i}" for i in range(100)]
    found = answers(table.match_arrow(pa.record_batch({"s": texts})))
    assert found == [[0] if i % 10 == 7 else [] for i in range(100)]
    one = pa.record_batch({"s": ["x" * 1_000 + "7", "7"]})
    assert answers(table.match_arrow(one)) == [[0], [0]]


def test_more_matches_than_there_was_room_for() -> None:
    table = table_of([parse_filter(f"x > {i}") for i in range(500)])
    found = table.match_arrow(pa.record_batch({"x": [1000] * 300}))
    assert found.counts.tolist() == [500] * 300


@pytest.mark.parametrize(
    ("column", "type_name"),
    [
        (pa.array([np.float16(1)], pa.float16()), "float16"),
        (pa.array([1], pa.int32()).cast(pa.date32()), "date32.*cast it to a timestamp"),
        (pa.array([1], pa.int64()).cast(pa.date64()), "date64.*cast it to a timestamp"),
        (pa.array([1], pa.int64()).cast(pa.duration("s")), "duration"),
        (pa.array([1], pa.int32()).cast(pa.time32("s")), "time of day"),
        (pa.array([1]).cast(pa.decimal128(38, 2)), "decimal"),
        (pa.array([b"a"]), "binary"),
        (pa.array([[1]]), "list"),
        (pa.array([{"a": 1}]), "struct"),
        (pa.array([[("a", 1)]], pa.map_(pa.utf8(), pa.int8())), "map"),
        (pa.array([b"a"]).dictionary_encode(), "binary"),
    ],
)
def test_a_column_of_another_type_is_refused_by_name(
    column: pa.Array, type_name: str
) -> None:
    with pytest.raises(TypeError, match=f"column 'price' is {type_name}"):
        ForwardingTable().match_arrow(pa.record_batch({"price": column}))


def test_what_is_no_batch_is_refused() -> None:
    table: Any = ForwardingTable()
    with pytest.raises(TypeError, match=r"a list is no Arrow record batch$"):
        table.match_arrow([1])
    with pytest.raises(TypeError, match=r"a Table is no .* match its batches"):
        table.match_arrow(pa.table({"x": [1]}))
    with pytest.raises(TypeError, match="a record batch has columns"):
        table.match_arrow(pa.array([1]))
    with pytest.raises(ValueError, match="two columns are called 'x'"):
        table.match_arrow(pa.record_batch([pa.array([1])] * 2, names=["x", "x"]))
    structs = pa.array([{"a": 1}, None, {"a": 2}])
    with pytest.raises(ValueError, match="are null"):
        table.match_arrow(structs.slice(1))
    assert table.match_arrow(structs.slice(2)).counts.tolist() == [0]


def test_offsets_that_do_not_ascend_are_refused() -> None:
    offsets = pa.py_buffer(np.array([0, 3, 1], np.int32).tobytes())
    column = pa.Array.from_buffers(pa.utf8(), 2, [None, offsets, pa.py_buffer(b"abc")])
    with pytest.raises(ValueError, match="offsets of column 's' do not ascend"):
        ForwardingTable().match_arrow(pa.record_batch({"s": column}))


@pytest.mark.usefixtures("kernel")
def test_a_batch_without_rows_or_columns() -> None:
    table = table_of([parse_filter("x any"), Filter()])
    for batch in (pa.record_batch({"x": pa.array([], pa.utf8())}), pa.record_batch({})):
        assert answers(table.match_arrow(batch)) == []
    assert answers(table.match_arrow(pa.record_batch({"y": pa.nulls(2)}))) == [[1], [1]]


def test_labels_stand_for_their_interests_each_once() -> None:
    table = ForwardingTable()
    wanted = ("x < 3", "x < 4", "x = 2", "y = a")
    for number, text in enumerate(wanted):
        table.add(number, parse_filter(text))
    table.add(4, Filter())
    labels = np.array([2, 2, 1, 1, 0], np.int32)
    batch = pa.record_batch({"x": [2, 3, None], "y": ["a", None, "b"]})
    texts = ['{"x": 2, "y": "a"}', '{"x": 3}', '{"y": "b"}']
    column = pa.record_batch({"json": texts})
    for found in (
        table.match_arrow(batch, labels=labels),
        table.match_arrow(column, json="json", labels=labels),
    ):
        ends = np.cumsum(found.counts)
        parts = np.split(found.filters, ends[:-1])
        assert [sorted(part.tolist()) for part in parts] == [[0, 1, 2], [0, 2], [0]]
        assert found.counts.tolist() == [3, 2, 1]


def test_a_single_interest_has_its_label_too() -> None:
    table = ForwardingTable()
    table.add(0, parse_filter("x = 1"))
    batch = pa.record_batch({"x": [1]})
    found = table.match_arrow(batch, labels=np.array([0], np.int32))
    assert found.filters.tolist() == [0]


# --- One column of JSON -------------------------------------------------------------

TEXTS = [
    '{"x": 3, "s": "ab", "b": true, "f": 0.25, "gone": null}',
    '{"t": {"time": "2026-11-15T02:40:03Z"}}',
    '{"x": 1, "x": 2}',
    '{"x": NaN}',
    '{"x": 9223372036854775808}',
    '{"x": [1]}',
    "[]",
    "null",
    "",
    "{}",
    '{"s": "a:\\u0062"}',
    ' {"x" : 3 } ',
]


@pytest.mark.parametrize("type_name", ["utf8", "large_utf8", "string_view", "dict"])
def test_a_column_of_json_is_matched_as_its_notifications_are(type_name: str) -> None:
    table = table_of([parse_filter(text) for text in SOME])
    bad = {2, 3, 4, 5, 6, 7, 8, 12}
    column = pa.array(["pad", *TEXTS, None], pa.utf8())
    if type_name == "dict":
        column = column.dictionary_encode()
    else:
        column = column.cast(getattr(pa, type_name)())
    batch = pa.record_batch({"other": pa.array([[1]] * 14), "json": column}).slice(1)
    assert answers(table.match_arrow(batch, json="json")) == [
        -12 if i in bad else table.match_filters(notification_from_text(TEXTS[i]))
        for i in range(13)
    ]


def test_the_json_column_must_be_there_and_hold_strings() -> None:
    batch = pa.record_batch({"x": [1], "s": ["{}"]})
    with pytest.raises(ValueError, match="no column is called 'y'"):
        ForwardingTable().match_arrow(batch, json="y")
    with pytest.raises(TypeError, match=r"column 'x' is .*, not strings of JSON"):
        ForwardingTable().match_arrow(batch, json="x")


_tokens = st.sampled_from(
    [*'{}[],:"\\ \t\x00\x7fé-.0', '"x":', '"x"', "1", "-0", "1e5", "1E400", "-0.0",
     "01", "1.", "99999999999999999999999", "9223372036854775807", "true",
     "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
     "null", "NaN", "Infinity", '"a"', '"\\ud800"', "{}", "\ufeff", "1.5"]
)  # fmt: skip
_times = st.sampled_from(
    ["2026-11-15T02:40:03Z", "2026-11-15T02:40:03.000001Z", "2026-11-15T02:40:03.1Z",
     "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "0000-01-01T00:00:00Z",
     "2026-02-29T00:00:00Z", "2026-11-15T24:00:00Z", "2026-11-15T23:59:60Z",
     "2026-11-15T02:40:03", "2026-11-15T02:40:03+01:00", "2026-11-15t02:40:03z", ":"]
).map('{{"time": "{}"}}'.format)  # fmt: skip
_nested = st.sampled_from(['{"time": 1}', '{"time": "", "time": ":"}', '":"', '"a:"'])
_members = st.tuples(
    st.sampled_from(['"x"', '"y"', '"é"', '""', '":"']), _tokens | _times | _nested
)
_objects = st.lists(_members, max_size=3).map(
    lambda pairs: "{" + ", ".join(f"{n}: {v}" for n, v in pairs) + "}"
)


@given(_objects | st.lists(_tokens, max_size=6).map("".join))
@example('{"x": 1e5}')
@example('{"x": -0}')
@example('{"x": ":", "x": 1}')
@example('{"x": 1, "x": ":"}')
@example('{"x": {"time": "2026-11-15T02:40:03Z"}}')
@example('{"x": {"time": "a", "time": "2026-11-15T02:40:03Z"}}')
@example('{"x": -9223372036854775809}')
@example('{"x": 18446744073709551616}')
def test_the_fast_reader_of_json_agrees_with_the_exact_one(text: str) -> None:
    """It may give up; what it reads, the other reads too, kind by kind."""
    read = read_plain(text.encode(), text)
    event(f"read: {read is not None}")
    if read is None:
        return
    try:
        wanted = notification_from_text(text)
    except SienaError:
        pytest.fail("the exact reader refuses it")
    assert Notification(read) == wanted
    assert encode(dict(sorted(read.items()))) == encode(wanted) or "-0" in text


# --- The kernel that makes blocks of plain texts ------------------------------------

TRANSCODERS: dict[str, Callable[..., Any]] = {
    "compiled": Transcoder,
    "plain": plain("json").Transcoder,
}
# What is plain must not be left to a slower reader.
PLAIN = [
    '{"x": 3, "s": "ab", "b": true, "c": false, "f": 0.25, "gone": null}',
    '{"t": {"time": "2026-11-15T02:40:03Z"}, "u": {"time":"1970-01-01T00:00:00Z"}}',
    '{ "x" :\t-1 ,\n"y":-33, "z": -129, "u": -32769, "v": -2147483649}\r\n',
    '{"a": 127, "b": 128, "c": 255, "d": 256, "e": 65535, "f": 65536, "g": 4294967296}',
    '{"a": 999999999999999999, "b": -999999999999999999, "c": 4294967295}',
    '{"a": 0.1, "b": -2.5, "c": 123456.789, "d": 0.0, "e": 900719925474099.1}',
    "{}",
    '{"": ""}',
    '{"é\U0001f600": "\u0085 è"}',
    "{" + ", ".join(f'"n{i}": {i}' for i in range(16)) + "}",
    f'{{"s": "{"a" * 31}", "t": "{"b" * 32}", "u": "{"c" * 255}", "v": "{"d" * 256}"}}',
    f'{{"s": "{"a" * 65536}"}}',
    '{"t": {"time": "2000-02-29T23:59:59Z"}, "u": {"time": "2105-12-31T00:00:00Z"}}',
]


def transcoded(text: str | bytes, name: str) -> bytes | None:
    """The block of a text, if it is plain."""
    written = text if isinstance(text, bytes) else text.encode()
    data = np.frombuffer(written + b"\0", np.uint8)
    out = np.empty(3 * len(data) + 16, np.uint8)
    ends, done = np.zeros(2, np.int64), np.zeros(1, np.uint8)
    transcoder = TRANSCODERS[name](data, out, np.empty(2 * ATTRIBUTES_MAX, np.int64))
    starts = np.array([0, len(data) - 1], np.int64)
    transcoder.run(starts, np.ones(1, np.uint8), ends, done)
    return out[: ends[1]].tobytes() if done[0] else None


@pytest.mark.parametrize("name", TRANSCODERS)
@pytest.mark.parametrize("text", PLAIN)
def test_plain_texts_become_the_blocks_that_they_would_become(
    name: str, text: str
) -> None:
    wanted = notification_from_text(text)
    read = msgspec.json.decode(text)
    ordered = {key: wanted[key] for key in read if key in wanted}
    assert transcoded(text, name) == encode_in_order(ordered)


@pytest.mark.parametrize("name", TRANSCODERS)
@given(_objects | st.lists(_tokens, max_size=6).map("".join) | st.sampled_from(PLAIN))
@example('{"x": null, "x": 1}')
@example('{"x": 1, "x": null}')
@example('{"x": null, "x": null}')
@example('{"x": null, "y": 1, "xy": null}')
@example('{"x": {"time": "2026-02-29T00:00:00Z"}}')
@example('{"x": {"time": "2026-1a-01T00:00:00Z"}}')
@example('{"x": {"time": "2106-12-31T00:00:00Z"}}')
@example('{"x": 9007199254740993.0}')
@example('{"x": 0.12345678901234567}')
@example('{"x": tru}')
@example('{"x": falsy}')
@example('{"x": 1,}')
@example('{"x": 1} 2')
def test_the_kernel_makes_the_blocks_of_the_exact_reader(name: str, text: str) -> None:
    """It may give up, and it leaves it to the engine to find a name twice."""
    block = transcoded(text, name)
    event(f"plain: {block is not None}")
    if block is None:
        return
    offsets = np.array([0, len(block)], np.int64)
    accepted = ForwardingTable().match_buffer(block, offsets).counts[0] >= 0
    try:
        wanted = notification_from_text(text)
    except SienaError:
        assert not accepted
        return
    assert accepted
    assert Notification(msgspec.msgpack.decode(block)) == wanted


@pytest.mark.parametrize("name", TRANSCODERS)
@pytest.mark.parametrize("wrong", [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80"])
def test_a_name_without_a_value_has_to_be_a_text(name: str, wrong: bytes) -> None:
    """The block leaves such a name out, so its reader could not refuse it later."""
    for good in ("é", "", "\U0001f600"):
        assert transcoded(f'{{"{good}": null, "x": 1}}', name) == b"\x81\xa1x\x01"
    text = b'{"x": 1, "' + wrong + b'": null}'
    assert transcoded(text, name) is None
    column = TextColumn.of([text])
    assert encode_texts(column)[2].tolist() == _encode_slowly(column)[2].tolist()


@given(st.lists(_objects | st.none() | st.sampled_from(PLAIN[:3]), max_size=5))
def test_texts_are_encoded_together_as_one_by_one(texts: list[str | None]) -> None:
    column = TextColumn.of(None if t is None else t.encode() for t in texts)
    table = table_of([parse_filter(text) for text in SOME])
    together, slowly = encode_texts(column), _encode_slowly(column)
    found, wanted = (answers(table.match_buffer(*e[:2])) for e in (together, slowly))
    bad = [isinstance(answer, int) for answer in found]
    assert (
        bad
        == [isinstance(answer, int) for answer in wanted]
        == [
            isinstance(answer, int) or bool(missing)
            for answer, missing in zip(found, together[2], strict=True)
        ]
    )
    good = [i for i, is_bad in enumerate(bad) if not is_bad]
    assert [found[i] for i in good] == [wanted[i] for i in good]


LONG = STRING_CHARACTERS_MAX


@pytest.mark.parametrize(
    "form", ["string", "large_string", "string_view", "dictionary"]
)
def test_a_string_that_no_block_may_have_is_none_in_a_column(form: str) -> None:
    """In characters, of which a byte is a quarter at least."""
    texts = ["a", "x" * LONG, None, "x" * (LONG + 1), "é" * LONG, "é" * (LONG + 1), "a"]
    kinds = {
        "string": pa.string(),
        "large_string": pa.large_string(),
        "string_view": pa.string_view(),
        "dictionary": pa.dictionary(pa.int8(), pa.string()),
    }
    column = pa.array(texts, pa.string()).cast(kinds[form])
    table = table_of([parse_filter("t any"), parse_filter("t = a"), Filter([])])
    for batch, wanted in [
        (pa.record_batch({"t": column}), texts),
        (pa.record_batch({"t": column}).slice(1, 5), texts[1:6]),
        (pa.record_batch({"other": column}), texts),
    ]:
        name = batch.schema.names[0]
        rows = [{} if text is None else {name: text} for text in wanted]
        blocks = [msgspec.msgpack.encode(row) for row in rows]
        offsets = np.cumsum([0, *map(len, blocks)])
        found = table.match_arrow(batch)
        expected = table.match_buffer(b"".join(blocks), offsets)
        assert found.counts.tolist() == expected.counts.tolist()
        assert answers(found) == answers(expected)
        assert BLOCK_ERRORS[-int(found.counts.min())].endswith("is too long")
