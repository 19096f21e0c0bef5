"""Benchmarks: how fast it is, here, against its baselines in the same run.

``match`` measures matchers beside each other, ``broker`` servers under load (ours and
other makers'), ``durable`` publications that are acknowledged, ``network`` networks of
real brokers and large simulated ones, ``covering`` what a router spends on interests,
``front`` what programs talk to: HTTP and the Python client.  Nothing of the product
imports any of it; the commands are in ``siena.cli.lab``.
"""
