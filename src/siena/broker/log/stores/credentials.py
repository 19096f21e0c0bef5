"""What servers are shown: a file with one line, for a URL is seen by people."""

from pathlib import Path
from typing import NamedTuple

from siena.errors import SienaError


class StoreCredentials(NamedTuple):
    """A user with a password, or a token alone."""

    user: str
    password: str
    token: str


def read_credentials(path: Path | None) -> StoreCredentials | None:
    """What a file says: ``user:password``, or a token, on one line.

    Raises:
        SienaError: if it cannot be read.
    """
    if path is None:
        return None
    try:
        line = path.read_text().strip()
    except OSError as error:
        raise SienaError(f"the credentials of the store: {error}") from None
    user, colon, password = line.partition(":")
    return (
        StoreCredentials(user, password, "")
        if colon
        else StoreCredentials("", "", line)
    )
