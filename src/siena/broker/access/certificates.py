"""Certificates: the contexts of TLS, and whom a certificate shows.

A context that a listener has cannot be taken from it; so what is read again is put into
the same one, and counts for all who come from then on.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siena.broker.access.settings import Tls
from siena.errors import SienaError

# What a name in a certificate begins with that is meant for us.
URI = "siena:"
_MINIMUM = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
_WANTED = {
    "none": ssl.CERT_NONE,
    "optional": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
# A certificate as Python shows it: names and values, in lists of lists.
Shown = Mapping[str, Any]


class Certificates:
    """The contexts of one broker.

    Raises:
        SienaError: if a file is missing, or the key is that of another certificate.
    """

    def __init__(self, tls: Tls | None) -> None:
        self._tls = tls
        self.server = None if tls is None else server_context(tls)
        """For those who come."""
        self._client = None if tls is None else client_context(tls)
        self.expires_at = None if tls is None else expiry_of(Path(tls.cert))
        """When the broker's own ends, in seconds since 1970."""

    @property
    def client(self) -> ssl.SSLContext:
        """For neighbours that are called.

        Without certificates of its own a broker believes those whom the system does.
        They are read when it first calls one: that takes longer than all else it does
        when it starts.
        """
        if self._client is None:
            self._client = client_context(self._tls)
        return self._client

    def reload(self, tls: Tls | None) -> None:
        """Read the files again; who is connected stays.

        Raises:
            SienaError: if one of them is wrong, and then nothing has changed.
        """
        if tls is None or self.server is None:
            return  # whether there is TLS at all is for the next start
        new = Certificates(tls)
        self.server.load_cert_chain(tls.cert, tls.key)
        if tls.ca is not None:
            self.server.load_verify_locations(tls.ca)
        self._tls, self._client, self.expires_at = tls, new.client, new.expires_at


def server_context(tls: Tls) -> ssl.SSLContext:
    """For a listener.

    Raises:
        SienaError: if a file is missing, or the key is that of another certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _MINIMUM[tls.minimum]
    # Who comes again is looked at again: what was shown then may not count any more.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
    if tls.ca is None:
        if tls.clients == "required":
            hint = "ca = … in [tls] names those whose certificates count"
            raise SienaError("clients are to have certificates of nobody", hint=hint)
    else:
        _believe(context, tls.ca)
        context.verify_mode = _WANTED[tls.clients]
    _show(context, tls.cert, tls.key)
    return context


def client_context(tls: Tls | None) -> ssl.SSLContext:
    """For calls to others: with our own certificate, if there is one.

    Raises:
        SienaError: as for a listener.
    """
    if tls is None or tls.ca is None:
        context = ssl.create_default_context()
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        _believe(context, tls.ca)
    if tls is None:
        return context
    context.minimum_version = _MINIMUM[tls.minimum]
    _show(context, tls.cert, tls.key)
    return context


def expiry_of(path: Path) -> float:
    """When a certificate ends, in seconds since 1970.

    Raises:
        SienaError: if there is none.
    """
    from cryptography import x509  # noqa: PLC0415 -- for those who have certificates

    try:
        found = x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise SienaError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise SienaError(f"{path} is no certificate") from None
    return found.not_valid_after_utc.timestamp()


def name_of(certificate: Shown | None) -> tuple[str | None, dict[str, str]]:
    """Whom a certificate shows, by its alternative names; and its common name.

    >>> name_of({
    ...     "subject": ((("commonName", "B one"),),),
    ...     "subjectAltName": (("DNS", "b1.example"), ("URI", "siena:b1")),
    ... })
    ('b1', {'cn': 'B one'})
    >>> name_of({"subjectAltName": (("DNS", "b1.example"),)})[0]
    'b1.example'
    >>> name_of(None)
    (None, {})
    """
    if not certificate:
        return None, {}
    names = certificate.get("subjectAltName", ())
    ours = [v.removeprefix(URI) for k, v in names if k == "URI" and v.startswith(URI)]
    others = [v for kind in ("email", "DNS") for k, v in names if k == kind]
    parts = [pair for group in certificate.get("subject", ()) for pair in group]
    common = dict(parts).get("commonName")
    claims = {} if common is None else {"cn": common}
    return next(iter([*ours, *others]), None), claims


def _believe(context: ssl.SSLContext, path: str) -> None:
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError) as error:
        raise SienaError(f"{path}: {_reason(error)}") from None


def _show(context: ssl.SSLContext, cert: str, key: str) -> None:
    for path in (cert, key):  # Python does not say which of them is missing
        if not Path(path).is_file():
            hint = "siena cert makes certificates to try things with"
            raise SienaError(f"there is no file {path}", hint=hint)
    try:
        # A key with a password would ask for it, and nobody answers.
        context.load_cert_chain(cert, key, password=lambda: "")
    except (OSError, ssl.SSLError) as error:
        raise SienaError(f"{cert} and {key}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    known = getattr(error, "reason", None) or error.strerror or "no certificate"
    return str(known).replace("_", " ").lower()
