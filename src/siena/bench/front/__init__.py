"""``siena bench http`` and ``siena bench client``: what programs talk to.

From the ground up: ``quotes`` (what is published), ``measured`` (figures of rounds, and
their table) → ``empty_app`` and ``client_process``, which are processes of their own →
``servers`` → ``readers`` → ``streams``, ``posts`` and ``clients``: the questions.
"""
