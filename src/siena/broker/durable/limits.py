"""How much is remembered so that nothing is lost, and nothing stored twice."""

# Publishers whose numbers are remembered; the one that was silent longest is forgotten,
# and what it then sends again may be stored again.
PUBLISHERS_MAX = 10_000
# Stretches of sequence numbers that are remembered of one publisher, with where they
# are in the log; what is below them is taken for stored.
STRETCHES_MAX = 1_024
# How many notifications the log has grown by when it is written down again how far
# publishers are; so many are looked through at the next start.
CHECKPOINT_OFFSETS = 100_000
