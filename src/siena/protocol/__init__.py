"""The wire: frames, lines and the rules of a conversation, without any input or output.

From the ground up: ``limits``, ``faults`` → ``frames``, ``line_splitter`` → ``bodies``,
``deliveries``, ``contents``, ``pings`` → ``greeting``; ``forms`` → ``telling``, what
routers tell each other; ``lines``, ``answers`` → ``line_mode``, for people; ``runs`` →
``server`` and ``client``, the two ends.  docs/reference/protocol.md is the same for
those who write a client in another language.
"""
