"""The command line: one file per command, in rooms by what it is about.

``main`` is the entry point; it turns errors into exit codes and imports a command
only when it is called for, so that ``siena`` starts fast.  ``service`` has the commands
that run brokers and talk to them, ``data`` those about files, texts and tables, ``sim``
simulated networks, ``lab`` studies and benchmarks, ``demo`` the demonstration, and
``common`` what they share.
"""
