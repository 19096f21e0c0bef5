"""Stores: where a broker's log is kept, by itself or by servers of other makers.

``log_store`` is what a broker asks of a store.  The default is a folder
(``broker/log/store.py``).  The rest of this room keeps it in a stream of other makers'
servers as well: the folder is then a *working copy*, which is written first and read
always; nothing is acknowledged before the stream has it, too, and where the folder is
lost it is made anew from the stream (decision 46).

From the ground up: ``limits``, ``url``, ``credentials``, ``stream`` (what is asked of a
stream) → ``jetstream`` (one of NATS), ``kafka`` with ``kafka_topic`` (one of Kafka) and
``pieces`` (what stands in it) → ``writer`` (the one that writes) → ``states`` (the
small files beside the log) → ``working_copy`` (whether a folder is one, and making it)
→ ``remote_store`` → ``opening`` (which store the settings mean).
"""
