"""The settings of a broker."""

from msgspec import Struct

from siena.broker.limits import CONNECTIONS_MAX, OUTPUT_BYTES_MAX

# "SI" "EN", on the keys of a telephone: 26 06.  Nothing else is registered there.
PORT = 2606


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a broker is told at its start.

    >>> Settings().listen
    ('127.0.0.1:2606',)
    """

    name: str | None = None  # by default the address that it listens to
    listen: tuple[str, ...] = (f"127.0.0.1:{PORT}",)
    insecure_listen: bool = False
    connections_max: int = CONNECTIONS_MAX
    output_bytes_max: int = OUTPUT_BYTES_MAX
