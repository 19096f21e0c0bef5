"""The wire: frames, lines and the rules of a conversation, without any input or output.

From the ground up: ``address``, ``limits``, ``error_codes`` → ``frames`` →
``control_frames``, ``log_frames``, ``data_frames``, ``pings`` →
``handshake``; ``peer_forms`` → ``peer_messages``, what routers tell each other;
``digests``; the room ``text``, for people; ``runs`` → ``server`` and ``client``, the
two ends; and ``fast``, frames by the thousand, for brokers: the only room here that
needs the engine.  docs/reference/protocol.md is the same for those who write a client
in another language.
"""
