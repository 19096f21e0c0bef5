"""The command line: one file per command, in rooms by what it is about.

``main`` is the entry point; it turns errors into exit codes and imports a command
only when it is called for, so that ``siena`` starts fast.  ``service`` has the commands
that run brokers and talk to them, ``log`` those about the folder of a log, ``access``
those about who may come and what they may, ``data`` those about files, texts and
tables, ``rules`` those about sets of rules, ``sim`` simulated networks, ``study`` the
studies, ``lab`` benchmarks and chaos, and ``demo`` the demonstration.  ``console`` is
what the pages of ``siena serve`` see of the network, ``terminal`` what a command has to
do with its terminal, and ``common`` what commands share.
"""
