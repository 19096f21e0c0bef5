"""A broker's log as a table or a stream of Spark, and back.

``data_source`` is the front; ``log_reading`` plans and reads, ``durable_reading`` by
the cursor of a durable subscription, ``publishing`` stages and publishes.
"""
