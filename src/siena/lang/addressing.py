"""Older kinds of address, as filters.

Channels, subjects, receivers and groups are what content-based addressing is when
a publisher agrees to one attribute and subscribers to one operator.  Each is a
filter here, and routed like any other.

>>> from siena.model import Notification
>>> news = Notification(addressed_to(subject("comp.os.linux")), text="It boots.")
>>> subject("comp.os.*").matches(news), subject("comp.lang.*").matches(news)
(True, False)

Reference:
    CU-CS-902-00, section 2; CU-CS-888-99, section 2, on channels and subjects.
"""

from siena.errors import FilterError
from siena.model import Constraint, Filter, Kind, Operator, Value

CHANNEL = "channel"
SUBJECT = "subject"
RECEIVER = "receiver"
GROUP = "group"

# What other systems write for a part of a subject: we have only a `*` at the end.
# (`+` and `#` are wildcards to some, and to others the ends of comp.lang.c++ and c#.)
_WILDCARDS = "*>?"


def channel(number: int) -> Filter:
    """Everything that is sent on one channel, as in the CORBA Event Service or iBus.

    >>> print(channel(314))
    integer channel = 314

    The constraint is typed: a channel is a name that happens to be a number, so
    neither 314.0 nor ``true`` is one.
    """
    return Filter([Constraint(CHANNEL, Operator.EQ, number, Kind.INTEGER)])


def subject(name: str) -> Filter:
    """Everything about one subject, or about all that begin alike.

    >>> print(subject("comp.os.linux"))
    subject = comp.os.linux
    >>> print(subject("comp.os.*"))
    subject >* comp.os.

    A ``*`` at the end stands for any rest, of any number of levels.  Other
    wildcards are refused, rather than taken for characters of a name.

    >>> subject("comp.*.linux")
    Traceback (most recent call last):
    siena.errors.FilterError: "comp.*.linux" has a wildcard inside
        (only a * at the end stands for the rest)
    """
    stem = name.removesuffix("*")
    if any(wildcard in stem for wildcard in _WILDCARDS):
        raise FilterError(
            f'"{name}" has a wildcard inside',
            hint="only a * at the end stands for the rest",
        )
    operator = Operator.EQ if stem == name else Operator.PREFIX
    return Filter([Constraint(SUBJECT, operator, stem, Kind.STRING)])


def unicast(identity: str) -> Filter:
    """Everything that is sent to one receiver.

    >>> print(unicast("alice"))
    receiver = alice
    """
    return Filter([Constraint(RECEIVER, Operator.EQ, identity, Kind.STRING)])


def multicast(group: str) -> Filter:
    """Everything that is sent to one group of receivers.

    >>> print(multicast("brokers"))
    group = brokers
    """
    return Filter([Constraint(GROUP, Operator.EQ, group, Kind.STRING)])


def addressed_to(address: Filter) -> dict[str, Value]:
    """The attributes that a notification needs in order to reach an address.

    >>> addressed_to(channel(314))
    {'channel': 314}

    A notification is about one subject, so an address with a wildcard has none.

    >>> addressed_to(subject("comp.os.*"))
    Traceback (most recent call last):
    siena.errors.FilterError: nothing can be sent to subject >* comp.os.
        (an address to send to has only = in it)
    """
    attributes: dict[str, Value] = {}
    for name, operator, _, value in address:
        if operator is not Operator.EQ or value is None:
            raise FilterError(
                f"nothing can be sent to {address}",
                hint="an address to send to has only = in it",
            )
        attributes[name] = value
    return attributes
