"""Commands about texts, files and tables; most of them need no broker."""
