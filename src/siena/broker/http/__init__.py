"""The HTTP side of a broker: publish, subscribe, inspect.

From the ground up: ``limits``, ``faults`` → ``guard``, ``cloud_events`` → ``body``,
``events``, ``json_requests`` → ``publish``, ``sse``, ``websocket``, ``inspect``,
``metrics``, ``identities`` → ``app`` → ``server``, the room's front.
"""
