"""A broker's log as a table or a stream of Spark, and back.

``data_source`` is the front; ``log_reading`` plans and reads, ``publishing`` stages and
publishes.
"""
