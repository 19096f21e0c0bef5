"""How hard a broker tries to reach a handler."""

# Notifications in one letter.
LETTER_MAX = 100
# How often a letter is sent before it is given up; how long to wait before the second
# time, and at most.
ATTEMPTS_MAX = 5
RETRY_SECONDS = 0.2
RETRY_SECONDS_MAX = 10.0
# How long one attempt may take.
ATTEMPT_SECONDS_MAX = 10.0
# Web hooks that are called at the same time, of all identities.
CALLS_MAX = 100
# How long a broker that ends waits for letters on their way.
DRAIN_SECONDS_MAX = 2.0
# So long a durable subscription waits for its delivery, which may have to bring each of
# a letter's notifications alone.
ANSWER_SECONDS_MAX = LETTER_MAX * ATTEMPT_SECONDS_MAX
# How long a request waits until the network knows what a handler wants.
BEGIN_SECONDS_MAX = 10.0
