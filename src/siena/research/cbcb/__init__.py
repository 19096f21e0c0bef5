"""CBCB, combined broadcast and content-based routing: how tables are filled.

*Receiver advertisements* push what a broker wants to all, and widen tables.
*Sender requests* pull it, and the *update replies* narrow tables again and repair them.
Notifications then travel on the tree of their source, where they are wanted.

From the ground up: ``messages``, ``broadcast``, ``frontier`` → ``table`` → ``node`` →
``world`` (many of them in virtual time) → ``run``.

Reference:
    Carzaniga, Rutherford and Wolf, INFOCOM 2004; our specification, C.5.
"""
