"""How much a log keeps, unless the settings say otherwise."""

# All files of notifications together, and one of them: room is given back file by file.
LOG_BYTES = 1024 * 1024 * 1024
SEGMENT_BYTES = 64 * 1024 * 1024
# The smallest that make sense, and how many files there are at least in a full log.
SEGMENT_BYTES_MIN = 4_096
SEGMENTS_MIN = 4
# What batches of sinks may use beyond a full log, as a share of it: who reads from a
# log and writes to it makes room only after what was read has been written.
SINK_SHARE = 0.25
# What one record holds at most; more that came at once becomes several.
RECORD_BYTES_MAX = 8 * 1024 * 1024
RECORD_COUNT_MAX = 1_048_576
# How many offsets are allowed at once: after a loss of power as many may be left out.
OFFSETS_ALLOWED = 1_048_576
# What is read from the disk for one READ.
SCAN_BYTES_MAX = 4 * 1024 * 1024
# What is kept in memory of what the disk does not take; publishers are held long
# before, but neighbours of a mesh are not.
UNWRITTEN_BYTES_MAX = 64 * 1024 * 1024
# Every so many bytes of a file it is remembered which offset is where.
INDEX_BYTES = 65_536
# Readers, and how long one is remembered that says nothing.
READERS_MAX = 1_000
READER_SECONDS = 3 * 24 * 3600.0
# Queries whose last batch is remembered; the one that was quiet longest is forgotten.
QUERIES_MAX = 1_000
# Parts that are staged at a time, all of their bytes on disk, and without a disk; and
# how long they are kept.
PARTS_STAGED_MAX = 10_000
STAGED_BYTES = 1024 * 1024 * 1024
STAGED_BYTES_IN_MEMORY = 64 * 1024 * 1024
STAGED_SECONDS = 3600.0
# Compiled filters that are kept for the next READ.
RECORD_FILTERS_MAX = 64
# How often the log is written to the disk, looked through for what is old, and tried
# again after an error; and how often those who wait are told that somebody is there.
TICK_SECONDS = 1.0
SIGN_OF_LIFE_TICKS = 5
# How long what is acknowledged is kept for a neighbour whose link is broken.
SPOOL_SECONDS = 86_400.0
