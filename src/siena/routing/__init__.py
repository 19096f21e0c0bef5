"""What a broker decides: pure, and the same in production and in simulation.

From the ground up: ``options`` → ``interest_table`` → the room ``demand`` (what a
neighbour must hear) → ``neighbour``; the room ``topology`` (ways through networks); all
of these → ``tables`` → ``forwarding``, the room ``stamps`` (whose publications were
seen), ``questions`` → ``settling``; ``registrations``, ``mailbox`` and ``handoff`` →
``clients``; ``quenching`` → ``flat`` is about publishers, the room ``patterns`` about
sequences, the room ``steps`` about what takes long; ``router`` puts them together.
"""
