"""The console: pages for people who look after a broker, at the root of its HTTP side.

``static`` has the pages, which need nothing from elsewhere; ``files`` serves them;
``questions`` answers what a page asks about filters, with the algebra, from what the
page sends.  The room decides nothing and knows no broker: ``siena serve`` mounts it
beside ``/api``, whose rules hold for what is shown.
"""
