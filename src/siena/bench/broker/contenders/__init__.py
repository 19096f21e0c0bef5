"""The servers that are measured: a ``contender`` each, ours and other makers'."""
