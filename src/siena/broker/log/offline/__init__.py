"""A log that no broker has open: ``folder`` looks through it, and repairs it."""
