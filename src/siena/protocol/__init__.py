"""The wire: frames, lines and the rules of a conversation, without any input or output.

From the ground up: ``address``, ``limits``, ``error_codes`` → ``frames`` →
``control_frames``, ``log_frames``, ``data_frames``, ``pings`` →
``handshake``; ``peer_forms`` → ``peer_messages``, what routers tell each other;
``digests``; the room ``text``, for people; the room ``fast``, for many frames at
once; the room ``durable``, the frames of what must not be lost; ``states`` →
``server``, and ``client``: the two ends.

docs/reference/protocol.md is the same for those who write a client in another language.
"""
