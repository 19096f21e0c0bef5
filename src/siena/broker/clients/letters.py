"""What the router has for a client, as frames.

Most deliveries never come here: the exchange lays them out in bulk.  Here is what was
kept while a client was away, what patterns have found, and what a client that moves
takes along.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from siena.block import decode, encode
from siena.messages import Encoded, Found, Listing, Numbered, Parcel
from siena.model import Pattern, Predicate, Value
from siena.protocol.control_frames import Advertise, Done, Lost, Subscribe
from siena.protocol.data_frames import pack_found, pack_msg, unpack_found, unpack_msg
from siena.protocol.error_codes import ProtocolError
from siena.protocol.frames import HEAD_BYTES, Frame, Op, pack
from siena.protocol.limits import KEYS_MAX, WINDOWS_MAX
from siena.protocol.peer_messages import pack_tell


def is_heard(letter: Numbered, heard: Predicate) -> bool:
    """Whether all of a letter may be heard, of which this is all that may be."""
    return all(map(heard.matches, _notifications(letter)))


def _notifications(letter: Numbered) -> Iterator[Mapping[str, Value]]:
    content = letter.content
    if isinstance(content, Found):
        yield from (notify.notification for notify in content.sequence)
    elif not isinstance(content, Encoded):
        yield content.notification
    elif content.is_sequence:
        yield from map(decode, unpack_found(content.data[HEAD_BYTES:]).blocks)
    else:
        yield decode(content.data)


def frame_of(letter: Numbered) -> bytes:
    """MSG, or FOUND.

    Raises:
        ProtocolError: if a sequence is too long for a frame.
    """
    content = letter.content
    if isinstance(content, Found):
        blocks = [encode(notify.notification) for notify in content.sequence]
        return pack_found(letter.numbers[0], blocks)
    if not isinstance(content, Encoded):
        return pack_msg(letter.numbers, encode(content.notification))
    return (
        content.data if content.is_sequence else pack_msg(letter.numbers, content.data)
    )


def letter_of(frame: Frame) -> Numbered:
    """What another broker had kept for a client."""
    if frame.op == Op.FOUND:
        numbers = (unpack_found(frame.body).subscription,)
        return Numbered(numbers, Encoded(pack(*frame), None, is_sequence=True))
    found = unpack_msg(frame.body)
    return Numbered(tuple(found.subscriptions), Encoded(found.block, None))


def frames_of_listing(listing: Listing) -> list[bytes]:
    """What a client has asked for: SUB and ADV as it sent them, and DONE."""
    return [
        *(Subscribe(_number(key), str(i)).pack() for key, i in listing.interests),
        *(Advertise(_number(key), str(a)).pack() for key, a in listing.advertisements),
        Done(Op.MOVE).pack(),
    ]


def frames_of_parcel(parcel: Parcel) -> list[bytes]:
    """What is handed over: what was kept, LOST, and TELL with what was seen."""
    kept: list[bytes] = []
    missing = parcel.lost
    for letter in parcel.kept:
        assert isinstance(letter, Numbered), "clients of brokers number what they want"
        try:
            kept.append(frame_of(letter))
        except ProtocolError:  # a sequence of huge notifications
            missing += 1
    lost = [Lost(missing).pack()] if missing else []
    # A pattern begins anew at the new broker: of sequences it needs no keys.
    known = [key for key in parcel.known if not isinstance(key[0], Pattern)]
    told = replace(
        parcel,
        kept=(),
        lost=0,
        known=frozenset(known[:KEYS_MAX]),
        seen=parcel.seen[:WINDOWS_MAX],
    )
    return [*kept, *lost, pack_tell(told)]


def _number(key: object) -> int:
    assert isinstance(key, int), "clients of brokers number what they ask for"
    return key
