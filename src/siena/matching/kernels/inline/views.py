"""Arrays as what a plain kernel indexes: views whose items are Python's own.

Compiled, each of these is the address of the first item.
"""

ints = octets = shorts = longs = words = doubles = memoryview
