"""The command line: one file per command.

``main`` is the entry point; it turns errors into exit codes and imports a command
only when it is called for, so that ``siena`` starts fast.
"""
