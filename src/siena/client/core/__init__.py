"""What a client is made of; programs use :mod:`siena.client`.

From the ground up: ``backoff``, ``inbox``, ``pending``, ``timing``, ``traces``,
``transport`` (one connection) → ``registrations``, ``registered_durable`` (what must
be asked for again) → ``session`` (what was said and is waited for, across
connections) → ``reconnect`` (one connection after another), ``publisher``,
``acked_publisher``, ``reading`` (what handles have in common) → ``loop_thread``.
"""
