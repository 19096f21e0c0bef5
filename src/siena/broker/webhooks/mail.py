"""Mail: letters as messages, one notification on a line."""

from email.message import EmailMessage

import aiosmtplib
import msgspec

from siena.broker.webhooks.http import GiveUpError, TryAgainError
from siena.broker.webhooks.letters import Letter
from siena.broker.webhooks.limits import ATTEMPT_SECONDS_MAX
from siena.broker.webhooks.targets import Target
from siena.protocol.address import Address


class Mail:
    """Hands letters to a mail server."""

    def __init__(self, server: Address, sender: str) -> None:
        self._server = server
        self._sender = sender

    async def send(self, target: Target, letter: Letter) -> None:
        """Send a letter.

        Raises:
            TryAgainError: if it may work another time.
            GiveUpError: if it will not.
        """
        try:
            await aiosmtplib.send(
                write_mail(self._sender, target.mailbox, letter),
                hostname=self._server.host,
                port=self._server.port,
                timeout=ATTEMPT_SECONDS_MAX,
            )
        except aiosmtplib.SMTPRecipientsRefused as error:
            codes = [refused.code for refused in error.recipients]
            raise _sorted_out(min(codes), str(error)) from None
        except aiosmtplib.SMTPResponseException as error:
            raise _sorted_out(error.code, error.message) from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise TryAgainError(str(error)) from None


def write_mail(sender: str, mailbox: str, letter: Letter) -> EmailMessage:
    """The message of a letter.

    >>> letter = Letter("ops", "b1", [{"x": 1}, {"x": 2}], lost=3)
    >>> message = write_mail("siena@here", "ops@there", letter)
    >>> message["Subject"]
    '2 notifications for ops'
    >>> print(message.get_content().rstrip())
    {"x":1}
    {"x":2}
    3 were lost
    """
    message = EmailMessage()
    message["From"], message["To"] = sender, mailbox
    noun = "notification" if len(letter) == 1 else "notifications"
    message["Subject"] = f"{len(letter)} {noun} for {letter.identity}"
    message["Auto-Submitted"] = "auto-generated"  # so that no robot answers
    message["X-Siena-Broker"] = letter.broker
    found = [*letter.notifications, *letter.sequences]
    lines = [msgspec.json.encode(form).decode() for form in found]
    if letter.lost:
        lines.append(f"{letter.lost} were lost")
    message.set_content("\n".join(lines) + "\n")
    return message


def _sorted_out(code: int, text: str) -> TryAgainError | GiveUpError:
    """Codes from 500 on are for ever."""
    said = f"{code} {text}"
    return GiveUpError(said) if code >= 500 else TryAgainError(said)
