"""How much waits for a stream, and for how long."""

# What one piece of a stream holds, unless the server takes less: records go together
# up to this, and what is longer goes in parts.
PIECE_BYTES = 256 * 1024
# A server that takes no more than this cannot keep a log.
MESSAGE_BYTES_MIN = 8 * 1024
# How many messages are under way to the server without an answer.
UNDER_WAY_MAX = 16
# What may be in the working copy and not in the stream; then publishers wait.  So they
# do when the server has not answered for so long.
BEHIND_BYTES_MAX = 64 * 1024 * 1024
PATIENCE_SECONDS = 10.0
# How long a server may take for an answer, and how long it is let alone after an error.
ANSWER_SECONDS = 3.0
RETRY_SECONDS = 0.25
# How long it is waited for at the start, and at the end for what it has not got.
OPEN_SECONDS = 15.0
# How long it is tried without an answer where the broker itself waits: at its start,
# until the stream has what the folder has.
SYNC_SECONDS = 15.0
CLOSE_SECONDS = 5.0
# After which time the servers of Kafka undo a transaction of which they hear nothing.
TRANSACTION_SECONDS = 10.0
# How many places before the end of a topic the last message is looked for at first.
LOOK_BACK = 4
# How often the small files are kept, if nobody waits for it: no more of them in a
# second than this.
STATE_SECONDS = 1.0
STATE_BYTES_PER_SECOND = 1024 * 1024
# What is read of a stream at a time: no more than comes within the time for an answer,
# over a slow line, too.
READ_MESSAGES = 256
READ_BYTES = 512 * 1024
# How often a broker that takes over tries to be behind the last message of another.
TAKE_OVER_TRIES = 20
