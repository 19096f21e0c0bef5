"""The ``siena`` command, run in this process.

A process of its own spends half a second of processor on imports before it does
anything.  So the tests of a command have one such process, which shows that it works
from a shell, and ask what else there is to ask here: by the same ``main``, with files
as its stdin, stdout and stderr.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from unittest.mock import patch

from siena.cli.main import main


def siena(
    *words: str | Path, cwd: Path | None = None, stdin: str = ""
) -> CompletedProcess[str]:
    """What the command prints, and its exit code."""
    arguments = ["siena", *map(str, words)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (folder / "in").write_text(stdin, encoding="utf-8")
        streams = {
            "stdin": stack.enter_context((folder / "in").open(encoding="utf-8")),
            "stdout": stack.enter_context((folder / "out").open("w", encoding="utf-8")),
            "stderr": stack.enter_context((folder / "err").open("w", encoding="utf-8")),
        }
        stack.enter_context(_as_descriptor_0(streams["stdin"].fileno()))
        if cwd is not None:
            stack.enter_context(chdir(cwd))
        stack.enter_context(patch.object(sys, "argv", arguments))
        for name, stream in streams.items():
            stack.enter_context(patch.object(sys, name, stream))
        code: object = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code
        assert isinstance(code, int), code
        streams["stdout"].flush()
        streams["stderr"].flush()
        said, complained = (
            (folder / name).read_text(encoding="utf-8") for name in ("out", "err")
        )
    return CompletedProcess(arguments, code, said, complained)


@contextmanager
def _as_descriptor_0(file: int) -> Iterator[None]:
    """Let a file be what the process reads, for commands that ask for it by number."""
    kept = os.dup(0)
    os.dup2(file, 0)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)
