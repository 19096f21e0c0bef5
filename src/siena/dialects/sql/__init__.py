"""SQL selectors: conditions on the properties of messages.

Three makers write nearly the same language: JMS (``sql``), AMQP's filter expressions
(``amqp``) and Azure's rules (``azure``).

``variants`` says where they differ; ``tokens``, ``strictness`` → ``names``; with
``values`` and ``defaults`` → ``reader``; ``settling`` knows what a comparison of unlike
values is.

Reference:
    Jakarta Messaging 3.1, section 3.8; AMQP Filter Expressions 1.0, section 6; Azure
    Service Bus, "Subscription rule SQL filter syntax".
"""

from siena.dialects.sql.reader import read_sql

__all__ = ["read_sql"]
