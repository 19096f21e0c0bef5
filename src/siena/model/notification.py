"""Notifications: the report that something happened, as a set of attributes."""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import NoReturn

from siena.errors import InvalidNotificationError, LimitError
from siena.model.limits import ATTRIBUTES_MAX
from siena.model.spelling import quote, spell, spell_string
from siena.model.values import Kind, Value, as_name, as_value


class Notification(Mapping[str, Value]):
    """An immutable set of attributes: names, each with one typed value.

    >>> quote = Notification(symbol="DIS", change=-4.0)
    >>> print(quote)
    change = -4.0 and symbol = DIS
    >>> quote["symbol"]
    'DIS'

    Equality respects kinds, unlike Python's own:

    >>> Notification(level=1) == Notification(level=1.0)
    False

    Names that are not Python's are given in a mapping or as pairs; a name that
    occurs twice is refused.

    >>> Notification([("alert-type", "fire"), ("alert-type", "flood")])
    Traceback (most recent call last):
    siena.errors.InvalidNotificationError: two attributes are called "alert-type"
    """

    __slots__ = ("_attributes", "_hash")

    def __init__(
        self,
        attributes: Mapping[str, Value] | Iterable[tuple[str, Value]] = (),
        /,
        **more: Value,
    ) -> None:
        pairs = attributes.items() if isinstance(attributes, Mapping) else attributes
        checked: dict[str, Value] = {}
        for given, value in (*pairs, *more.items()):
            name = as_name(given)
            if name in checked:
                raise InvalidNotificationError(
                    f"two attributes are called {quote(name)}"
                )
            checked[name] = _checked(name, value)
        if len(checked) > ATTRIBUTES_MAX:
            raise LimitError(
                "ATTRIBUTES_MAX", ATTRIBUTES_MAX, "attributes in a notification"
            )
        # Sorted once, at the access point; everybody downstream keeps the order.
        _set_attributes(self, dict(sorted(checked.items())))
        _set_hash(self, None)

    _attributes: dict[str, Value]
    _hash: int | None

    @classmethod
    def of_checked(cls, attributes: dict[str, Value]) -> "Notification":
        """The notification of attributes that are checked already.

        >>> Notification.of_checked({"x": 1, "a": 2}) == Notification(a=2, x=1)
        True

        They must be as the constructor would leave them, but for their order, and are
        the notification's from now on.
        """
        names = list(attributes)
        if names != sorted(names):
            attributes = dict(sorted(attributes.items()))
        self = cls.__new__(cls)
        _set_attributes(self, attributes)
        _set_hash(self, None)
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a notification does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a notification does not change")

    def __getitem__(self, name: str) -> Value:
        return self._attributes[name]

    def get(self, name: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """The value of the attribute, or ``default`` where there is none."""
        return self._attributes.get(name, default)

    def items(self) -> ItemsView[str, Value]:
        """Names and values; a dictionary's own, which is quicker than a mapping's."""
        return self._attributes.items()

    def values(self) -> ValuesView[Value]:
        """The values, likewise."""
        return self._attributes.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Notification):
            return NotImplemented
        return self._attributes == other._attributes and all(
            type(mine) is type(theirs)
            for mine, theirs in zip(
                self._attributes.values(), other._attributes.values(), strict=True
            )
        )

    def __hash__(self) -> int:
        if self._hash is None:
            kinds = ((n, Kind.of(v), v) for n, v in self._attributes.items())
            _set_hash(self, hash(tuple(kinds)))
        assert self._hash is not None
        return self._hash

    def __reduce__(self) -> tuple[type["Notification"], tuple[dict[str, Value]]]:
        return Notification, (self._attributes,)

    def __str__(self) -> str:
        if not self._attributes:
            return "[]"
        return " and ".join(
            f"{spell_string(name)} = {spell(value)}" for name, value in self.items()
        )

    def __repr__(self) -> str:
        return f"<Notification {self}>"


# By its slots: the class refuses what is set by name, and to go past it takes longer.
_set_attributes = vars(Notification)["_attributes"].__set__
_set_hash = vars(Notification)["_hash"].__set__


def _checked(name: str, value: object) -> Value:
    try:
        return as_value(value)
    except InvalidNotificationError as error:
        raise InvalidNotificationError(
            f"{spell_string(name)}: {error.message}", hint=error.hint
        ) from None
