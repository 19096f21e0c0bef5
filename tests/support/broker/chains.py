"""Chains of brokers with a store, in threads of this process."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep

from siena.broker.settings import as_settings
from siena.testing.in_thread import ThreadBroker

SECONDS_MAX = 20.0


def broker(folder: Path, name: str, *links: str, **more: object) -> ThreadBroker:
    """A broker with a store; what it has survives a restart."""
    form: dict[str, object] = {
        "name": name,
        "accept_peers": True,
        "pulse_seconds": 0.2,
        "log": {"path": str(folder / name)},
        "links": [{"url": url} for url in links],
        **more,
    }
    return ThreadBroker(as_settings(form))


@contextmanager
def chain(
    folder: Path, count: int, *, storeless: Sequence[int] = (), **more: object
) -> Iterator[list[ThreadBroker]]:
    """Brokers of which each calls the one before it."""
    with ExitStack() as stack:
        found: list[ThreadBroker] = []
        for number in range(count):
            links = [each.url for each in found[-1:]]
            without: dict[str, object] = (
                {"log": {"path": None}} if number in storeless else {}
            )
            each = broker(folder, f"b{number}", *links, **more, **without)
            found.append(stack.enter_context(each))
        linked(found)
        yield found


def linked(brokers: Sequence[ThreadBroker]) -> None:
    """Wait until every broker of a chain has its links."""
    expected = [min(1, i) + (i + 1 < len(brokers)) for i in range(len(brokers))]
    wait(lambda: [each.links for each in brokers] == expected)


def wait(holds: Callable[[], bool]) -> None:
    for _ in range(int(SECONDS_MAX / 0.01)):
        if holds():
            return
        sleep(0.01)
    raise AssertionError("it did not come to pass")
