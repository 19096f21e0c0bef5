"""Memory that a turn takes and gives back is kept for the next one.

The C library gives the end of its heap back to the system as soon as some hundred
kilobytes of it are free, and then every turn of a busy broker asks for the same pages
again, each of which the system clears first: a fifth of all it does.
"""

import ctypes

# What may lie idle: several times as much as the largest turn takes.
KEPT_BYTES = 67_108_864
# Numbers of the settings in glibc's malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_MMAP_THRESHOLD_MAX = 33_554_432  # glibc refuses more


def keep_memory() -> bool:
    """Keep what is freed, up to a bound; whether this C library can be told so."""
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    adjust.argtypes = (ctypes.c_int, ctypes.c_int)
    adjust.restype = ctypes.c_int
    return bool(
        adjust(_MMAP_THRESHOLD, _MMAP_THRESHOLD_MAX)
        and adjust(_TRIM_THRESHOLD, KEPT_BYTES)
    )
