"""How much a broker takes on, unless its settings say otherwise."""

# What waits for one connection that reads slowly.
OUTPUT_BYTES_MAX = 16 * 1024 * 1024
# Answers beyond that: whoever asks and asks and reads nothing is shown the door.
REPLY_BYTES_MAX = 1024 * 1024
# Connections; the files that the system allows may be fewer.
CONNECTIONS_MAX = 100_000
# Files that are open beside connections: logs, listening sockets, the loop's own.
FILES_KEPT = 64
# Patterns of one connection: each of them looks at what it subscribes to.
PATTERNS_MAX = 1_024
# Identities of which something is kept while they are away.
IDENTITIES_MAX = 100_000
# What is kept for one identity that is away, whatever it asks for.
KEPT_BYTES_MAX = 64 * 1024 * 1024
# How long a connection may take to say who it is.
CONNECT_SECONDS_MAX = 10.0
# How long a broker that ends waits until everybody has read what is left.
DRAIN_SECONDS_MAX = 5.0
