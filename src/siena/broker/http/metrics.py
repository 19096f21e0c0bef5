"""``/metrics``: the counters of a broker as Prometheus reads them.

Nothing is counted twice: the numbers are taken from the broker when they are asked for.
Who looks sees names as everywhere else (:mod:`siena.broker.access.grants.sight`): of
durable subscriptions and roles its own, and all others together.
"""

import platform
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeHistogramMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from siena.broker.access.grants.sight import OTHERS, Sight
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.counters import Histogram
from siena.broker.http.door.authentication import principal_of
from siena.broker.io.connection import Connection
from siena.broker.metric_help import help_of
from siena.broker.webhooks.mapping import Handlers
from siena.matching import COMPILED

# Links of which there is a line each; of more than these only the sums are told.
LINKS_MAX = 1_000
DURABLE_GAUGES = ("lag", "found", "under_way", "readers", "dead")
LINK_COUNTERS = ("forwarded", "received", "router_out", "router_in")
# Bytes up to which queues are counted apart: nothing, a packet, and ever more.
QUEUE_BYTES = (0.0, 1_500.0, 65_536.0, 2.0**20, 2.0**23, 2.0**26)


class BrokerCollector(Collector):
    """Reads the counters of one broker."""

    def __init__(self, entry: InProcessEntry, handlers: Handlers, sight: Sight) -> None:
        self._entry = entry
        self._handlers = handlers
        self._sight = sight

    def collect(self) -> Iterator[Metric]:
        """All there is to tell."""
        broker = self._entry.broker
        state, router = broker.state, broker.state.router
        wanted = broker.wanted_links()
        yield InfoMetricFamily(
            "siena_build",
            help_of("build"),
            {
                "version": version("siena-pubsub"),
                "python": platform.python_version(),
                "kernels": "compiled" if COMPILED else "plain",
                "broker": broker.name,
            },
        )
        for name, value in state.counters.snapshot().items():
            if name.endswith("_now"):
                plain = name.removesuffix("_now")
                yield GaugeMetricFamily(f"siena_{plain}", help_of(name), value)
            else:
                yield CounterMetricFamily(f"siena_{name}", help_of(name), value)
        for name, value in {
            "sessions": len(state.sessions),
            "guests": len(self._entry),
            "links": len(state.links),
            "links_wanted": len(wanted),
            "links_up": sum(bool(link["up"]) for link in wanted),
            "filters": len(router.tables.filters),
            "advertisements_held": len(router.tables.advertisements),
        }.items():
            yield GaugeMetricFamily(f"siena_{name}", help_of(name), value)
        end = broker.certificates.expires_at
        if end is not None:
            text = "When the certificate of this broker ends, since 1970."
            yield GaugeMetricFamily("siena_certificate_expires_at_seconds", text, end)
        yield from self._durables()
        for name, value in self._handlers.totals().items():
            yield CounterMetricFamily(
                f"siena_handler_{name}", help_of(f"handler_{name}"), value
            )
        yield HistogramMetricFamily(
            "siena_tick_seconds",
            help_of("tick_seconds"),
            state.tick_seconds.cumulative(),
            sum_value=state.tick_seconds.total,
        )
        queues = self._queues()
        yield GaugeHistogramMetricFamily(
            "siena_queue_bytes",
            help_of("queue_bytes"),
            queues.cumulative(),
            gsum_value=queues.total,
        )
        yield from self._refusals()
        yield self._quota_refusals()
        yield from self._links()

    def _quota_refusals(self) -> Metric:
        family = CounterMetricFamily(
            "siena_quota_refusals", "What was more than a quota.", labels=["quota"]
        )
        for name, count in self._entry.broker.state.accounts.refusals.items():
            family.add_metric([name], count)
        return family

    def _refusals(self) -> Iterator[Metric]:
        family = CounterMetricFamily(
            "siena_refusals", "What was not granted.", labels=["verb", "roles"]
        )
        gate = self._entry.broker.state.gate
        for labels, count in gate.refusals_seen(self._sight).items():
            family.add_metric(labels, count)
        yield family

    def _durables(self) -> Iterator[Metric]:
        durable = self._entry.broker.log_service.durable
        for name, total in durable.snapshot().items():
            text = help_of(f"durable_{name}")
            value = float(str(total))
            if name in {"publishers", "subscriptions"}:
                yield GaugeMetricFamily(f"siena_durable_{name}", text, value)
            else:
                yield CounterMetricFamily(f"siena_durable_{name}", text, value)
        shown, sight = durable.durables(LINKS_MAX), self._sight
        for name in DURABLE_GAUGES:
            family = GaugeMetricFamily(
                f"siena_durable_{name}",
                help_of(f"durable_{name}"),
                labels=["name"],
            )
            # Owners may use the same name; who they are is not told here.
            sums: Counter[str] = Counter()
            for each in shown:
                owner = each["owner"]
                is_seen = sight.of_owner(None if owner is None else str(owner))
                label = str(each["name"]) if is_seen else OTHERS
                sums[label] += int(str(each[name]))
            for label, value in sums.items():
                family.add_metric([label], value)
            yield family
        lags = GaugeMetricFamily(
            "siena_relay_lag", help_of("relay_lag"), labels=["neighbour"]
        )
        for each in durable.relays(LINKS_MAX) if sight.is_whole else ():
            lags.add_metric([str(each["neighbour"])], float(str(each["lag"])))
        yield lags
        yield from self._store()

    def _store(self) -> Iterator[Metric]:
        """How far the store is behind the working copy, if there is one elsewhere."""
        journal = self._entry.broker.log_service.journal
        if journal is not None and journal.store.is_elsewhere:
            name = "store_behind_bytes"
            value = float(str(journal.store.snapshot()[name]))
            yield GaugeMetricFamily(f"siena_{name}", help_of(name), value)

    def _queues(self) -> Histogram:
        """What waits to be sent now, by connection; drawn anew each time."""
        found = Histogram(QUEUE_BYTES)
        for session in self._entry.broker.state.sessions.values():
            if isinstance(session.sink, Connection) and not session.sink.is_closing:
                found.add(session.sink.waiting)
        return found

    def _links(self) -> Iterator[Metric]:
        links = [link.snapshot() for link in self._entry.broker.state.links.values()]
        for name in LINK_COUNTERS:
            family = CounterMetricFamily(
                f"siena_link_{name}", help_of(f"link_{name}"), labels=["link"]
            )
            for link in links[:LINKS_MAX]:
                family.add_metric([str(link["name"])], float(str(link[name])))
            yield family


def registry_of(
    entry: InProcessEntry, handlers: Handlers, sight: Sight
) -> CollectorRegistry:
    """A registry with nothing in it but this broker, as one principal sees it."""
    registry = CollectorRegistry()
    registry.register(BrokerCollector(entry, handlers, sight))
    return registry


async def metrics(request: Request) -> Response:
    """All metrics as text."""
    entry: InProcessEntry = request.app.state.entry
    gate, principal = entry.broker.state.gate, principal_of(request.scope)
    gate.inspect(principal, "metrics")
    handlers: Handlers = request.app.state.handlers
    registry = registry_of(entry, handlers, gate.sight(principal))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
