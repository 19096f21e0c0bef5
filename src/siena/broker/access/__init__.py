"""Who is at the other end, and what they may.

From the ground up: ``principal`` (who has come) and ``settings`` → ``credentials`` (the
file), ``passwords``, ``json_web_tokens``, ``certificates`` and ``attempts`` →
``authenticator``, which makes of what is shown a principal → ``leases`` (when that
ends).  ``issuing`` makes certificates for tests.  It knows no sockets: connections and
requests are given a principal where they begin, and keep it.
"""
