"""Identities whose notifications go to a web hook, or to a mailbox.

From the ground up: ``limits``, ``targets``, ``letters`` → ``http``, ``mail`` →
``delivery``, ``durable`` → ``remembered`` → ``mapping``, the room's front.
"""
