"""What every study needs: rows, where they are kept, and what is made of them.

From the ground up: ``rows`` → ``claim`` → ``intervals``, ``spoils`` → ``study`` →
``loading``, ``registry``, ``overriding``; ``sources`` → ``store`` → ``runner``,
``results``.  What readers get of it is made in ``reporting``.
"""
