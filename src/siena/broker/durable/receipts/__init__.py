"""Publications with a receipt: numbered by their publishers, and stored once.

From the ground up: ``window`` (which of one publisher are stored) → ``publishers`` (all
of them, through restarts) → ``refusing``, ``acknowledging`` (a receipt for each
publication, when the disk has it).
"""
