"""What a broker's process does about memory.

**Pages that a tick takes and gives back are kept for the next one.**  The C library
gives the end of its heap back to the system as soon as some hundred kilobytes of it are
free, and then every tick of a busy broker asks for the same pages again, each of which
the system clears first: a fifth of all it does.

**The collector of garbage never looks again at what has stayed.**  Python looks for
objects that hold each other and are held by nothing else.  What has survived is looked
at again and again, all at once: with a hundred thousand interests, a broker is silent
for a second each time.  Interests are in no such circles, nor are connections that have
ended, as a test sees to.  So what survives a collection is set aside for good, and each
looks at no more than what came since the one before, once.
"""

import ctypes
import gc

# What may lie idle: several times as much as the largest tick takes.
KEPT_BYTES = 67_108_864
# Numbers of the settings in glibc's malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_MMAP_THRESHOLD_MAX = 33_554_432  # glibc refuses more

# After how many objects more a collection follows: it takes some milliseconds.  With
# fewer, more of what is about to end would be set aside with the rest; and after each
# there are none that a collection of older ones would look at.
YOUNGEST_MAX = 50_000


def keep_memory() -> bool:
    """Keep what is freed, up to a bound; whether this C library can be told so."""
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # there is no such library on Windows
        return False
    adjust.argtypes = (ctypes.c_int, ctypes.c_int)
    adjust.restype = ctypes.c_int
    return bool(
        adjust(_MMAP_THRESHOLD, _MMAP_THRESHOLD_MAX)
        and adjust(_TRIM_THRESHOLD, KEPT_BYTES)
    )


def spare_what_stays() -> None:
    """Look at nothing again that a collection has left; in a broker's process."""
    gc.set_threshold(YOUNGEST_MAX)
    # The first and longest one without the callback: Python would drop what a signal
    # raises in it, and Ctrl-C with it.
    gc.collect()
    gc.freeze()
    if _set_aside not in gc.callbacks:
        gc.callbacks.append(_set_aside)


def look_at_what_came() -> None:
    """Collect now, and set aside, what would be looked at later at once with more.

    For work that makes many objects which stay, and must not be silent for long; where
    nothing is set aside, nothing is done: a full collection would look at everything.
    """
    if _set_aside in gc.callbacks:
        gc.collect()


def _set_aside(phase: str, _info: dict[str, int]) -> None:
    if phase == "stop":
        gc.freeze()
