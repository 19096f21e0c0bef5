"""The console: pages for people who look after a broker, at the root of its HTTP side.

``static`` has the pages, which need nothing from elsewhere; ``files`` serves them;
``around`` answers what a page asks about the network.  The room decides nothing and
knows no broker: ``siena serve`` mounts it beside ``/api``, whose rules hold for what is
shown.
"""
