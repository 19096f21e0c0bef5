"""How a topic of Kafka has to be that keeps a log: found, or made."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from siena.broker.log.stores.limits import ANSWER_SECONDS, OPEN_SECONDS, RETRY_SECONDS
from siena.broker.log.stores.url import StoreUrl
from siena.errors import SienaError

# What the servers take for one message, unless the topic says something else.
_MESSAGE_BYTES = 1_048_588
# What a message may have beside its data, and the batch around it.
_FRAME_BYTES = 1_024


def wanted_settings(replicas: int) -> dict[str, str]:
    """How a topic is made: it forgets what it is told to, and what was replaced.

    >>> wanted_settings(3)["min.insync.replicas"]
    '2'
    """
    return {
        "cleanup.policy": "compact,delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "min.insync.replicas": str(_most_of(replicas)),
        "unclean.leader.election.enable": "false",
    }


def _most_of(replicas: int) -> int:
    return replicas // 2 + 1


def prepare_topic(admin: AdminClient, url: StoreUrl) -> int:
    """Have a topic that loses nothing by itself; how long its messages may be.

    Raises:
        SienaError: if it is not as it must be, or no server answers.
    """
    try:
        topics = admin.list_topics(timeout=OPEN_SECONDS).topics
        if url.stream not in topics:
            _make(admin, url)
        partitions = _partitions(admin, url.stream)
        settings = _settings(admin, url.stream)
    except KafkaException as error:
        raise SienaError(
            f"{url.shown} does not answer: {error.args[0].str()}",
            hint="is a server of Kafka running there, and lets it make topics?",
        ) from None
    wrong = partition_faults(partitions, url.replicas)
    wrong = wrong or setting_faults(settings, url.replicas)
    if wrong:
        raise SienaError(
            f"the topic {url.stream} of {url.shown} is there, and {wrong}",
            hint="name another topic, which is then made, or change that one",
        )
    most = int(settings.get("max.message.bytes", _MESSAGE_BYTES))
    return most - _FRAME_BYTES


def _make(admin: AdminClient, url: StoreUrl) -> None:
    new = NewTopic(
        url.stream,
        num_partitions=1,
        replication_factor=url.replicas,
        config=wanted_settings(url.replicas),
    )
    made: Future[Any]
    (made,) = admin.create_topics(
        [new], operation_timeout=OPEN_SECONDS, request_timeout=OPEN_SECONDS
    ).values()
    try:
        made.result(OPEN_SECONDS + ANSWER_SECONDS)
    except KafkaException as error:
        # Another broker was quicker; how it is, is looked at.
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def _partitions(admin: AdminClient, topic: str) -> list[int]:
    """How many replicas each has, when all of them are led.

    A topic that was just made is not known to all servers at once.

    Raises:
        KafkaException: if they are not within some seconds.
    """
    pause = threading.Event()
    for _ in range(int(OPEN_SECONDS / RETRY_SECONDS)):
        found = admin.list_topics(topic, timeout=OPEN_SECONDS).topics[topic]
        partitions = list(found.partitions.values())
        if partitions and all(each.leader >= 0 for each in partitions):
            return [len(each.replicas) for each in partitions]
        pause.wait(RETRY_SECONDS)
    raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))


def _settings(admin: AdminClient, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    asked: Future[Any]
    (asked,) = admin.describe_configs([resource], request_timeout=OPEN_SECONDS).values()
    entries = asked.result(OPEN_SECONDS + ANSWER_SECONDS)
    return {name: entry.value for name, entry in entries.items()}


def partition_faults(replicas: list[int], wanted: int) -> str:
    """What is wrong with the partitions, of each of which it is said how many have it.

    >>> partition_faults([3], 3), partition_faults([1, 1], 1)
    ('', 'it has 2 partitions, not 1')
    """
    if len(replicas) != 1:
        return f"it has {len(replicas)} partitions, not 1"
    if replicas[0] < wanted:
        return f"it has {replicas[0]} replicas, not {wanted}"
    return ""


def setting_faults(settings: Mapping[str, str], replicas: int) -> str:
    """What of the settings would lose something, or let it grow for ever.

    >>> setting_faults(wanted_settings(3), 3)
    ''
    >>> setting_faults(wanted_settings(1) | {"retention.ms": "604800000"}, 1)
    'it deletes what is old (retention.ms is 604800000, not -1)'
    """
    policies = {each.strip() for each in settings.get("cleanup.policy", "").split(",")}
    if policies != {"compact", "delete"}:
        said = settings.get("cleanup.policy", "not said")
        return f"its cleanup.policy is {said}, not compact,delete"
    for name, what in (("retention.ms", "old"), ("retention.bytes", "too much")):
        said = settings.get(name, "not said")
        if said != "-1":
            return f"it deletes what is {what} ({name} is {said}, not -1)"
    least = _most_of(replicas)
    if int(settings.get("min.insync.replicas", "1")) < least:
        return f"fewer than {least} replicas may acknowledge (min.insync.replicas)"
    if settings.get("unclean.leader.election.enable", "false") != "false":
        return "a replica that lacks something may lead (unclean.leader.election)"
    return ""
