"""Frames by the thousand: what a broker reads and writes in bulk.

From the ground up: ``split_frames`` cuts a stream into publications and other frames;
``receive_buffer`` has what came and is not complete yet; ``delivery_writer`` has
publications matched where they came, and lays out the deliveries of each connection;
``forward_runs`` are publications on their way between brokers, many with one head;
``acked_runs`` and ``relay_runs`` those of which it is said when they are stored.
The loops are in ``kernels``.  Frame by frame, the same is in
:mod:`siena.protocol.frames` and :mod:`siena.protocol.data_frames`.  ``delivery_runs``
is the other end, deliveries as a client reads them: plain Python, and all that a client
imports from here, for with the rest the engine and NumPy come along.
"""
