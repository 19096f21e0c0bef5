"""What a broker shows those that it calls, and whom it takes them for."""

from pathlib import Path
from typing import NamedTuple

from siena.broker.access.authenticator import Authenticator
from siena.broker.access.certificates import Certificates
from siena.broker.io.connection import Connection
from siena.broker.settings import LinkSettings
from siena.client.tokens import TOKEN_CHARACTERS_MAX
from siena.errors import SienaError
from siena.protocol.address import Address


class Callers(NamedTuple):
    """The credentials of a broker that calls others."""

    access: Authenticator
    certificates: Certificates

    def recognise(self, connection: Connection, link: LinkSettings) -> None:
        """Give a connection that was made the principal at its other end.

        Raises:
            ProtocolError: if another one answers than the settings say.
        """
        connection.principal = self.access.called(connection.certificate, link.identity)


def token_of(link: LinkSettings, address: Address) -> str | None:
    """What is shown to a broker that is called: the file is read each time.

    Raises:
        SienaError: if it cannot be read, or others would read it on its way.
    """
    if link.token_file is None:
        return None
    if not address.is_secure and not address.is_loopback:
        hint = f"sienas://{address.place} is"
        raise SienaError("a token is not sent where nothing is encrypted", hint=hint)
    try:
        with Path(link.token_file).open(encoding="utf-8") as file:
            return file.read(TOKEN_CHARACTERS_MAX + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise SienaError(f"{link.token_file}: {why}") from None
