"""Many frames at once: what a broker reads in bulk, and where it waits until then.

From the ground up: ``split_frames`` (a buffer, cut into runs of publications and other
frames), ``receive_buffer`` (what came and is not complete yet).
"""
