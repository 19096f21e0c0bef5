"""A link that a broker was told to have: whether it does, and if not why."""

from dataclasses import dataclass

from siena.broker.settings import LinkSettings


@dataclass
class WantedLink:
    """What is known of the broker that is called.

    Attributes:
        number: the broker's, once it has said who it is.
        error: why the last call came to nothing.
        is_missed: whether it was said that there is no link.
    """

    settings: LinkSettings
    number: int | None = None
    error: str = "it has not answered yet"
    is_missed: bool = False

    def snapshot(self, *, is_up: bool) -> dict[str, object]:
        """What there is to know about it."""
        said = {"url": self.settings.url, "side": self.settings.side, "up": is_up}
        return said if is_up else {**said, "error": self.error}
