"""Web hooks: letters that are posted as JSON."""

import httpx
import msgspec

from siena.broker.webhooks.letters import Letter
from siena.broker.webhooks.limits import ATTEMPT_SECONDS_MAX, CALLS_MAX
from siena.broker.webhooks.targets import Target

# Answers that may be better the next time.
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class TryAgainError(Exception):
    """It did not work this time."""


class GiveUpError(Exception):
    """It will never work."""


class Hooks:
    """Posts letters; follows no redirect, and reads no answer."""

    def __init__(self) -> None:
        self._client = httpx.AsyncClient(
            follow_redirects=False,
            timeout=ATTEMPT_SECONDS_MAX,
            trust_env=False,
            limits=httpx.Limits(max_connections=CALLS_MAX),
            headers={"user-agent": "siena", "content-type": "application/json"},
        )

    async def send(self, target: Target, letter: Letter) -> None:
        """Post a letter.

        Raises:
            TryAgainError: if it may work another time.
            GiveUpError: if it will not.
        """
        body = msgspec.json.encode(letter)
        try:
            async with self._client.stream("POST", target.text, content=body) as answer:
                status = answer.status_code
        except httpx.HTTPError as error:
            raise TryAgainError(str(error) or type(error).__name__) from None
        if status in TRANSIENT:
            raise TryAgainError(f"status {status}")
        if not 200 <= status < 300:
            raise GiveUpError(f"status {status}")

    async def close(self) -> None:
        """Hang up."""
        await self._client.aclose()
