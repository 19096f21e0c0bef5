"""How long a block may be."""

# One notification, as it travels and is kept: far above honest use, and small enough
# that a thousand of them fit into a broker's memory.
BLOCK_BYTES_MAX = 1_048_576
