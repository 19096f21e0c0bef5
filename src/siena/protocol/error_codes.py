"""The numbered errors that a broker tells, and which of them end the connection."""

from enum import Enum
from typing import NamedTuple, Self

from siena.errors import SienaError


class _Fault(NamedTuple):
    number: int
    closes: bool


class Fault(Enum):
    """What went wrong, as a number that programs can rely on.

    Numbers from 100 on are about one request, and the connection lives; from 200 on
    the connection is closed, because what follows could not be understood or is not
    wanted.

    >>> Fault.BAD_INTEREST.number, Fault.BAD_INTEREST.closes
    (101, False)
    >>> Fault.of(201)
    <Fault.BAD_FRAME: _Fault(number=201, closes=True)>
    """

    # About one request.
    BAD_NOTIFICATION = _Fault(100, closes=False)
    BAD_INTEREST = _Fault(101, closes=False)
    BAD_ADVERTISEMENT = _Fault(102, closes=False)
    NUMBER_TAKEN = _Fault(103, closes=False)
    NUMBER_UNKNOWN = _Fault(104, closes=False)
    TOO_MANY = _Fault(105, closes=False)
    NOT_ADVERTISED = _Fault(106, closes=False)
    NOT_ALLOWED = _Fault(107, closes=False)
    BAD_REQUEST = _Fault(108, closes=False)
    BAD_RESIDUAL = _Fault(109, closes=False)
    FORBIDDEN = _Fault(110, closes=False)
    QUOTA = _Fault(111, closes=False)
    # About the log.
    NO_LOG = _Fault(120, closes=False)
    OFFSET_EXPIRED = _Fault(121, closes=False)
    OFFSET_AHEAD = _Fault(122, closes=False)
    PART_UNKNOWN = _Fault(123, closes=False)
    NO_ROOM = _Fault(124, closes=False)
    LOG_DAMAGED = _Fault(125, closes=False)
    # About what must not be lost.
    NO_STORE = _Fault(126, closes=False)
    NOT_STORED = _Fault(127, closes=False)
    PUBLISHER_UNKNOWN = _Fault(128, closes=False)
    DURABLE_UNKNOWN = _Fault(129, closes=False)
    PUBLISHERS_WAIT = _Fault(133, closes=False)
    # About the connection.
    BAD_PREFACE = _Fault(200, closes=True)
    BAD_FRAME = _Fault(201, closes=True)
    TOO_LONG = _Fault(202, closes=True)
    BAD_VERSION = _Fault(203, closes=True)
    BAD_CONNECT = _Fault(204, closes=True)
    IDENTITY_TAKEN = _Fault(205, closes=True)
    TOO_SLOW = _Fault(206, closes=True)
    DRAINING = _Fault(207, closes=True)
    TOO_MANY_CONNECTIONS = _Fault(208, closes=True)
    PEER_REFUSED = _Fault(209, closes=True)
    TIMED_OUT = _Fault(210, closes=True)
    # Who this is.  To those who have not shown it, one number says all.
    NOT_ADMITTED = _Fault(211, closes=True)
    CREDENTIAL_EXPIRED = _Fault(212, closes=True)
    IDENTITY_REFUSED = _Fault(213, closes=True)
    CREDENTIAL_REVOKED = _Fault(214, closes=True)
    OVER_QUOTA = _Fault(215, closes=True)
    BROKEN = _Fault(299, closes=True)

    @property
    def number(self) -> int:
        """The number that travels."""
        return self.value.number

    @property
    def closes(self) -> bool:
        """Whether the connection ends with it."""
        return self.value.closes

    @classmethod
    def of(cls, number: int) -> "Fault":
        """The fault with a number.

        Raises:
            ValueError: if there is none.
        """
        for fault in cls:
            if fault.number == number:
                return fault
        raise ValueError(f"there is no error {number}")


class ProtocolError(SienaError):
    """What came over a connection is not in the protocol, or not wanted.

    >>> raise ProtocolError(Fault.BAD_FRAME, "a frame without an operation")
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: a frame without an operation (error 201)
    """

    def __init__(
        self,
        fault: Fault,
        message: str,
        *,
        request: int | None = None,
        about: int | None = None,
    ) -> None:
        super().__init__(message, hint=f"error {fault.number}")
        self.fault = fault
        # The operation that asked for it, and the subscription or advertisement that
        # it is about.
        self.request = request
        self.number = about

    @classmethod
    def because(
        cls,
        fault: Fault,
        cause: SienaError,
        *,
        request: int | None = None,
        about: int | None = None,
    ) -> Self:
        """A fault for which there is an error of ours, with the place in its text.

        >>> from siena.lang import parse_filter
        >>> try:
        ...     parse_filter("x >")
        ... except SienaError as error:
        ...     raise ProtocolError.because(Fault.BAD_INTEREST, error) from None
        Traceback (most recent call last):
        siena.protocol.error_codes.ProtocolError: column 4: expected a value, found the
        end \
(error 101)
        """
        hint = f" ({cause.hint})" if cause.hint else ""
        error = cls(fault, cause.message + hint, request=request, about=about)
        error.place = cause.place
        return error
