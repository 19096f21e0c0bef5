"""What must not be lost: publications with a receipt, and reading that is remembered.

From the ground up: ``limits``, ``checked_file`` (a small thing on the disk) →
``window`` (which publications of one publisher are stored) → ``publishers`` (all of
them, through restarts) → ``acknowledging`` (a receipt for each publication, when the
disk has it) → ``service`` (what clients ask for),
``over_http`` (the same, posted).
"""
