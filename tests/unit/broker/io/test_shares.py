"""Shares: who has drawn too much waits, while others are there who have not.

The clock is set by hand, so that nothing depends on how fast the machine is.
"""

import asyncio

import pytest

from siena.broker.access.quotas import Account, Accounts, Bucket, Quotas
from siena.broker.io.backpressure import Held, Holder
from siena.broker.io.shares import (
    ASKING_SECONDS,
    SCATTERED_PART,
    WHILE_SECONDS,
    Shares,
)
from siena.clock import SystemClock

QUOTAS = Quotas(work_seconds=0.1, work_share=0.1)


class Hands(SystemClock):
    """A clock that stands still unless it is set."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def elapsed(self) -> float:
        return self.seconds


class Sender(Held):
    """Somebody who may have to wait."""

    def __init__(self) -> None:
        self.by: set[Holder] = set()
        self.asked_at = 0.0
        self._goes_on = asyncio.Event()

    async def released(self) -> None:
        async with asyncio.timeout(10):
            await self._goes_on.wait()

    def hold(self, by: Holder) -> None:
        self.by.add(by)
        by.holds.add(self)

    def release(self, by: Holder) -> None:
        self.by.discard(by)
        self._goes_on.set()


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def accounts() -> Accounts:
    return Accounts(QUOTAS)


@pytest.fixture
def shares(clock: Hands, accounts: Accounts) -> Shares:
    return Shares(accounts, clock)


def work(shares: Shares, account: Account, sender: Sender, seconds: float) -> None:
    shares.work(account, sender, seconds)
    shares.end_turn(0.0)


def left(account: Account, clock: Hands) -> float:
    """What an account has left now."""
    assert account.work is not None
    account.work.spend(0, clock.seconds)
    return account.work.left


async def test_who_is_alone_may_work_as_much_as_there_is(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    sender = Sender()
    for _ in range(10):
        work(shares, accounts.of("ann"), sender, 0.05)
    assert not sender.by
    # Nor has it drawn more than it can make up for in a while.
    clock.seconds += 1.6
    shares.serve(0.01, clock.seconds)
    assert not shares.must_wait(accounts.of("ann"))


async def test_who_has_drawn_too_much_waits_until_it_is_made_up_for(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, sender = accounts.of("ann"), Sender()
    shares.serve(0.01, clock.seconds)
    work(shares, ann, sender, 0.1)  # at once
    assert not sender.by
    work(shares, ann, sender, 0.05)
    assert sender.by
    assert accounts.refusals == {"work_share": 1}
    # A tenth of each second, and others are always there.
    clock.seconds += 0.4
    shares.serve(0.01, clock.seconds)
    assert shares.must_wait(ann)
    clock.seconds += 0.2
    shares.serve(0.01, clock.seconds)
    assert not shares.must_wait(ann)
    await sender.released()


async def test_when_others_have_gone_nobody_waits(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, sender = accounts.of("ann"), Sender()
    shares.serve(0.01, clock.seconds)
    work(shares, ann, sender, 10.0)
    assert sender.by
    clock.seconds += WHILE_SECONDS  # they may only pause
    assert shares.must_wait(ann)
    clock.seconds += 2 * WHILE_SECONDS
    assert not shares.must_wait(ann)
    await sender.released()


async def test_who_is_seldom_heard_keeps_nobody_waiting(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    sender = Sender()
    for _ in range(100):
        clock.seconds += 0.01
        shares.serve(0.0001, clock.seconds)  # a PING
        work(shares, accounts.of("ann"), sender, 0.009)
    assert not sender.by


async def test_who_asks_for_little_is_one_of_those_who_are_served(
    shares: Shares, accounts: Accounts
) -> None:
    ann, bob, sender = accounts.of("ann"), accounts.of("bob"), Sender()
    work(shares, ann, sender, 1.0)
    assert not sender.by
    work(shares, bob, Sender(), 0.01)
    work(shares, ann, sender, 0.01)
    assert sender.by


async def test_what_a_neighbour_tells_keeps_no_client_waiting(
    shares: Shares, accounts: Accounts
) -> None:
    """It answers, perhaps, what that client has asked for."""
    ann, neighbour, sender = accounts.of("ann"), accounts.of("broker 2"), Sender()
    shares.work(neighbour, None, 0.05, is_service=False)
    work(shares, ann, sender, 1.0)
    assert not sender.by


async def test_two_who_have_drawn_too_much_do_not_wait_for_each_other(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    senders = [Sender(), Sender()]
    both = [accounts.of("ann"), accounts.of("bob")]
    for account, sender in zip(both, senders, strict=True):
        work(shares, account, sender, 10.0)
        work(shares, account, sender, 10.0)
    clock.seconds += 3 * WHILE_SECONDS
    for account, sender in zip(both, senders, strict=True):
        work(shares, account, sender, 0.01)
    for account in both:
        assert not shares.must_wait(account)


async def test_what_is_decided_for_all_is_drawn_from_all(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, bob = accounts.of("ann"), accounts.of("bob")
    for account, seconds in ((ann, 0.03), (bob, 0.01)):
        shares.work(account, None, seconds)
    shares.end_turn(0.12)
    assert left(ann, clock) == pytest.approx(0.1 - 0.03 - 0.09)
    assert left(bob, clock) == pytest.approx(0.1 - 0.01 - 0.03)


async def test_who_must_wait_waits_before_it_is_looked_at_again(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    """However many connections it has: one of them does not help another."""
    ann, first, second = accounts.of("ann"), Sender(), Sender()
    first.asked_at = second.asked_at = clock.seconds
    shares.serve(0.01, clock.seconds)
    assert not shares.keeps_waiting(ann, second)
    work(shares, ann, first, 1.0)
    assert shares.keeps_waiting(ann, second)
    assert first.by == second.by
    # But who only publishes, and has not asked for anything lately, does not wait.
    second.asked_at = clock.seconds - 2 * ASKING_SECONDS
    assert not shares.keeps_waiting(ann, second)


# --- What is done later ---------------------------------------------------------------


def test_who_changes_the_table_pays_for_its_compilation(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, bob = accounts.of("ann"), accounts.of("bob")
    shares.work(bob, None, 0.01)
    shares.end_turn(0.0)  # which changes nothing
    shares.change()
    shares.work(ann, None, 0.01)
    shares.end_turn(0.0)
    for is_at_rest in (False, True, True):  # in a loop first, then compiled, then free
        with shares.compiling(lambda: is_at_rest):  # noqa: B023 -- called within
            clock.seconds += 0.02
    assert left(ann, clock) == pytest.approx(0.1 - 0.01 - 0.04 + 0.006)
    assert left(bob, clock) == pytest.approx(0.1 - 0.01 + 0.006)


def test_what_is_compiled_in_the_turn_of_the_change_is_drawn_as_well(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann = accounts.of("ann")
    shares.change()
    shares.work(ann, None, 0.01)
    with shares.compiling(lambda: True):
        clock.seconds += 0.05
    shares.end_turn(0.0)
    assert left(ann, clock) == pytest.approx(0.1 - 0.01 - 0.05)


def test_who_has_scattered_the_table_pays_for_making_it_one(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, bob = accounts.of("ann"), accounts.of("bob")
    for account, seconds in ((ann, 0.03), (bob, 0.01)):
        shares.change()
        shares.work(account, None, seconds)
        shares.end_turn(0.0)
    shares.rebuild(0.08)
    shares.rebuild(0.08)  # nobody has changed it since
    assert left(ann, clock) == pytest.approx(0.1 - 0.03 - 0.06)
    assert left(bob, clock) == pytest.approx(0.1 - 0.01 - 0.02)


def test_who_has_scattered_the_table_pays_for_matching_in_several_engines(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, lost = accounts.of("ann"), [0.0]
    shares.on_scattered = lost.append
    shares.change()
    shares.work(ann, None, 0.01)
    shares.end_turn(0.0)
    for _ in range(2):
        with shares.scattered():
            clock.seconds += 0.02
    assert sum(lost) == pytest.approx(0.04 * SCATTERED_PART)
    assert left(ann, clock) == pytest.approx(0.1 - 0.01 - sum(lost) + 0.004)
    shares.rebuild(0.0)  # and it is one again
    with shares.scattered():
        clock.seconds += 0.02
    assert left(ann, clock) == pytest.approx(0.1 - 0.01 - 0.02 + 0.006)


def test_who_puts_work_off_pays_for_it_when_it_is_done(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, bob = accounts.of("ann"), accounts.of("bob")
    shares.work(bob, None, 0.01)
    shares.end_turn(0.0)
    shares.work(ann, None, 0.01)
    shares.end_turn(0.0, puts_off=True)
    shares.work_off(0.02)
    shares.work_off(0.02, is_done=True)
    shares.work_off(0.02)
    assert left(ann, clock) == pytest.approx(0.1 - 0.01 - 0.04)
    assert left(bob, clock) == pytest.approx(0.1 - 0.01)


def test_what_is_put_off_has_its_share(shares: Shares, clock: Hands) -> None:
    shares.serve(0.01, clock.seconds)
    assert shares.may_work_off()
    shares.work_off(0.002)
    assert not shares.may_work_off()
    clock.seconds += 0.021
    shares.serve(0.01, clock.seconds)
    assert shares.may_work_off()
    shares.work_off(1.0)
    clock.seconds += 3 * WHILE_SECONDS
    assert shares.may_work_off()  # nobody is there


def test_without_the_quota_nobody_waits(clock: Hands) -> None:
    accounts = Accounts(Quotas(work_seconds=0.0))
    shares = Shares(accounts, clock)
    sender = Sender()
    shares.serve(0.01, clock.seconds)
    work(shares, accounts.of("ann"), sender, 10.0)
    assert not sender.by
    assert not shares.keeps_waiting(accounts.of("ann"), sender)


# --- Strangers ------------------------------------------------------------------------


def test_strangers_of_one_host_share_what_their_requests_take(
    accounts: Accounts,
) -> None:
    first, second, other = map(
        accounts.of_stranger, ("10.0.0.1", "10.0.0.1", "10.0.0.2")
    )
    assert first is not second  # what they publish is counted for each
    assert isinstance(first.work, Bucket)
    assert first.work is second.work
    assert first.work is not other.work


def test_a_network_that_one_is_given_is_one_host(accounts: Accounts) -> None:
    first, second, other = (
        accounts.of_stranger(f"2001:db8::{tail}") for tail in ("1", "2", "1:0:0:0:1")
    )
    assert first.work is second.work
    assert first.work is not other.work


def test_hosts_that_were_seen_longest_ago_are_forgotten(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siena.broker.access.quotas.ACCOUNTS_MAX", 2)
    first = accounts.of_stranger("10.0.0.1")
    second = accounts.of_stranger("10.0.0.2")
    assert accounts.of_stranger("10.0.0.1").work is first.work
    accounts.of_stranger("10.0.0.3")
    assert accounts.of_stranger("10.0.0.1").work is first.work
    assert accounts.of_stranger("10.0.0.2").work is not second.work
