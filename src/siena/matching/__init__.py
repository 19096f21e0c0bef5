"""From notifications to those who want them.

``pattern`` and ``compound`` find combinations of notifications in a stream; each is
a small machine without a clock, fed by whoever owns the stream.
"""
