"""Who is at the other end, and what they may.

From the ground up: ``principal`` (who has come) and ``settings`` → ``credentials`` (the
file), ``passwords``, ``json_web_tokens``, ``certificates`` and ``attempts`` →
``authenticator``, which makes of what is shown a principal → ``leases`` (when that
ends).  What a principal may is in the room ``grants`` → ``gate``, the one place at
which it is decided, with ``quotas`` (how much it may take) and ``audit`` (what is
written down of it) → ``opening`` (what the settings say of all that).  ``issuing``
makes certificates for tests.  It knows no sockets: connections and requests are given a
principal where they begin, and keep it.
"""
