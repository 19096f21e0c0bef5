"""``python -m siena`` is the ``siena`` command."""

from siena.cli.main import main

if __name__ == "__main__":
    main()
