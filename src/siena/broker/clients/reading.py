"""Reading: from the text of a subscription to an interest that can be taken on."""

from siena.errors import SienaError
from siena.lang.parser import parse_interest
from siena.messages import Interest
from siena.model import Filter
from siena.model.expression import compile_expression
from siena.model.expression.residual import ResidualPredicate
from siena.protocol.control_frames import Subscribe
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.peer_messages import check_encodable

# Texts up to this length are short enough for every frame, if they are filters.
SHORT_CHARACTERS = 65_536


def read_interest(body: Subscribe) -> Interest:
    """The interest of a subscription, of which every broker can be told.

    >>> read_interest(Subscribe(1, "x > 3"))
    <Filter x > 3>

    Raises:
        ProtocolError: if it is none, or its residual cannot be asked here.
    """
    try:
        interest = parse_interest(body.interest, residuals=True)
        # A filter is not much longer than its text; multiplied out, others may be.
        if len(body.interest) > SHORT_CHARACTERS or not isinstance(interest, Filter):
            check_encodable(interest)
    except SienaError as error:
        raise ProtocolError.because(
            Fault.BAD_INTEREST, error, about=body.number
        ) from None
    if isinstance(interest, ResidualPredicate):
        try:  # now, and not at the first notification: an extra may be missing
            compile_expression(interest.residual)
        except SienaError as error:
            raise ProtocolError.because(
                Fault.BAD_RESIDUAL, error, about=body.number
            ) from None
    return interest
