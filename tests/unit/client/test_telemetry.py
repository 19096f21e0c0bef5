"""Traces that travel in the content of notifications."""

import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from siena.client.telemetry import handling, publishing
from siena.errors import SienaError
from siena.model import Notification

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What was exported, of a provider for this test alone."""
    found = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(found))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield found
    provider.shutdown()


def parent_of(span: ReadableSpan) -> int:
    assert span.parent is not None
    return span.parent.span_id


def test_a_subscriber_goes_on_with_the_trace_of_the_publisher(
    spans: InMemorySpanExporter,
) -> None:
    with publishing({"symbol": "DIS", "price": 1.5}) as attributes:
        notification = Notification(attributes)
    with handling(notification) as span:
        span.set_attribute("seen", value=True)
    published, handled = spans.get_finished_spans()
    assert (published.kind, handled.kind) == (
        trace.SpanKind.PRODUCER,
        trace.SpanKind.CONSUMER,
    )
    assert published.parent is None
    assert parent_of(handled) == published.context.span_id
    assert handled.context.trace_id == published.context.trace_id
    assert {notification["symbol"], notification["price"]} == {"DIS", 1.5}


def test_what_is_published_again_belongs_to_the_same_trace(
    spans: InMemorySpanExporter,
) -> None:
    first = Notification(x=1, traceparent=PARENT, tracestate="a=b")
    with publishing(first) as attributes:
        assert attributes["traceparent"] != PARENT
        assert attributes["tracestate"] == "a=b"
    (span,) = spans.get_finished_spans()
    assert f"{parent_of(span):016x}" == "b7ad6b7169203331"


def test_what_is_published_while_one_is_handled_is_its_child(
    spans: InMemorySpanExporter,
) -> None:
    with handling(Notification(traceparent=PARENT)), publishing({"y": 2}) as attributes:
        assert "0af7651916cd43dd8448eb211c80319c" in attributes["traceparent"]
    published, handled = spans.get_finished_spans()
    assert parent_of(published) == handled.context.span_id


@pytest.mark.parametrize("odd", [7, "not a trace"])
def test_an_attribute_that_is_no_trace_begins_one(
    spans: InMemorySpanExporter, odd: str | int
) -> None:
    with handling(Notification(traceparent=odd)):
        pass
    (span,) = spans.get_finished_spans()
    assert span.parent is None


def test_without_a_set_up_nothing_is_added() -> None:
    with publishing({"x": 1}) as attributes, handling(Notification(x=1)):
        assert attributes == {"x": 1}


def test_without_the_extra_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(SienaError, match="not installed"), publishing({"x": 1}):
        pass
