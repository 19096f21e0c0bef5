"""How much the HTTP side takes on."""

# What is posted at once: its bytes, the notifications in it, and how long it may take
# to come.
BODY_BYTES_MAX = 4 * 1024 * 1024
NOTIFICATIONS_MAX = 50_000
BODY_SECONDS_MAX = 30.0
# The head of a request, beyond what comes together with its beginning.
HEAD_BYTES_MAX = 64 * 1024
# And how long it may take to come.
HEAD_SECONDS_MAX = 20.0
# Notifications that are read before others have their turn.
READ_AT_ONCE = 256
# Filters in the address of one subscription.
FILTERS_MAX = 64
# How often somebody to whom nothing happens is shown that we are still there; so we
# notice as well if they are not.
HEARTBEAT_SECONDS = 15.0
# What is written to a stream at once.
STREAM_BYTES_AT_ONCE = 64 * 1024
# How long somebody who publishes waits for a reader that everybody waits for.
HOLD_SECONDS_MAX = 10.0
# Connections, those that stay and those that ask once.
CONNECTIONS_MAX = 11_000
# How long a server that ends waits for its last answers.
DRAIN_SECONDS_MAX = 2
