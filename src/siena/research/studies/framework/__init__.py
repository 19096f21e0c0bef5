"""What every study needs: rows, where they are kept, and what is made of them.

From the ground up: ``rows`` → ``claim`` → ``intervals``, ``spoils`` → ``study``,
``drawing`` → ``registry``; ``sources`` → ``store`` → ``runner``, ``results`` →
``summary`` → ``report``, ``markdown``, ``comparison``.
"""
