"""The HTTP side of a broker: publish, subscribe, inspect.

A request goes through the ``door`` first; what is posted is then published by
``publish``, and all else is Starlette's.

From the ground up: ``limits``, ``faults`` → the room ``door``, ``cloud_events`` →
``body``, ``events``, ``json_requests`` → ``publish``, ``sse``, ``websocket``,
``inspect``, ``metrics``, ``identities`` → ``app`` → ``server``, the room's front.
"""
