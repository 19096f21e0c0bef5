"""A certificate authority of one's own, for networks to try things with.

Its key lies beside its certificate.  For more than a test network, ask those who run
an authority properly; a broker takes any certificates.
"""

import ipaddress
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from siena.broker.access.certificates import URI
from siena.clock import Clock, SystemClock
from siena.errors import SienaError

# Of the authority: it lives longer than what it signs.
AUTHORITY_DAYS = 3_650
# Clocks differ.
BEFORE = timedelta(minutes=5)
# Where a broker of a test network listens.
HERE = ("localhost", "127.0.0.1", "::1")


class Issued(NamedTuple):
    """The files of one certificate."""

    cert: Path
    key: Path


class Authority:
    """An authority in a folder: ``ca.pem`` and ``ca.key``, made if they are not there.

    Raises:
        SienaError: if what is there is no authority.
    """

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self._folder = folder
        now = (clock or SystemClock()).now()
        self._now = datetime.fromtimestamp(now, UTC)
        folder.mkdir(parents=True, exist_ok=True)
        self.cert = folder / "ca.pem"
        key_path = folder / "ca.key"
        self.is_new = not self.cert.exists()
        if self.is_new:
            self._key = ec.generate_private_key(ec.SECP256R1())
            self._cert = self._own()
            _write(key_path, _key_text(self._key))
            _write(
                self.cert, self._cert.public_bytes(serialization.Encoding.PEM), 0o644
            )
            return
        try:
            self._cert = x509.load_pem_x509_certificate(self.cert.read_bytes())
            found = serialization.load_pem_private_key(key_path.read_bytes(), None)
        except (OSError, ValueError, TypeError):
            hint = "--folder names another place"
            raise SienaError(f"{folder} has no authority of ours", hint=hint) from None
        if not isinstance(found, ec.EllipticCurvePrivateKey):
            raise SienaError(f"{key_path} is no key of ours")
        self._key = found

    def issue(
        self,
        name: str,
        hosts: Sequence[str] = HERE,
        *,
        days: int = 90,
        is_renewed: bool = False,
    ) -> Issued:
        """Make ``NAME.pem`` and ``NAME.key``, which show this name at these hosts.

        Raises:
            SienaError: if they are there, or the name is none for a file.
        """
        issued = Issued(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        if not name or name == "ca" or "/" in name or not name.isprintable():
            raise SienaError(f"{name!r} cannot be the name of a certificate")
        if issued.cert.exists() and not is_renewed:
            hint = "--renew makes another one in its place"
            raise SienaError(f"there is a certificate {issued.cert}", hint=hint)
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._begun(name, key, timedelta(days=days)).add_extension(
            x509.SubjectAlternativeName(
                [x509.UniformResourceIdentifier(f"{URI}{name}"), *map(_host, hosts)]
            ),
            critical=False,
        )
        builder = builder.add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        usage = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(usage), critical=False)
        builder = builder.add_extension(_usage(is_authority=False), critical=True)
        cert = builder.sign(self._key, hashes.SHA256())
        _write(issued.key, _key_text(key))
        _write(issued.cert, cert.public_bytes(serialization.Encoding.PEM), 0o644)
        return issued

    def _own(self) -> x509.Certificate:
        life = timedelta(days=AUTHORITY_DAYS)
        builder = self._begun("siena test authority", self._key, life)
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        builder = builder.add_extension(_usage(is_authority=True), critical=True)
        return builder.sign(self._key, hashes.SHA256())

    def _begun(
        self, name: str, key: ec.EllipticCurvePrivateKey, life: timedelta
    ) -> x509.CertificateBuilder:
        subject = _named(name)
        public = key.public_key()
        issuer = subject if key is self._key else self._cert.subject
        known = x509.AuthorityKeyIdentifier.from_issuer_public_key(
            self._key.public_key()
        )
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - BEFORE)
            .not_valid_after(self._now + life)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(public), critical=False
            )
            .add_extension(known, critical=False)
        )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        pass
    try:
        return x509.DNSName(text)
    except ValueError:
        raise SienaError(f"{text!r} is no host") from None


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )


def _key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, text: bytes, mode: int = 0o600) -> None:
    """Write a file that was never readable for more than it shall be."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
