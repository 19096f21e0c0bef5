"""Handlers: identities whose notifications go to a web hook, or to a mailbox.

From the ground up: ``limits``, ``targets``, ``letters`` → ``hook``, ``mail`` →
``courier`` → ``mapping``, the room's front.
"""
