"""Counting kernel."""

import cython

COMPILED = cython.compiled
