"""The page Live: what is in force, and all that a broker says to a subscriber."""

import json
from datetime import datetime
from typing import Any

import pytest

import siena
from browsing import MILLISECONDS, Browser, Page, Route, check, go, opened

Form = dict[str, Any]

pytestmark = pytest.mark.timeout(300)

# A stream does not end, as what a test makes of one does.
HELD = """() => {
  const plain = window.fetch;
  window.fetch = async (path, options) => {
    const answer = await plain(path, options);
    if (!String(path).startsWith("/subscribe")) return answer;
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const body = new ReadableStream({ start: (to) => to.enqueue(bytes) });
    return new Response(body, { headers: answer.headers });
  };
}"""


def subscribe(page: Page, text: str) -> None:
    go(page, "Live")
    page.get_by_label("A filter or a pattern; everything without one").fill(text)
    page.get_by_role("button", name="Subscribe").click()


def test_the_sequences_of_a_pattern_are_shown(
    page: Page, brokers: dict[str, str]
) -> None:
    subscribe(page, "what = login then what = alarm")
    page.get_by_text("in force: what = login then what = alarm").wait_for()
    with siena.connect(brokers["five"]) as client:
        client.publish(what="login", x=1.0)
        client.publish(what="alarm")
    page.get_by_text('[{"what":"login","x":1.0},{"what":"alarm"}]').wait_for()
    page.get_by_text("1 notification").first.wait_for()
    check(page)


def test_another_subscription_begins_with_an_empty_list(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """Found: what had come for the filter before stood among it, and was counted."""
    with (
        opened(browser, brokers["http"], "light") as page,
        siena.connect(brokers["one"]) as client,
    ):
        subscribe(page, "before any")
        page.get_by_text("in force: before any").wait_for()
        client.publish(before=True)
        page.get_by_text('{"before":true}').wait_for()
        field = page.get_by_label("A filter or a pattern; everything without one")
        field.fill("after any")
        page.get_by_role("button", name="Subscribe").click()
        page.get_by_text("in force: after any").wait_for()
        page.get_by_text("Nothing has come yet").wait_for()
        client.publish(after=True)
        page.get_by_text('{"after":true}').wait_for()
        page.get_by_text("· 1 notification", exact=True).wait_for()


def test_what_comes_at_midnight_has_the_time_of_a_clock(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """Found: 24:05:00.  And that more has come is not read out each time."""
    with opened(browser, brokers["http"], "light") as page:
        page.clock.set_fixed_time(datetime(2026, 11, 15, 0, 5))  # noqa: DTZ001 -- the page's own
        subscribe(page, "midnight any")
        page.get_by_text("in force: midnight any").wait_for()
        with siena.connect(brokers["one"]) as client:
            client.publish(midnight=True)
        page.get_by_text("00:05:00", exact=True).wait_for()
        page.get_by_text("1 notification").wait_for()
        assert not page.get_by_role("status").get_by_text("1 notification").count()


def test_the_example_publishes_what_is_there(
    browser: Browser, brokers: dict[str, str]
) -> None:
    with opened(browser, f"{brokers['http']}/console/example/", "light") as page:
        page.get_by_label("Filter").fill("symbol any")
        page.get_by_role("button", name="Subscribe").click()
        page.get_by_text("Subscribed to symbol any").wait_for()
        page.get_by_label("Price").fill("")
        page.get_by_role("button", name="Publish").click()
        page.get_by_text("symbol = DIS", exact=True).wait_for()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"settled": {"silent": ["mute"]}}, "x any — but no answer from mute"),
        ({"settled": {"in_force": "x = 1"}}, "in force, as far as you may: x = 1"),
        ({"lost": {"count": 7}}, "7 notifications did not come here"),
        ({"err": {"error": 211, "text": "no longer known"}}, "no longer known"),
    ],
)
def test_what_a_broker_says_beside_notifications_is_shown(
    browser: Browser, brokers: dict[str, str], said: Form, shown: str
) -> None:
    """Found: all of it was dropped, and a subscription said to be in force."""
    events = "".join(
        f"event: {kind}\ndata: {json.dumps(form)}\n\n" for kind, form in said.items()
    )

    def say(route: Route) -> None:
        route.fulfill(content_type="text/event-stream", body=events)

    with opened(browser, brokers["http"], "light", {"**/subscribe?*": say}) as page:
        page.evaluate(HELD)
        subscribe(page, "x any")
        page.get_by_text(shown).wait_for(timeout=MILLISECONDS)
        check(page)
