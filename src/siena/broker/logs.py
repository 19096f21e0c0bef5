"""What a broker says of itself on the standard error: a line each, with time and level.

For people::

    2026-11-17T22:40:03.120Z WARNING siena.broker: no link to siena://10.0.0.7:2606

and as JSON for machines that gather such lines, an object on each line with ``time``,
``level``, ``logger`` and ``message``, and ``error`` if there was one.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Literal

LogFormat = Literal["text", "json"]


def set_up_logs(log_format: LogFormat, level: int) -> None:
    """Write what is logged in this process, from this level on, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    logging.basicConfig(handlers=[handler], level=level, force=True)


# What a terminal takes for a command, or for the end of a line.
_COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class TextLines(logging.Formatter):
    r"""Lines for people; what there is to say of an error stands below.

    Names that others have given themselves are on one line, and no commands.

    >>> said = ("linked to %s", ("b\nsiena: all is well\x1b[2J",))
    >>> record = logging.LogRecord("n", logging.INFO, "", 0, *said, None)
    >>> TextLines().format(record).partition(" n: ")[2]
    'linked to b\\nsiena: all is well\\x1b[2J'
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- logging's
        """The line itself."""
        record.message = _COMMANDS.sub(
            lambda found: found[0].encode("unicode_escape").decode(), record.message
        )
        return super().formatMessage(record)

    def formatTime(  # noqa: N802 -- the name is logging's
        self,
        record: logging.LogRecord,
        datefmt: str | None = None,  # noqa: ARG002 -- likewise
    ) -> str:
        """In UTC, as filters have times.

        >>> record = logging.LogRecord("n", logging.INFO, "", 0, "x", None, None)
        >>> record.created = 0.25
        >>> TextLines().format(record)
        '1970-01-01T00:00:00.250Z INFO n: x'
        """
        return _time(record)


class JsonLines(logging.Formatter):
    """A JSON object for each.

    >>> record = logging.LogRecord("n", logging.INFO, "", 0, "a %d", (7,), None)
    >>> list(json.loads(JsonLines().format(record)))
    ['time', 'level', 'logger', 'message']
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the message has in it."""
        said = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        text = json.dumps(said, ensure_ascii=False)
        return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _time(record: logging.LogRecord) -> str:
    written = datetime.fromtimestamp(record.created, UTC)
    return written.isoformat(timespec="milliseconds").replace("+00:00", "Z")
