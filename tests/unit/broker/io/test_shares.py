"""Shares: who has drawn too much waits, while others are there who have not."""

import asyncio

import pytest

from siena.broker.access.quotas import Account, Accounts, Quotas
from siena.broker.io.backpressure import Held, Holder
from siena.broker.io.shares import THERE_SECONDS, Shares
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
    shares.serve(account)
    shares.work(account, sender, seconds)
    shares.end_turn(0.0)


async def test_who_is_alone_may_work_as_much_as_there_is(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    sender = Sender()
    for _ in range(10):
        work(shares, accounts.of("ann"), sender, 0.05)
    assert not sender.by
    # Nor has it drawn more than it can make up for in a while.
    shares.serve(accounts.of("bob"))
    clock.seconds += 1.6
    assert not shares.must_wait(accounts.of("ann"))


async def test_who_has_drawn_too_much_waits_until_it_is_made_up_for(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, bob, sender = accounts.of("ann"), accounts.of("bob"), Sender()
    shares.serve(bob)
    work(shares, ann, sender, 0.1)  # at once
    assert not sender.by
    shares.serve(bob)
    work(shares, ann, sender, 0.05)
    assert sender.by
    assert accounts.refusals == {"work_share": 1}
    # A tenth of each second, and bob is always there.
    clock.seconds += 0.4
    shares.serve(bob)
    assert shares.must_wait(ann)
    clock.seconds += 0.2
    shares.serve(bob)
    assert not shares.must_wait(ann)
    await sender.released()


async def test_when_others_have_gone_nobody_waits(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    ann, bob, sender = accounts.of("ann"), accounts.of("bob"), Sender()
    shares.serve(bob)
    work(shares, ann, sender, 10.0)
    assert sender.by
    clock.seconds += 2 * THERE_SECONDS
    assert not shares.must_wait(ann)
    await sender.released()


async def test_two_who_have_drawn_too_much_do_not_wait_for_each_other(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    senders = [Sender(), Sender()]
    both = [accounts.of("ann"), accounts.of("bob")]
    for account, sender in zip(both, senders, strict=True):
        work(shares, account, sender, 10.0)
        work(shares, account, sender, 10.0)
    clock.seconds += 2 * THERE_SECONDS
    for account in both:
        shares.serve(account)
        assert not shares.must_wait(account)


async def test_what_is_decided_for_all_is_drawn_from_all(
    shares: Shares, accounts: Accounts
) -> None:
    ann, bob = accounts.of("ann"), accounts.of("bob")
    for account, seconds in ((ann, 0.03), (bob, 0.01)):
        shares.serve(account)
        shares.work(account, None, seconds)
    shares.end_turn(0.12)
    shares.serve(bob)  # 0.01 and a quarter of 0.12
    assert shares.must_wait(ann)
    assert not shares.must_wait(bob)


def test_what_is_put_off_has_its_share(
    shares: Shares, accounts: Accounts, clock: Hands
) -> None:
    shares.serve(accounts.of("ann"))
    assert shares.may_work_off()
    shares.work_off(0.002)
    assert not shares.may_work_off()
    clock.seconds += 0.021
    shares.serve(accounts.of("ann"))
    assert shares.may_work_off()
    shares.work_off(1.0)
    clock.seconds += 2 * THERE_SECONDS
    assert shares.may_work_off()  # nobody is there


def test_without_the_quota_nobody_waits(clock: Hands) -> None:
    accounts = Accounts(Quotas(work_seconds=0.0))
    shares = Shares(accounts, clock)
    sender = Sender()
    shares.serve(accounts.of("bob"))
    work(shares, accounts.of("ann"), sender, 10.0)
    assert not sender.by
