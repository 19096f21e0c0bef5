"""``siena topo``: draw the live network, as it is found from one broker."""

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from siena.cli.common.observing import Form, ServersOption, servers_of
from siena.cli.common.surveying import Found, survey


def topo(
    server: ServersOption = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Draw the network that a broker belongs to.

    Each broker stands below the one from which it was found, with what that takes it
    for (peer, mesh, master, child), and how many notifications went to it and came
    back from it over the link since that came up.  A link that a broker was told to
    have, and has not, is drawn with a cross.

    \b
    Exit codes: 0 all brokers were reached, and have the links that they were told to
    have; 1 some were not, or a link is missing; 2 misuse; 3 no broker answers.

    \b
    Examples:
      siena topo
      siena topo --server siena://10.0.0.1
      siena topo --json | jq '.brokers[].broker'
    """  # noqa: D301 -- Typer needs the backspace itself
    found = survey(servers_of(server))
    if as_json:
        print(json.dumps({"brokers": [broker.form() for broker in found.values()]}))
    else:
        for line in draw(found):
            print(line)
    if any(broker.error or broker.missing for broker in found.values()):
        raise typer.Exit(1)


def draw(found: dict[str, Found]) -> Iterator[str]:
    r"""The network as a tree of text, with a line for each link that is in no tree.

    >>> link = {"side": "mesh", "forwarded": 3, "received": 1}
    >>> a = Found("a", links=[{**link, "name": "b"}, {**link, "name": "c"}])
    >>> b = Found("b", links=[{**link, "name": "a"}, {**link, "name": "c"}])
    >>> c = Found("c", links=[{**link, "name": "a"}, {**link, "name": "b"}])
    >>> print("\n".join(draw({"a": a, "b": b, "c": c})))
    a
    ├── b  mesh, 3 there, 1 back
    │   └─ ─ c  mesh, 3 there, 1 back
    └── c  mesh, 3 there, 1 back
    >>> lost = {"url": "siena://10.0.0.7:2606", "side": "peer", "error": "it has gone"}
    >>> print("\n".join(draw({"d": Found("d", missing=[lost])})))
    d
    └─✗ siena://10.0.0.7:2606  peer, it has gone
    """
    parents = _parents(found)
    drawn: set[frozenset[str]] = set()
    for name, parent in parents.items():
        if parent is None:
            yield _title(found[name])
            yield from _below(found, parents, found[name], "", drawn)


def _parents(found: dict[str, Found]) -> dict[str, str | None]:
    """From which broker each is drawn: the nearest to the first."""
    parents: dict[str, str | None] = {}
    for first in found:
        if first in parents:
            continue
        parents[first] = None
        queue = [first]
        for name in queue:  # it grows
            for link in found[name].links:
                if link["name"] in found and link["name"] not in parents:
                    parents[link["name"]] = name
                    queue.append(link["name"])
    return parents


def _below(
    found: dict[str, Found],
    parents: dict[str, str | None],
    broker: Found,
    margin: str,
    drawn: set[frozenset[str]],
) -> Iterator[str]:
    """The links of a broker that have not been drawn, each with what is below it."""
    links = [
        link
        for link in broker.links
        if parents.get(link["name"]) == broker.name
        or (
            parents.get(broker.name) != link["name"]
            and frozenset((broker.name, link["name"])) not in drawn
        )
    ]
    drawn.update(frozenset((broker.name, link["name"])) for link in links)
    for link in broker.missing:
        is_last = not links and link is broker.missing[-1]
        corner = "└" if is_last else "├"
        yield f"{margin}{corner}─✗ {link['url']}  {link['side']}, {link['error']}"
    for link in links:
        name, is_last = link["name"], link is links[-1]
        corner, bar = ("└", " ") if is_last else ("├", "│")
        if parents.get(name) == broker.name:
            yield f"{margin}{corner}── {_title(found[name])}  {_traffic(link)}"
            yield from _below(found, parents, found[name], f"{margin}{bar}   ", drawn)
        else:
            yield f"{margin}{corner}─ ─ {name}  {_traffic(link)}"


def _title(broker: Found) -> str:
    if broker.error:
        return f"{broker.name} (not reached: {broker.error})"
    if not broker.counters:
        return broker.name
    now = broker.counters["counters"]
    clients = broker.counters["sessions"] - 1  # we are one of them
    wanted = now["subscriptions_now"]
    where = "" if broker.url.removeprefix("siena://") == broker.name else broker.url
    parts = (broker.name, where, _many(clients, "client"), _many(wanted, "interest"))
    return "  ".join(part for part in parts if part)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _traffic(link: Form) -> str:
    return f"{link['side']}, {link['forwarded']} there, {link['received']} back"
