"""Answers to what came durably, through connections to several brokers."""

from siena.client.core.registered_durable import RegisteredDurable
from siena.protocol.durable.reading import Ack, DurableSubscribe


async def test_answers_that_were_not_sent_reach_the_same_broker_and_no_other() -> None:
    said: list[bytes] = []
    durable = RegisteredDurable(DurableSubscribe(1, "[]", "d"), said.append)
    durable.hear_settled()
    first = durable.log
    durable.detach()
    durable.ack(5, first)
    durable.hear_settled()
    durable.flush()
    assert said.pop() == Ack(1, [5]).pack()
    durable.detach()
    durable.ack(6, first)
    durable.ack_up_to(6)
    durable.forget_answers()  # offset 6 is something else in another log
    durable.hear_settled()
    durable.ack(7, first)
    durable.nak(7, 0.0, first)
    durable.flush()
    assert said == []
    durable.ack(8, durable.log)
    durable.flush()
    assert said == [Ack(1, [8]).pack()]
