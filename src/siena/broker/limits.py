"""How much a broker takes on, unless its settings say otherwise."""

# What is put aside of one connection before somebody looks at it, unless one frame is
# longer; and what is looked at each time the loop comes round, before those who were
# not ready are asked again whether they take what is for them.
INPUT_BYTES_MAX = 256 * 1024
TURN_BYTES_MAX = 1024 * 1024
# How long all connections together, and one of them, are looked at before others have
# their turn: a PING waits for no more than a few of these.
TURN_SECONDS_MAX = 0.010
SLICE_SECONDS_MAX = 0.002
# What is read at once, of which half may have come earlier; and what is worth a tick of
# its own.
ROOM_BYTES = 512 * 1024
HERE_BYTES_MIN = 32 * 1024
# Who has published so much in a row of which nothing is wanted is read from in slices,
# one slice of all such connections each time the loop comes round, while others are
# served.
VAIN_BYTES_MIN = 64 * 1024
VAIN_SLICE_BYTES = HERE_BYTES_MIN
# What waits for one connection that reads slowly.
OUTPUT_BYTES_MAX = 16 * 1024 * 1024
# Answers beyond that: whoever asks and asks and reads nothing is shown the door.
REPLY_BYTES_MAX = 1024 * 1024
# Connections; the files that the system allows may be fewer.
CONNECTIONS_MAX = 100_000
# Those that come by HTTP and stay, and identities with handlers.
GUESTS_MAX = 10_000
# Files that no connection gets, so that logs, links and requests by HTTP go on when
# there are too many connections.
FILES_KEPT = 64
# Patterns of one connection: each of them looks at what it subscribes to.
PATTERNS_MAX = 1_024
# How long announcements to neighbours may wait for others, to be sent together: a
# subscription is settled no sooner.
BATCH_SECONDS_MAX = 60.0
# Pairs of filters that are compared to end all that one interest covers, which nobody
# else can be served meanwhile: enough for all subscriptions of a connection.
COMPARISONS_MAX = 262_144
# Identities of which something is kept while they are away.
IDENTITIES_MAX = 100_000
# How long a connection may take to say who it is; a person has to read the greeting
# first.
HANDSHAKE_SECONDS_MAX = 60.0
# How long a broker that ends waits until everybody has read what is left.
DRAIN_SECONDS_MAX = 5.0

# How long interests must rest before they are compiled anew, in a thread; and how long
# that is waited for.
UPKEEP_SECONDS = 0.25
UPKEEP_SECONDS_MAX = 10.0
