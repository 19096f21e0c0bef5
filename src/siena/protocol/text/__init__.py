"""The text mode, for people with netcat: one request a line, answers as JSON.

From the ground up: ``splitter`` (lines out of a stream), ``transcripts`` (deliveries as
text, once for all) → ``requests``, ``output`` → ``mode`` (what is typed, as events).
"""
