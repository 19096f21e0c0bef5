"""The wire: frames, lines and the rules of a conversation, without any input or output.

From the ground up: ``limits``, ``faults`` → ``frames`` → ``deliveries``, ``bodies``,
``greeting``, ``gathering``.  ``docs/reference/protocol.md`` says the same to those who
write a client in another language.
"""
