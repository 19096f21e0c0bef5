"""``/metrics``: the counters of a broker as Prometheus reads them.

Nothing is counted twice: the numbers are taken from the broker when somebody asks.
"""

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.webhooks.mapping import Handlers

# Links of which there is a line each; of more than these only the sums are told.
LINKS_MAX = 1_000
DURABLE_GAUGES = ("lag", "found", "under_way", "readers", "dead")
LINK_COUNTERS = ("forwarded", "received", "router_out", "router_in")


class BrokerCollector(Collector):
    """Reads the counters of one broker."""

    def __init__(self, entry: InProcessEntry, handlers: Handlers) -> None:
        self._entry = entry
        self._handlers = handlers

    def collect(self) -> Iterator[Metric]:
        """All there is to tell."""
        broker = self._entry.broker
        state, router = broker.state, broker.state.router
        wanted = broker.wanted_links()
        for name, value in state.counters.snapshot().items():
            if name.endswith("_now"):
                plain = name.removesuffix("_now")
                yield GaugeMetricFamily(f"siena_{plain}", f"{plain} now", value)
            else:
                yield CounterMetricFamily(f"siena_{name}", name, value)
        for name, value in {
            "sessions": len(state.sessions),
            "guests": len(self._entry),
            "links": len(state.links),
            "links_wanted": len(wanted),
            "links_up": sum(bool(link["up"]) for link in wanted),
            "filters": len(router.tables.filters),
            "advertisements_held": len(router.tables.advertisements),
        }.items():
            yield GaugeMetricFamily(f"siena_{name}", f"{name} now", value)
        yield from self._durables()
        for name, value in self._handlers.totals().items():
            yield CounterMetricFamily(
                f"siena_handler_{name}", f"{name}, of all handlers", value
            )
        yield from self._links()

    def _durables(self) -> Iterator[Metric]:
        durable = self._entry.broker.log_service.durable
        for name, total in durable.snapshot().items():
            text = f"{name}, of what must not be lost"
            value = float(str(total))
            if name in {"publishers", "subscriptions"}:
                yield GaugeMetricFamily(f"siena_durable_{name}", text, value)
            else:
                yield CounterMetricFamily(f"siena_durable_{name}", text, value)
        shown = durable.durables(LINKS_MAX)
        for name in DURABLE_GAUGES:
            family = GaugeMetricFamily(
                f"siena_durable_{name}",
                f"{name} of a durable subscription",
                labels=["name"],
            )
            for each in shown:
                family.add_metric([str(each["name"])], float(str(each[name])))
            yield family

    def _links(self) -> Iterator[Metric]:
        links = [link.snapshot() for link in self._entry.broker.state.links.values()]
        for name in LINK_COUNTERS:
            family = CounterMetricFamily(
                f"siena_link_{name}", f"{name}, since the link came up", labels=["link"]
            )
            for link in links[:LINKS_MAX]:
                family.add_metric([str(link["name"])], float(str(link[name])))
            yield family


def registry_of(entry: InProcessEntry, handlers: Handlers) -> CollectorRegistry:
    """A registry with nothing in it but this broker."""
    registry = CollectorRegistry()
    registry.register(BrokerCollector(entry, handlers))
    return registry


async def metrics(request: Request) -> Response:
    """All metrics as text."""
    registry: CollectorRegistry = request.app.state.registry
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
