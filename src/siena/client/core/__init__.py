"""What a client is made of; programs use :mod:`siena.client`.

From the ground up: ``backoff``, ``coding``, ``inbox``, ``pending``, ``traces``,
``transport`` (one connection) → ``registrations`` (what must be asked for again) →
``session`` (what was said and is waited for, across connections) → ``reconnect`` (one
connection after another), ``publisher`` → ``thread_queue``, ``loop_thread``.
"""
