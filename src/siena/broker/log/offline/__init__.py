"""A log that no broker has open: ``folder`` looks through it, and repairs it.

``small_files`` does so with what stands beside it: cursors, readers, identities.
"""
