"""How a broker works: choices that change what is sent, never what clients receive."""

from dataclasses import dataclass
from typing import Literal, get_args

from siena.errors import SienaError

Forwarding = Literal["subscription", "advertisement"]
Covering = Literal["exact", "pairwise", "none"]
Merging = Literal["none", "perfect", "imperfect"]
Paths = Literal["tree", "reverse"]
Unsubscription = Literal["roots", "paper"]
Withdrawal = Literal["exact", "covering"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The choices of one network; all of its brokers make the same.

    >>> Options(covering="loose")
    Traceback (most recent call last):
    siena.errors.SienaError: covering is exact, pairwise or none, not 'loose'

    ``paths`` is for networks with cycles: a notification stays within the ``tree`` of
    the broker where it entered, and no client gets two copies; or it follows every
    subscription back along its ``reverse`` path, and second copies are dropped.
    ``withdrawal`` is between brokers: a cancellation names one announcement *exactly*,
    so that what it covered is in force before it goes; or it cancels all that it
    covers, and goes first, as in the papers: then what is wanted, and had settled, may
    be missed in between.

    ``unsubscription="paper"`` is what the papers' hierarchy does, which loses
    notifications (erratum E4); it is here to be shown, not to be used.
    """

    forwarding: Forwarding = "subscription"
    covering: Covering = "exact"
    merging: Merging = "none"
    batching: bool = False
    quench: bool = False
    paths: Paths = "tree"
    withdrawal: Withdrawal = "exact"
    unsubscription: Unsubscription = "roots"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                *most, last = choices
                said = f"{', '.join(most)} or {last}"
                raise SienaError(f"{name} is {said}, not {value!r}")

    @property
    def is_advertising(self) -> bool:
        """Whether subscriptions go only where something they want is advertised."""
        return self.forwarding == "advertisement"


_CHOICES: dict[str, tuple[str, ...]] = {
    "forwarding": get_args(Forwarding),
    "covering": get_args(Covering),
    "merging": get_args(Merging),
    "paths": get_args(Paths),
    "withdrawal": get_args(Withdrawal),
    "unsubscription": get_args(Unsubscription),
}
