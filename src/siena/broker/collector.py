"""The collector of garbage never looks again at what has stayed.

Python looks for objects that hold each other and are held by nothing else.  What has
survived is looked at again and again, all at once: with a hundred thousand interests, a
broker is silent for a second each time.  Interests are in no such circles, nor are
connections that have ended, as a test sees to.  So what survives a full collection is
set aside for good, and each looks at no more than what came since the one before.
"""

import gc

# After how many objects more a collection of the youngest follows; after how many of
# these one of the younger ones; and after how many of those a full one, which is at
# once: what stays is looked at twice, and not three times, before it is set aside.
YOUNGEST_MAX = 5_000
YOUNGER_MAX = 10
FULL_MAX = 0
_OLDEST = 2


def spare_what_stays() -> None:
    """Look at nothing again that a full collection has left; in a broker's process."""
    gc.set_threshold(YOUNGEST_MAX, YOUNGER_MAX, FULL_MAX)
    if _set_aside not in gc.callbacks:
        gc.callbacks.append(_set_aside)
    gc.collect()


def _set_aside(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] == _OLDEST:
        gc.freeze()
