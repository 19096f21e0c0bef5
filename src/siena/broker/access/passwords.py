"""Passwords: argon2id, in threads, a few at a time.

One takes some hundredths of a second and much memory on purpose; so they are neither
checked in the loop nor many at once, and one that was right is known again for a while.
"""

import asyncio
import hmac
import secrets
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argon2 import PasswordHasher

# What OWASP asks for at least, of argon2id in one thread.
MEMORY_BYTES = 19 * 1024 * 1024
ROUNDS = 2
# At the same time, and those that may wait for it: a second or two of work.
CHECKS_MAX = 2
WAITING_MAX = 64
# Passwords that were right, of which it is not asked again.
KNOWN_MAX = 1_024
PASSWORD_CHARACTERS_MAX = 1_024


def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher  # noqa: PLC0415 -- for those who have users

    return PasswordHasher(
        time_cost=ROUNDS, memory_cost=MEMORY_BYTES // 1024, parallelism=1
    )


def hash_password(password: str) -> str:
    """What is kept of a password."""
    return _hasher().hash(password)


def _is_right(kept: str, password: str) -> bool:
    from argon2.exceptions import (  # noqa: PLC0415 -- for those who have users
        InvalidHashError,
        VerificationError,
    )

    try:
        return _hasher().verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


class Passwords:
    """Checks passwords.

    Ownership: its maker calls :meth:`stop`.
    """

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._waiting = 0
        # With a key of this process, so that its memory holds no password.
        self._key = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, None] = OrderedDict()
        # For users that do not exist, who take as long as those who do.
        self._nobody: str | None = None

    def is_known(self, kept: str, password: str) -> bool:
        """Whether it was right before."""
        return self._mark(kept, password) in self._known

    async def is_right(self, kept: str | None, password: str) -> bool:
        """Whether a password is the one of which this was kept; of no user, never.

        Too many at a time are wrong, all of them.
        """
        if self._waiting >= WAITING_MAX or len(password) > PASSWORD_CHARACTERS_MAX:
            return False
        if self._threads is None:
            self._threads = ThreadPoolExecutor(CHECKS_MAX, "siena-password")
        loop = asyncio.get_running_loop()
        self._waiting += 1
        try:
            if kept is None and self._nobody is None:
                made = loop.run_in_executor(self._threads, hash_password, "")
                self._nobody = await made
            found = await loop.run_in_executor(
                self._threads, _is_right, kept or self._nobody or "", password
            )
        finally:
            self._waiting -= 1
        if kept is None or not found:
            return False
        self._known[self._mark(kept, password)] = None
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return True

    def stop(self) -> None:
        """Check no more."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _mark(self, kept: str, password: str) -> bytes:
        # Of what is kept, too: a password that was changed is known no more.
        return hmac.digest(self._key, f"{kept}\n{password}".encode(), "sha256")
