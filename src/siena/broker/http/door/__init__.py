"""The door of the HTTP side: which requests are let in, and who sends them.

``guard`` (no other site has made a browser send it) → ``authentication`` (who it is).
"""
