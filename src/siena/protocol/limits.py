"""How long and how many: the limits of what travels.

A server tells its own in the greeting; these are the highest that it may tell.  That of
one notification is :data:`siena.block.BLOCK_BYTES_MAX`.
"""

# A frame without its length: a notification of the greatest size, and what stands
# before it in a delivery to very many subscriptions.
FRAME_BYTES_MAX = 2_097_152
# An interest that one broker tells another: a frame, without what stands around it.
TELL_BYTES_MAX = FRAME_BYTES_MAX - 1_024
# Subscriptions of one connection; a delivery counts them in 16 bits.
SUBSCRIPTIONS_MAX = 65_535
# Advertisements of one connection.
ADVERTISEMENTS_MAX = 1_024
# CONNECT, without its length: nobody has to keep more for somebody unknown.
CONNECT_BYTES_MAX = 32_768
# What a PING carries, and its PONG brings back.
PING_BYTES_MAX = 64
# A line in the line mode, and the greeting.
LINE_BYTES_MAX = 1_114_112
# The name of a broker, a client or an identity.
NAME_CHARACTERS_MAX = 255
# Notifications in one match of a pattern: a pattern has so many steps.
SEQUENCE_MAX = 64
# The text of an error.
ERROR_CHARACTERS_MAX = 4_096
# What LOOK shows of a table: unless said otherwise, and at most.
LOOK_DEFAULT = 100
LOOK_MAX = 1_000
# Addresses of a broker that asks for a link.
URLS_MAX = 8
# What a broker that asks for a link says that it understands.
FEATURES_MAX = 64
# Subscription and advertisement numbers, chosen by the client.
NUMBER_MAX = 0xFFFFFFFF
# The weight of a link between brokers; it is above 0.
WEIGHT_MAX = 1_000_000_000
# What a parcel says of what the old broker has seen: brokers, and bytes for each.
WINDOWS_MAX = 2_000
WINDOW_BYTES_MAX = 512
# And keys of what was kept, for brokers that know no better.
KEYS_MAX = 10_000
# Filters that a broker says are not assured behind it, and their characters; beyond
# that it says that nothing is.
UNASSURED_MAX = 1_000
UNASSURED_CHARACTERS_MAX = 65_536
# A place in a log, and the number of a batch: what msgpack and SQL have in 64 bits.
OFFSET_MAX = 2**63 - 1
# What READ brings at most: notifications, and bytes of them unless one is larger.
READ_COUNT_MAX = 65_536
READ_BYTES_MAX = 1_048_576
# The number of a publisher at a broker, and that of one of its publications: a record
# of the log has both in 63 bits.
PUBLISHER_MAX = 2**24 - 1
SEQUENCE_NUMBER_MAX = 2**39 - 1
# What a reader of a durable subscription may have without an answer: unless that is
# said, and at most; what one ACK or NAK names; and how long anything waits for one.
CREDIT_DEFAULT = 1_000
CREDIT_MAX = 65_535
ACKS_MAX = 65_535
ACK_WAIT_SECONDS_MAX = 86_400
# The name of a part of a batch, drawn at random; and the parts of one batch.
PART_NAME_BYTES = 16
PARTS_MAX = 65_536
