"""What each metric means, in one sentence: the HELP lines of ``/metrics``.

A test demands one for every counter of :mod:`siena.broker.counters`.
"""

HELP = {
    "build": "Version of the software, of Python, and whether kernels are compiled.",
    # Counters of the broker, since it started.
    "connections": "Connections accepted.",
    "connections_now": "Connections that are open now.",
    "connections_refused": "Connections refused for want of room or files.",
    "logins": "Connections whose other end has shown who it is.",
    "logins_refused": "Connections refused because what they showed was not accepted.",
    "subscriptions_now": "Interests of clients in force now.",
    "advertisements_now": "Advertisements of clients in force now.",
    "publications": "Notifications taken from clients.",
    "rejected": "Publications of clients that were refused.",
    "deliveries": "Notifications handed to clients, once for each connection.",
    "pattern_matches": "Sequences found for patterns of clients.",
    "lost": "Deliveries that a slow or absent client did not get.",
    "forwarded": "Notifications sent to neighbours.",
    "received": "Notifications got from neighbours.",
    "duplicates": "Notifications from neighbours that were known already.",
    "misplaced": "Notifications from neighbours that cannot come from there.",
    "router_out": "Routing messages sent to neighbours.",
    "router_in": "Routing messages got from neighbours.",
    "repaired": "Links whose neighbour was told everything again.",
    "silenced": "Links ended because nothing came from the neighbour any more.",
    "gaps": "Times in which something may have been lost, told to clients.",
    "relay_unassured": "Acknowledged elsewhere, sent to a neighbour without a store.",
    "relay_dropped": "Acknowledged, and not kept for a neighbour any longer.",
    "log_unreadable": "Offsets of a damaged log that durable readers do not get.",
    "relay_lag": "What is logged and a neighbour has not said to have, if it wants it.",
    "store_behind_bytes": "What the working copy has and the store has not.",
    "faults": "Errors sent to clients and neighbours.",
    "bytes_in": "Bytes read from connections.",
    "bytes_out": "Bytes written to connections.",
    "ticks": "Looks at what came over all connections, or at a large buffer of one.",
    "longest_tick_us_now": "Microseconds that the longest tick so far took.",
    # What there is now.
    "sessions": "Clients known, those who are away included.",
    "guests": "Clients that came by HTTP and are there now.",
    "links": "Links to neighbours that are up now.",
    "links_wanted": "Links that the broker was told to have.",
    "links_up": "Of these links, those that are up now.",
    "filters": "Different filters in the routing table.",
    "advertisements_held": "Different advertisements in the routing table.",
    # Histograms.
    "tick_seconds": "Seconds from when input is looked at until what it caused is "
    "written out, for all that came together.",
    "queue_bytes": "Bytes that wait to be sent now, by connection of a client.",
    # Handlers: web hooks and mail.
    "handler_delivered": "Notifications that web hooks and mailboxes took.",
    "handler_failed": "Notifications given up after the last attempt at a handler.",
    "handler_retried": "Further attempts at a handler after one that failed.",
    # What must not be lost: acknowledged publications and durable subscriptions.
    "durable_publishers": "Publishers of which it is known what they sent already.",
    "durable_acknowledged": "Publications acknowledged once they were on the disk.",
    "durable_again": "Publications that came again, and were acknowledged again.",
    "durable_subscriptions": "Durable subscriptions there are now.",
    "durable_lag": "Offsets from what is acknowledged to the end of the log.",
    "durable_found": "Notifications that match and are not acknowledged yet.",
    "durable_under_way": "Notifications delivered and not acknowledged yet.",
    "durable_readers": "Connections that share the durable subscription now.",
    "durable_dead": "Notifications given up, and published as dead letters.",
    # One line for each link, since it came up.
    "link_forwarded": "Notifications sent over the link since it came up.",
    "link_received": "Notifications got over the link since it came up.",
    "link_router_out": "Routing messages sent over the link since it came up.",
    "link_router_in": "Routing messages got over the link since it came up.",
}


def help_of(name: str) -> str:
    """The sentence for a metric.

    >>> help_of("lost")
    'Deliveries that a slow or absent client did not get.'
    """
    return HELP.get(name) or name.replace("_", " ")
