"""OpenTelemetry: a span where a notification is published, and one where it is handled.

No address leads from a publisher to its subscribers, so the trace travels in the
content: ``traceparent`` and ``tracestate`` are attributes like any other, by the names
that the W3C and CloudEvents give them.  Brokers know nothing of it, and a program that
wants to see traced notifications subscribes to ``traceparent any``.

It needs the extra ``otel``; where that is installed and nothing is set up, all of this
does nothing, as OpenTelemetry has it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from siena.errors import SienaError
from siena.extras import how_to_get
from siena.model import Notification

if TYPE_CHECKING:  # an extra
    from opentelemetry.trace import Span

TRACEPARENT, TRACESTATE = "traceparent", "tracestate"
# As the conventions of OpenTelemetry for messaging call them.
_ATTRIBUTES = {"messaging.system": "siena"}


@contextmanager
def publishing(attributes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A span for a publication: what is yielded is to be published, within the block.

    ::

        with publishing({"symbol": "DIS", "price": 101.5}) as notification:
            client.publish(notification)

    Args:
        attributes: of the notification.  If it carries a trace already, that is the
            parent, unless a span is under way here.
    """
    trace, propagator = _opentelemetry()
    tracer = trace.get_tracer("siena")
    here = trace.get_current_span().get_span_context().is_valid
    parent = None if here else propagator.extract(_carried(attributes))
    with tracer.start_as_current_span(
        "publish",
        context=parent,
        kind=trace.SpanKind.PRODUCER,
        attributes={**_ATTRIBUTES, "messaging.operation.type": "send"},
    ):
        carrier: dict[str, str] = {}
        propagator.inject(carrier)
        kept = {name: v for name, v in attributes.items() if name not in _NAMES}
        yield {**kept, **(carrier or _carried(attributes))}


@contextmanager
def handling(notification: Notification) -> Iterator["Span"]:
    """A span for what a subscriber does about a notification, within the block.

    Its parent is the publication, wherever that was; without one it begins a trace.
    """
    trace, propagator = _opentelemetry()
    tracer = trace.get_tracer("siena")
    with tracer.start_as_current_span(
        "process",
        context=propagator.extract(_carried(notification)),
        kind=trace.SpanKind.CONSUMER,
        attributes={**_ATTRIBUTES, "messaging.operation.type": "process"},
    ) as span:
        yield span


_NAMES = (TRACEPARENT, TRACESTATE)


def _carried(attributes: Mapping[str, Any]) -> dict[str, str]:
    """The trace in a notification; other kinds of values under these names are not."""
    found = {name: attributes[name] for name in _NAMES if name in attributes}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _opentelemetry() -> tuple[Any, Any]:
    """Its traces, and what reads and writes them as the W3C says."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 -- an extra
        from opentelemetry.trace.propagation import (  # noqa: PLC0415
            tracecontext,
        )
    except ImportError:
        raise SienaError(
            "traces need OpenTelemetry, which is not installed",
            hint=how_to_get("otel"),
        ) from None
    return trace, tracecontext.TraceContextTextMapPropagator()
