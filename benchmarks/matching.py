"""How fast is matching?  ``siena bench match`` with its defaults, or other options.

.venv/bin/python benchmarks/matching.py --names 50 --distribution uniform
"""

import sys

from siena.cli.main import main

if __name__ == "__main__":
    sys.argv[1:1] = ["bench", "match"]
    main()
