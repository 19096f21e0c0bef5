"""The console in headless Chromium, on a live network of five brokers."""

import re
import subprocess
import sys
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import siena
from browsing import MILLISECONDS, Browser, Page, Route, check, go, opened

# A test loads pages and looks at them with axe several times, beside other tests.
pytestmark = pytest.mark.timeout(300)
# A broker that takes its time to answer what is typed, as one with many interests does.
SLOW = """() => {
  const plain = window.fetch;
  window.fetch = async (path, options) => {
    const answer = await plain(path, options);
    const pause = String(path).startsWith("/api/relations") ? 300 : 0;
    await new Promise((go) => setTimeout(go, pause));
    return answer;
  };
}"""


def test_the_network_is_drawn_and_a_link_explained(
    page: Page, brokers: dict[str, str]
) -> None:
    with (
        siena.connect(brokers["one"], name="desk") as desk,
        siena.connect(brokers["three"], name="trader") as trader,
    ):
        wanted = [desk.subscribe("level > 3"), desk.subscribe("level > 5 and x = 1")]
        wanted.append(trader.subscribe("symbol = DIS"))
        for each in wanted:
            each.settled(MILLISECONDS / 1_000)
        page.get_by_role("group", name="5 brokers and 4 links").wait_for()
        page.get_by_role("button", name="filters of two").click()
        page.get_by_role("button", name="why level > 3").click()
        page.get_by_text("level > 5 and x = 1 desk").wait_for()
        page.get_by_label("Filters of the link to two").get_by_text(
            "symbol = DIS"
        ).wait_for()
        check(page)
        five = page.get_by_role("button", name="broker five")
        five.focus()
        five.press("Enter")
        page.get_by_role("heading", name="Broker five").wait_for()
        page.get_by_role("button", name="broker five", pressed=True).wait_for()
        page.get_by_text("Nobody is connected").wait_for()
        page.get_by_role("button", name="broker three").press("Enter")
        page.get_by_role("row", name="trader").get_by_text("symbol = DIS").wait_for()


def test_a_link_of_other_brokers_is_explained(
    page: Page, brokers: dict[str, str]
) -> None:
    """Seen from one: two asks three for what a client of its own wants."""
    with siena.connect(brokers["two"], name="desk") as desk:
        wanted = [desk.subscribe(text) for text in ("level > 3", "level > 5")]
        for each in wanted:
            each.settled(MILLISECONDS / 1_000)
        page.get_by_role("group", name="5 brokers and 4 links").wait_for()
        link = page.get_by_role("button", name="link three and two")
        link.focus()
        link.press("Enter")
        page.get_by_role("heading", name="two asks of three 1").wait_for()
        page.get_by_role("button", name="why level > 3").click()
        page.get_by_text("It stands for 2 interests").wait_for()
        page.get_by_text(re.compile(r"^level > 5 desk \(\d+/2\)$")).wait_for()
        check(page)
        page.get_by_role("button", name="broker three").press("Enter")
        page.get_by_text("It listens at siena://").wait_for()
        link.press("Enter")
        page.get_by_text("nothing is wanted behind it").wait_for()
        with siena.connect(brokers["three"]) as far:
            beyond = far.subscribe("volume > 1").settled(MILLISECONDS / 1_000)
            page.get_by_role("button", name="why three asks for these").click()
            page.get_by_role("heading", name="three asks of two 1").wait_for()
            page.get_by_role("button", name="why volume > 1").click()
            page.get_by_text("It stands for 1 interest:").wait_for()
            beyond.close()


def test_a_filter_that_is_shown_cut_is_explained(
    browser: Browser, brokers: dict[str, str]
) -> None:
    wanted = "what = " + "a" * 700
    with (
        opened(browser, brokers["http"], "light") as page,
        siena.connect(brokers["one"], name="desk") as desk,
    ):
        kept = desk.subscribe(wanted).settled(MILLISECONDS / 1_000)
        page.get_by_role("button", name="filters of two").click()
        page.get_by_role("button", name="why what").click()
        page.get_by_text("It stands for 1 interest").wait_for()
        page.get_by_text(wanted, exact=True).last.wait_for()
        kept.close()


def test_an_address_without_a_page_is_the_first(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#/constructor")
    page.reload()
    page.get_by_role("heading", name="Network", level=1).wait_for()


def test_interests_are_searched_and_stand_in_their_order(
    page: Page, brokers: dict[str, str]
) -> None:
    with siena.connect(brokers["one"], name="desk") as client:
        texts = ("price any", "price > 5", "volume > 5")
        wanted = [client.subscribe(text) for text in texts]
        for each in wanted:
            each.settled(MILLISECONDS / 1_000)
        go(page, "Interests")
        page.locator(".poset ul code", has_text="price > 5").wait_for()
        page.get_by_label("Words").fill("volume")
        page.get_by_text("1 filter found").wait_for()
        page.get_by_label("Look for").select_option("notification")
        page.get_by_label("A notification, as text or JSON").fill("price = 7")
        page.get_by_text("2 filters found").wait_for()
        check(page)


def test_a_filter_is_explained_while_it_is_typed(
    page: Page, brokers: dict[str, str]
) -> None:
    with siena.connect(brokers["one"]) as client:
        wanted = client.subscribe("level > 3").settled(MILLISECONDS / 1_000)
        go(page, "Workbench")
        text = page.get_by_label("A filter, a predicate or a pattern")
        text.fill("level >> 2")
        page.get_by_text("is not an operator").wait_for()
        assert page.locator("pre.caret").inner_text() == "level >> 2\n      ^"
        page.get_by_role("button", name="level", exact=True).wait_for()
        text.fill("")
        text.press_sequentially("lev")
        text.press("ArrowDown")
        text.press("Tab")
        text.press_sequentially("> 2")
        page.get_by_text("1 of 1 filters here").wait_for()
        page.get_by_text("level = 3", exact=True).wait_for()
        check(page)
        page.get_by_label("Language").select_option("sql")
        page.get_by_label("A rule").fill("level BETWEEN 4 AND 6")
        page.get_by_text("level <= 6 and level >= 4").wait_for()
        wanted.close()


def test_the_place_of_a_mistake_is_counted_in_characters(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """Found: behind an emoji, which a page counts as two, the caret stood too early."""
    with opened(browser, brokers["http"], "light") as page:
        go(page, "Workbench")
        text = page.get_by_label("A filter, a predicate or a pattern")
        text.fill('a = "☃🙂🙂" and\nb = "🙂" and level >> 2')
        page.get_by_text("is not an operator").wait_for()
        shown = page.locator("pre.caret").inner_text()
        assert shown == 'b = "🙂" and level >> 2\n' + " " * 19 + "^"


def test_what_is_read_out_while_a_filter_is_written_is_short(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """Found: all panels were read out again whenever something came."""
    with (
        siena.connect(brokers["one"]) as client,
        opened(browser, brokers["http"], "light") as page,
    ):
        wanted = client.subscribe("level > 3").settled(MILLISECONDS / 1_000)
        go(page, "Workbench")
        page.get_by_label("A filter, a predicate or a pattern").fill("level > 2")
        said = "filter; covers 1, covered by 0; 0 of the last notifications"
        page.get_by_role("status").get_by_text(said).wait_for()
        assert not page.get_by_role("status").get_by_text("It means").count()
        wanted.close()


def test_offers_are_for_the_caret_and_for_the_language(
    browser: Browser, brokers: dict[str, str]
) -> None:
    with (
        siena.connect(brokers["one"]) as client,
        opened(browser, brokers["http"], "light") as page,
    ):
        wanted = client.subscribe('level > 3 and city = "New York"')
        wanted.settled(MILLISECONDS / 1_000)
        go(page, "Workbench")
        page.get_by_role("button", name="level", exact=True).wait_for()
        text = page.get_by_label("A filter, a predicate or a pattern")
        offered = page.get_by_role("listbox").get_by_role("option")
        text.fill(" > 2 and city any")
        text.press("Home")
        text.press_sequentially("lev")
        text.press("ArrowDown")
        text.press("Tab")
        assert text.input_value() == "level > 2 and city any"
        assert text.evaluate("field => field.selectionStart") == len("level")
        text.fill("")
        text.press_sequentially("city = ")
        assert offered.all_inner_texts() == ['"New York"']
        text.fill("")
        text.press_sequentially("level ")
        assert "any" in offered.all_inner_texts()
        page.get_by_label("Language").select_option("sql")
        rule = page.get_by_label("A rule")
        rule.fill("")
        rule.press_sequentially("level ")
        assert "LIKE" in offered.all_inner_texts()
        assert "any" not in offered.all_inner_texts()
        rule.press_sequentially("> 3 ")
        assert offered.all_inner_texts() == ["AND", "OR"]
        page.get_by_label("Language").select_option("eventbridge")
        rule.fill("")
        rule.press_sequentially('{"lev')
        assert offered.all_inner_texts() == ["level"]
        rule.press_sequentially('el": ')
        assert offered.all_inner_texts() == []


def test_what_is_typed_is_answered_however_much_comes(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """Each notification once made a new question, which the next one overtook."""
    is_over = Event()
    with (
        opened(browser, brokers["http"], "light") as page,
        siena.connect(brokers["one"]) as client,
    ):

        def publish() -> None:
            for n in count():
                client.publish(level=3, n=n)
                if is_over.wait(0.005):
                    return

        go(page, "Workbench")
        text = page.get_by_label("A filter, a predicate or a pattern")
        text.fill("level > 2")
        page.get_by_role("button", name="watch what comes").click()
        page.get_by_text("everything that you may hear comes here").wait_for()
        page.evaluate(SLOW)
        publishing = Thread(target=publish)
        publishing.start()
        try:
            page.get_by_text("100 of 100 match").wait_for()
            text.fill("level > 3")
            page.get_by_text("0 of 100 match").first.wait_for()
            page.get_by_text("level = 4", exact=True).wait_for()
        finally:
            is_over.set()
            publishing.join()


def test_sequences_of_a_pattern_are_found_and_patterns_compared(
    browser: Browser, brokers: dict[str, str]
) -> None:
    with (
        opened(browser, brokers["http"], "light") as page,
        siena.connect(brokers["one"], name="desk") as client,
    ):
        wanted = client.subscribe("level > 7 then level < 1")
        wanted.settled(MILLISECONDS / 1_000)
        go(page, "Workbench")
        text = page.get_by_label("A filter, a predicate or a pattern")
        text.fill("level > 3 then level < 2")
        page.get_by_text("1 of 1 patterns here").wait_for()
        page.get_by_role("button", name="watch what comes").click()
        page.get_by_text("everything that you may hear comes here").wait_for()
        for level in (5, 3, 1):
            client.publish(level=level, marked="sequence")
        page.get_by_text(re.compile(r"^\d+ of \d+ match a step of it$")).wait_for()
        last = page.get_by_text("then level = 1 and marked = sequence").first
        last.wait_for()
        check(page)
        page.get_by_label("Language").select_option("advertisement")
        page.get_by_label("An advertisement").fill("what = siren, level < 3")
        page.get_by_text("Its publisher may publish, for example").wait_for()
        page.get_by_text(re.compile(r"^\d+ of \d+ satisfy it$")).wait_for()
        check(page)
        wanted.close()


def test_the_example_is_reached_from_live(
    browser: Browser, brokers: dict[str, str]
) -> None:
    with opened(browser, brokers["http"], "light") as page:
        go(page, "Live")
        page.get_by_role("link", name="a page to copy").click()
        page.get_by_text("Subscribed to symbol = DIS").wait_for()
        check(page)


def test_kinds_of_values_are_not_lost_on_the_way(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """What is shown reads back, and what came is tried as it was written."""
    with (
        opened(browser, brokers["http"], "light") as page,
        siena.connect(brokers["one"]) as client,
    ):
        go(page, "Workbench")
        text = page.get_by_label("A filter, a predicate or a pattern")
        text.fill('float x > 0.5 and day > 2024-01-01 and t = "true"')
        shown = 'day = 2024-01-01T00:00:00.000001Z and t = "true" and x = 1.0'
        page.get_by_text(shown, exact=True).wait_for()
        page.get_by_role("button", name="watch what comes").click()
        page.get_by_text("everything that you may hear comes here").wait_for()
        for filter_, x in (("float x = 1", 1.0), ("x = 9007199254740993", 2**53 + 1)):
            text.fill(filter_)
            client.publish(x=x)
            page.get_by_text(f"x = {x!r}", exact=True).last.wait_for()
            page.get_by_text(re.compile(r"^1 of \d+ match$")).wait_for()


@pytest.mark.slow
def test_what_siena_pub_publishes_appears_within_a_second(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """From the end of the command, which may take longer to start than that."""
    with opened(browser, brokers["http"], "light") as page:
        go(page, "Live")
        page.get_by_label("A filter or a pattern; everything without one").fill(
            "at any"
        )
        page.get_by_role("button", name="Subscribe").click()
        page.get_by_text("in force: at any").wait_for()
        command = [sys.executable, "-m", "siena", "pub", "--server", brokers["five"]]
        subprocess.run([*command, "at=7"], check=True)
        page.get_by_text('{"at":7}').wait_for(timeout=1_000)


def test_what_is_published_elsewhere_appears(
    page: Page, brokers: dict[str, str]
) -> None:
    go(page, "Live")
    page.get_by_label("A filter or a pattern; everything without one").fill("seen any")
    page.get_by_role("button", name="Subscribe").click()
    page.get_by_text("in force: seen any").wait_for()
    command = [sys.executable, "-m", "siena", "pub", "--server", brokers["five"]]
    subprocess.run([*command, "seen=7", "unseen=no"], check=True)
    page.get_by_text('{"seen":7,"unseen":"no"}').wait_for()
    page.get_by_label("A notification, as JSON").fill('{"seen":')
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("alert").wait_for()
    page.get_by_label("A notification, as JSON").fill('{"seen": 1234567890123456789}')
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_text('{"seen":1234567890123456789}', exact=True).wait_for()
    with siena.connect(brokers["three"]) as client:
        wanted = client.subscribe("seen = 9").settled(MILLISECONDS / 1_000)
        page.get_by_label("A notification, as JSON").fill('{"seen": 9}')
        page.get_by_role("button", name="Publish and trace").click()
        page.get_by_text("The way it took: 3 brokers").wait_for()
        page.get_by_role("img", name="It came to one, two, three").wait_for()
        assert wanted.get(MILLISECONDS / 1_000)["seen"] == 9
        wanted.close()
    check(page)


def test_who_does_not_get_it_is_told_why(page: Page, brokers: dict[str, str]) -> None:
    with (
        siena.connect(brokers["one"]) as client,
        siena.connect(brokers["three"]) as far,
    ):
        wanted = client.subscribe("level > 3").settled(MILLISECONDS / 1_000)
        beyond = far.subscribe("level > 9").settled(MILLISECONDS / 1_000)
        go(page, "Why not")
        page.get_by_label("A notification, as text or JSON").fill("level = 2")
        page.get_by_role("button", name="Look").click()
        page.get_by_text("None of 2 filters wants it").wait_for()
        page.get_by_text("✗ level > 3: level = 2").wait_for()
        page.get_by_text("not to two: the nearest of 1 asked for is").wait_for()
        check(page)
        page.get_by_role("button", name="level > 9").click()
        page.get_by_text("that fail at level > 9").wait_for()
        wanted.close()
        beyond.close()


def test_a_broker_that_shows_a_part_of_its_filters_is_not_said_to_have_no_other(
    browser: Browser, brokers: dict[str, str]
) -> None:
    """As one of before, which cannot be asked who wants a notification."""
    step: dict[str, Any] = {
        "broker": "one",
        "came_from": None,
        "clients": {},
        "brokers": {},
    }
    way = {
        "steps": [{**step, "complete": False, "compared": 1_000}],
        "missing": [
            {"from": "one", "to": "two", "asked": 1_500, "compared": 900,
             "nearest": None, "wants": {}}
        ],
        "brokers": [{"broker": "one", "links": []}],
    }  # fmt: skip
    said = {"**/api/way": lambda route: route.fulfill(json=way)}
    with opened(browser, brokers["http"], "light", said) as page:
        go(page, "Why not")
        page.get_by_label("A notification, as text or JSON").fill("level = 2")
        page.get_by_role("button", name="Look").click()
        page.get_by_text(
            "among its first 1000 filters none of a client wants it; it has more"
        ).wait_for()
        page.get_by_text("as far as is shown, matches").wait_for()
        assert not page.get_by_text("no client here wants it").count()


@pytest.mark.parametrize("mode", ["light", "dark", "narrow"])
def test_who_is_there_is_asked_and_sees_what_is_theirs(
    browser: Browser, guarded: dict[str, str], mode: str
) -> None:
    """Durable and access, with two who may see more and less."""
    seconds = MILLISECONDS / 1_000
    with (
        siena.connect(guarded["url"], name="ledger", token=guarded["root"]) as client,
        opened(browser, guarded["http"], mode) as page,
    ):
        wanted = client.subscribe("euros > 0", durable="billing")
        wanted.settled(seconds)
        client.publish(euros=3, tenant="b")
        page.get_by_role("heading", name="Who is there?").wait_for()
        check(page)
        page.get_by_label("Token").fill("siena1.no.token")
        page.get_by_role("button", name="Enter").click()
        page.get_by_text("does not know this token").wait_for()
        page.get_by_label("Token").fill(guarded["root"])
        page.get_by_role("button", name="Enter").click()
        page.get_by_text("as root-id").wait_for()
        go(page, "Durable")
        page.get_by_role("button", name="billing").click()
        page.get_by_text("waits for an answer").wait_for()
        check(page)
        go(page, "Access")
        page.get_by_label("A notification, as text or JSON").fill("tenant = a")
        page.get_by_role("button", name="Ask").click()
        page.get_by_text("Of those who are here: root-id.").wait_for()
        check(page)
        page.get_by_role("button", name="sign out").click()
        page.get_by_label("Token").fill(guarded["desk"])
        page.get_by_role("button", name="Enter").click()
        page.get_by_text("You are desk-id").wait_for()
        for name, last in (
            ("Network", "Nobody is connected"),
            ("Interests", "Nothing is wanted here yet"),
            ("Durable", "None among the last 0 notifications"),
            ("Access", "Who may see this?"),
        ):
            go(page, name)
            page.get_by_text(last).wait_for()
            shown = page.locator("body").inner_text()
            assert "ledger" not in shown
            assert "euros" not in shown
        page.reload()
        page.get_by_role("heading", name="Who is there?").wait_for()
        wanted.close()


def test_a_name_and_a_password_may_be_in_any_script(
    browser: Browser, guarded: dict[str, str]
) -> None:
    """Found: a header takes few letters, and "the broker does not answer" was said."""
    with opened(browser, guarded["http"], "light") as page:
        page.get_by_label("Token").fill(guarded["user"])
        page.get_by_role("button", name="Enter").click()
        page.get_by_text("as søren").wait_for()
        go(page, "Live")
        page.get_by_role("button", name="Subscribe").click()
        page.get_by_text("in force: []").wait_for()


def test_who_signs_in_next_finds_nothing_of_who_was_there_before(
    browser: Browser, guarded: dict[str, str]
) -> None:
    """Found: what came for one was kept in the page, to be tried on by the other."""
    with (
        siena.connect(guarded["url"], token=guarded["root"]) as client,
        opened(browser, guarded["http"], "light") as page,
    ):
        page.get_by_label("Token").fill(guarded["root"])
        page.get_by_role("button", name="Enter").click()
        go(page, "Workbench")
        text = page.get_by_label("A filter, a predicate or a pattern")
        text.fill("euros > 5")
        go(page, "Live")
        page.get_by_role("button", name="Subscribe").click()
        page.get_by_text("in force: []").wait_for()
        client.publish(euros=7, tenant="b")
        page.get_by_text('{"euros":7,"tenant":"b"}').wait_for()
        page.get_by_role("button", name="sign out").click()
        page.get_by_label("Token").fill(guarded["desk"])
        page.get_by_role("button", name="Enter").click()
        go(page, "Workbench")
        assert text.input_value() == ""
        kept = "import('/console/parts/streaming.js').then((has) => has.recent)"
        assert page.evaluate(kept) == []


def test_a_refusal_that_comes_late_signs_nobody_out(
    browser: Browser, guarded: dict[str, str]
) -> None:
    """A request of the page from before its sign-in is refused after it."""
    late: list[Route] = []

    def keep(route: Route) -> None:
        is_signed = "authorization" in route.request.headers
        if late or is_signed:
            route.continue_()
        else:
            late.append(route)

    with opened(browser, guarded["http"], "light", pass_on={"**/readyz": keep}) as page:
        page.get_by_label("Token").fill(guarded["root"])
        page.get_by_role("button", name="Enter").click()
        page.get_by_text("as root-id").wait_for()
        with page.expect_response("**/readyz"):
            late[0].fulfill(status=401, json={})
        go(page, "Durable")
        page.get_by_role("heading", name="Cursors").wait_for()
        page.get_by_text("as root-id").wait_for()


def test_pages_can_be_used_without_a_mouse(
    browser: Browser, brokers: dict[str, str]
) -> None:
    with opened(browser, brokers["http"], "light") as page:
        page.get_by_role("link", name="Why not").wait_for()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "to the page"
        for _ in range(4):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Why not?").wait_for()


def test_the_package_has_every_page() -> None:
    static = Path(siena.__file__).parent / "web" / "static"
    assert len(list((static / "pages").glob("*.js"))) == 8
