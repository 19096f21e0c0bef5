"""What a router spends on interests: two of them, linked by function calls.

``routers`` measures, ``report`` prints.
"""
