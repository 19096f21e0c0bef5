"""What the pages of ``siena serve`` see of the network.

``looking_around`` has all of it, and ``links`` one link of a broker that is elsewhere.
"""
