"""What routers tell each other arrives as it was."""

from typing import get_args

import pytest
from hypothesis import given, strategies as st

import strategies as our
from siena.block import encode as encode_block
from siena.errors import LimitError
from siena.lang import (
    parse_advertisement,
    parse_filter,
    parse_interest,
    parse_predicate,
)
from siena.messages import (
    Advertise,
    Flush,
    Found,
    Leave,
    LinkState,
    Listing,
    ListInterests,
    Lost,
    MapIdentity,
    Message,
    Move,
    Moved,
    Notify,
    Numbered,
    Parcel,
    PeerConfirm,
    PeerConnect,
    PeerDisconnect,
    PeerRefuse,
    Publish,
    Quenched,
    Release,
    Resume,
    Settle,
    Settled,
    Side,
    Stamp,
    Subscribe,
    Suspend,
    Unadvertise,
    Unquenched,
    Unsubscribe,
    Window,
)
from siena.messages.interface import TTL_MAX
from siena.messages.requests import filters_of
from siena.model import Notification, Pattern, Predicate
from siena.protocol.control_frames import Tell, unpack
from siena.protocol.data_frames import pack_forward, unpack_forward
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import HEAD_BYTES, Op
from siena.protocol.peer_forms import JOINT_CHARACTERS, JOINT_FILTERS_MAX
from siena.protocol.peer_messages import (
    TOLD,
    check_encodable,
    decode,
    encode,
    forwarded,
    notify_of,
    pack_jointly,
    pack_one_by_one,
    pack_tell,
)

u64 = st.sampled_from([0, 1, 2**32, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
times = st.floats(allow_nan=False, allow_infinity=False)
weights = st.floats(0, 1e9, exclude_min=True)
ttls = st.integers(0, TTL_MAX)
origins = st.none() | u64
stamps = st.builds(Stamp, u64, u64, u64)
notices = st.builds(Notify, our.any_notifications, stamps, times, u64, ttls)
found = st.builds(
    Found, our.any_patterns, st.lists(notices, min_size=1, max_size=3).map(tuple)
)
keys = stamps | st.tuples(our.any_patterns, st.lists(stamps, max_size=3).map(tuple))
windows = st.builds(Window, u64, u64, u64, st.integers(0, 2**4096 - 1))
interests = st.one_of(
    our.any_filters,
    our.any_predicates,
    our.any_patterns,
    # Text cannot say these.
    st.just(Predicate([])),
    st.just(Pattern([Predicate([])])),
)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(Subscribe, interests, origins),
    st.builds(Unsubscribe, interests, origins, exact=st.booleans()),
    st.builds(Advertise, our.any_advertisements, origins),
    st.builds(Unadvertise, our.any_advertisements, origins, exact=st.booleans()),
    st.builds(Settle, interests, u64, origins, fresh=st.booleans(), ttl=ttls),
    st.builds(Settled, u64),
    found,
    st.builds(
        LinkState,
        u64,
        st.tuples(u64, u64),
        st.lists(st.tuples(u64, weights), max_size=3).map(tuple),
    ),
    st.builds(PeerConnect, st.sampled_from(Side), weights),
    st.builds(PeerRefuse, st.text(max_size=9)),
    st.sampled_from([PeerConfirm(), PeerDisconnect(), Release()]),
    st.builds(
        Parcel,
        st.lists(notices | found, max_size=2).map(tuple),
        u64.filter(lambda n: n < 2**63),
        st.frozensets(keys, max_size=3),
        st.lists(windows, max_size=2).map(tuple),
    ),
)


def through_the_wire(message: Message) -> Message:
    frame = pack_tell(message)
    body = unpack(frame[4], frame[HEAD_BYTES:])
    assert isinstance(body, Tell)
    return decode(body)


@given(messages)
def test_every_message_arrives_as_it_was(message: Message) -> None:
    assert through_the_wire(message) == message
    assert decode(encode(message)) == message


def test_every_message_is_told_or_is_not_for_brokers() -> None:
    """A message that is added has to be put on one of the two sides."""
    for_others = {
        # What a client asks its own broker.
        *(Publish, Suspend, Resume, MapIdentity, Leave, Move),
        *(Lost, Quenched, Unquenched, Moved),  # what a broker tells its own client
        *(ListInterests, Listing, Numbered),  # go as MOVE, as SUB and ADV, as MSG
        Flush,  # what a body tells its own router
        Notify,  # goes as FORWARD
    }
    assert {*get_args(Message)} == TOLD | for_others
    assert not TOLD & for_others


@given(notices, st.integers(0, 255))
def test_a_notification_is_forwarded_as_it_was(notice: Notify, flags: int) -> None:
    frame = pack_forward(forwarded(notice, flags=flags))
    it = unpack_forward(frame[HEAD_BYTES:])
    assert (frame[4], it.flags) == (Op.FORWARD, flags)
    assert it.block == encode_block(notice.notification)
    assert notify_of(it) == notice


@pytest.mark.parametrize(
    ("verb", "fields", "why"),
    [
        ("dance", [], "no verb is 'dance'"),
        ("publish", ["x = 1"], "no verb is 'publish'"),
        ("subscribe", [], "at least length 1"),
        ("subscribe", ["x >"], "column 4: expected a value"),
        ("subscribe", [["x any", ["y any"]]], "filters and predicates"),
        ("subscribe", [[[]] * 65], "more than 64 steps"),
        ("subscribe", ["x any", -1], ">= 0"),
        ("subscribe", ["x any", 1.5], "Expected `int | null`"),
        ("advertise", ["x any or y any"], "has no meaning"),
        ("settle", ["x any", 1, None, False, TTL_MAX + 1], "<= 1024"),
        ("found", ["x any", []], "not a pattern"),
        ("found", [[["x any"]], [[b"\x81", [1, 2, 3], 0.0, 1, 1]]], "truncated"),
        ("found", [[["x any"]], [[b"\x80", [1, 2], 0.0, 1, 1]]], "length 3"),
        ("found", [[["x any"]], [[b"\x80", [1, 2, 3], float("nan"), 1, 1]]], "finite"),
        ("linkstate", [1, 2, 3, [[1, -1.0]]], "weight -1.0"),
        ("linkstate", [1, 2, 3, [[1, float("nan")]]], "weight nan"),
        ("linkstate", [1, 2, 3, [[1, float("inf")]]], "weight inf"),
        ("peerconnect", ["peer", 0.0], "weight 0.0"),
        ("peerconnect", ["friend"], "Invalid enum value"),
        ("parcel", [{}], "Expected `array`"),
    ],
)
def test_what_is_no_message_is_refused(
    verb: str, fields: list[object], why: str
) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(Tell(verb, fields))
    assert caught.value.fault is Fault.BAD_FRAME
    assert why in str(caught.value)
    assert str(caught.value).count("(error") == 1


def test_fields_of_a_later_version_are_ignored() -> None:
    assert decode(Tell("settled", [3, [], "news"])) == Settled(3)


def test_a_neighbour_of_an_older_version_hears_a_question_about_nothing() -> None:
    """It knows five fields of settle, and answers as soon as it has been asked."""
    offer = parse_advertisement("x any")
    told = encode(Settle(offer, 7))
    assert decode(told) == Settle(offer, 7)
    assert decode(Tell("settle", told.fields[:5])) == Settle(Predicate(), 7)
    assert decode(Tell("peerconfirm", ["news"])) == PeerConfirm()


def test_an_interest_that_fits_no_frame_is_found_before_it_is_told() -> None:
    names = [f"n{i}" for i in range(9)]
    choice = " and ".join(f"{n} in ({'a' * 500}, {'b' * 500})" for n in names)
    short = parse_predicate(choice)
    assert len(choice) < 10_000  # and 512 filters of 4 500 characters each
    check_encodable(short)  # filter by filter
    with pytest.raises(LimitError, match="TELL_BYTES_MAX"):
        check_encodable(parse_interest(f"({choice}) then x any"))


def filters_told(frames: list[bytes]) -> list[tuple[str, int | None]]:
    """What a neighbour hears of, filter by filter."""
    told = []
    for frame in frames:
        message = decode(Tell(*unpack_tell(frame)))
        assert isinstance(message, Subscribe)
        told += [(str(f), message.origin) for f in filters_of(message.interest)]
    return told


def unpack_tell(frame: bytes) -> tuple[str, list[object]]:
    tell = unpack(Op.TELL, frame[HEAD_BYTES:])
    assert isinstance(tell, Tell)
    return tell.verb, tell.fields


def test_filters_that_are_told_jointly_arrive_as_one_by_one() -> None:
    numbers = [*range(3 * JOINT_FILTERS_MAX), 5, 6]
    messages: list[Message] = [
        Subscribe(parse_filter(f"x = {n}"), 9 if n % 100 > 90 else None)
        for n in numbers
    ]
    long = " and ".join(f"s{n} = {'a' * 4_000}" for n in range(5))
    assert len(long) > JOINT_CHARACTERS
    messages.insert(7, Subscribe(parse_filter(long)))
    jointly, apart = pack_jointly(messages), pack_one_by_one(messages)
    assert len(apart) == len(messages) > 10 * len(jointly)
    assert sorted(set(filters_told(jointly))) == sorted(set(filters_told(apart)))


def test_what_is_no_filter_keeps_its_place_between_filters() -> None:
    one, other = (Subscribe(parse_filter(f"x = {n}")) for n in (1, 2))
    settle = Settle(parse_predicate("x = 1 or x = 2"), 7)
    frames = pack_jointly([one, settle, other, Unsubscribe(parse_filter("y any"))])
    verbs = [unpack_tell(frame)[0] for frame in frames]
    assert verbs == ["subscribe", "settle", "subscribe", "unsubscribe"]


def test_a_question_names_filters_in_the_order_in_which_they_are_told() -> None:
    some = sorted((parse_filter(f"x = {n}") for n in (10, 9, 100)), key=str)
    [frame] = pack_jointly([Subscribe(f) for f in some])
    settle = Settle(Predicate(some), 7)
    assert encode(settle).fields[0] == unpack_tell(frame)[1][0]


def test_a_sequence_that_fits_no_frame_is_refused_where_it_is_packed() -> None:
    huge = Notify(Notification(x="x" * 1_000_000), Stamp(1, 2, 3))
    pattern = parse_interest("x any then x any then x any")
    assert isinstance(pattern, Pattern)
    with pytest.raises(ProtocolError, match="a found of 3000"):
        pack_tell(Found(pattern, (huge,) * 3))
