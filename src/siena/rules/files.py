"""Rule sets from a file or a folder: the one module here that reads from a disk."""

from collections.abc import Iterator
from pathlib import Path

from siena.errors import LimitError, SienaError
from siena.rules.entry import RuleEntry, RuleSet, SetAside
from siena.rules.rows import csv_entries, json_entries
from siena.rules.sigma_files import sigma_entries

# A file with rules: as many as a set may have, of usual length.
FILE_BYTES_MAX = 256 * 1_048_576
# Files in a folder that are looked at.
FILES_MAX = 200_000
_YAML = {".yml", ".yaml"}
_LINES = {".ndjson", ".jsonl"}
# A rule each, in the dialect that the caller names.
_TEXTS = {".json", ".sql", ".txt", ".cesql", ".siena"}


def load_rules(path: Path | str, *, dialect: str | None = None) -> RuleSet:
    """The rules of a file, or of all files in a folder and below it.

    Files are Sigma rules (``.yml``), tables of rules (``.csv``, and ``.ndjson`` with
    an object on each line), and, where a ``dialect`` is named, a rule in it each
    (``.json``, ``.sql``, ``.txt``, …), with the name of the file as its id.  In tables
    the ``dialect`` is that of rows that name none.

    Raises:
        SienaError: if there is nothing at that path, or no rule in it.
    """
    path = Path(path)
    if path.is_dir():
        found = RuleSet(_of_folder(path, dialect))
    else:
        found = RuleSet(_of_file(path, str(path), dialect))
    if not len(found) and not found.set_aside:
        raise SienaError(f"{path}: there are no rules in it", hint=_hint(dialect))
    return found


def _hint(dialect: str | None) -> str:
    if dialect is None:
        return "rules are .yml (Sigma), .csv and .ndjson; others need a dialect"
    return f"rules are .yml, .csv, .ndjson, {', '.join(sorted(_TEXTS))}"


def _of_folder(folder: Path, dialect: str | None) -> Iterator[RuleEntry | SetAside]:
    known = _YAML | _LINES | {".csv"} | (_TEXTS if dialect else set())
    paths: list[Path] = []
    for path in folder.rglob("*"):
        if path.suffix.lower() in known and path.is_file():
            paths.append(path)
            if len(paths) > FILES_MAX:
                raise LimitError("FILES_MAX", FILES_MAX, "files in a folder of rules")
    for path in sorted(paths):
        name = path.relative_to(folder).as_posix()
        try:
            yield from _of_file(path, name, dialect)
        except SienaError as error:
            yield SetAside(name, str(error))


def _of_file(
    path: Path, name: str, dialect: str | None
) -> Iterator[RuleEntry | SetAside]:
    if path.is_file() and path.stat().st_size > FILE_BYTES_MAX:
        raise LimitError("FILE_BYTES_MAX", FILE_BYTES_MAX, "bytes in a file of rules")
    text = _text(path, name)
    suffix = path.suffix.lower()
    lines = f"{name}, line"
    if suffix in _YAML:
        yield from sigma_entries(text, name)
    elif suffix in _LINES:
        yield from json_entries(text, dialect=dialect or "siena", place=lines)
    elif suffix in _TEXTS and dialect is not None:
        yield RuleEntry(
            name.removesuffix(path.suffix), text.strip(), dialect, place=name
        )
    elif text.lstrip().startswith("{"):
        yield from json_entries(text, dialect=dialect or "siena", place=lines)
    else:
        yield from csv_entries(text, dialect=dialect or "siena", place=lines)


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SienaError(f"{name} is not a text in UTF-8") from None
