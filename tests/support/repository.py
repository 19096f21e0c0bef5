"""Where the repository is, for tests that read its documents and examples."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
