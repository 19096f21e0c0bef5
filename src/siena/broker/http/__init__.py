"""The HTTP side of a broker: publish, subscribe, watch.

From the ground up: ``limits``, ``faults`` → ``guard``, ``cloud_events`` → ``reading``,
``events``, ``json_requests`` → ``publishing``, ``subscribing``, ``conversing``,
``watching``, ``metrics``, ``identities`` → ``app`` → ``server``, the room's front.
"""
