"""Who is at the other end, and what they may.

From the ground up: ``principal`` (who has come).  It knows no sockets: connections and
requests are given a principal where they begin, and keep it.
"""
