"""How much is remembered so that nothing is lost, and nothing stored twice."""

# Publishers whose numbers are remembered; the one that was silent longest is forgotten,
# and what it then sends again may be stored again.
PUBLISHERS_MAX = 10_000
# Stretches of sequence numbers that are remembered of one publisher, with where they
# are in the log; what is below them is taken for stored.
STRETCHES_MAX = 1_024
# Streams that come from other brokers: of each life of a broker what comes from one
# neighbour; the one that was silent longest is forgotten.  And stretches of their
# numbers, of which most are apart, as only some of a broker's publications come.  What
# comes again later than that is known by its order if there is one way, and stored
# again if there are several: it may be what waited for a link for long.
STREAMS_MAX = 4_096
STREAM_STRETCHES_MAX = 262_144
# Lives of this broker that are remembered; what is in the log of older ones counts as
# of the oldest that is.
LIVES_MAX = 1_024
# What a neighbour is sent before it has said that it has stored it: in all, and in one
# frame unless a single publication is longer; and what is read of the log at once.
RELAY_BYTES_MAX = 4 * 1024 * 1024
RELAY_FRAME_BYTES = 128 * 1024
# For how long after a neighbour is back what it wanted before stays wanted: those
# behind it may not be back yet.
RELAY_GRACE_SECONDS = 10.0
# Neighbours that are waited for no more, and are remembered so that they hear of that
# when they come back after all; the one that went first is forgotten.
RELAYS_GONE_MAX = 1_024
# How many filters of a neighbour are written down, so that they outlive the broker.
RELAY_FILTERS_MAX = 100_000
# Durable subscriptions of a broker, and what each has found and not got acknowledged:
# beyond that, the log is looked at when there is room.
DURABLES_MAX = 100_000
FOUND_MAX = 2_048
# What a reader may have without an answer, unless a single one is longer; and what one
# subscription is sent before others have their turn.
CREDIT_BYTES = 4 * 1024 * 1024
DISPATCH_MAX = 500
# What is looked at of the log at once, for those who are behind.
SWEEP_BYTES = 128 * 1024
# What was written last and is still at hand.
RECENT_BYTES_MAX = 8 * 1024 * 1024
# How many notifications the log has grown by when it is written down again how far
# publishers are; so many are looked through at the next start.
CHECKPOINT_OFFSETS = 100_000
