r"""Fixtures: events with what rules have to do at them, and whether they do.

A line of a file is a JSON object::

    {"event": {"Image": "C:\\a.exe"}, "fires": ["rule-1"], "silent": ["rule-2"]}

``exactly`` lists all rules that fire, and no other may.  SigmaHQ keeps events in files
beside an ``info.yml`` that names the rules that have to fire; a folder of those is read
as it is.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from siena.errors import InvalidFormError, SienaError
from siena.lang.json_text import Json, read_json
from siena.rules.entry import SetAside
from siena.rules.events import Event, event_of
from siena.rules.reading import ReadRule

_RULE_ID = re.compile(r"^\s*-\s+id:\s*['\"]?([^\s'\"]+)", re.MULTILINE)
_INFO = "info.yml"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Fixture:
    """An event, and which rules must and must not fire at it.

    With ``more`` events a rule fires if it does at one of them: SigmaHQ's recordings
    have what happened before and after, too.
    """

    place: str
    event: Event
    fires: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    exactly: frozenset[str] | None = None
    more: tuple[Event, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The rules that it says something about."""
        return self.fires | self.silent | (self.exactly or frozenset())


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened at a fixture: who should have fired, and who should not have."""

    fixture: Fixture
    missing: tuple[str, ...]
    unwanted: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether everything is as the fixture says."""
        return not (self.missing or self.unwanted or self.unknown)


def load_fixtures(
    path: Path, renamed: Mapping[str, str] | None = None
) -> Iterator[Fixture | SetAside]:
    """The fixtures of a file of lines, or of a folder as SigmaHQ has them."""
    if path.is_dir():
        for info in sorted(path.rglob(_INFO)):
            yield from _of_sigma(info, renamed)
        for lines in sorted({*path.rglob("*.ndjson"), *path.rglob("*.jsonl")}):
            yield from _of_lines(lines, renamed)
    else:
        yield from _of_lines(path, renamed)


def try_fixture(fixture: Fixture, rules: Sequence[ReadRule]) -> Outcome:
    """Which rules fire at a fixture's event, against what it says."""
    known = {read.id for read in rules}
    asked = known if fixture.exactly is not None else fixture.names
    events = (fixture.event, *fixture.more)
    firing = {r.id for r in rules if r.id in asked and any(map(r.rule.matches, events))}
    wanted = fixture.fires | (fixture.exactly or frozenset())
    unwanted = firing & fixture.silent
    if fixture.exactly is not None:
        unwanted |= firing - wanted
    return Outcome(
        fixture,
        tuple(sorted((wanted & known) - firing)),
        tuple(sorted(unwanted)),
        tuple(sorted(fixture.names - known)),
    )


def _of_lines(
    path: Path, renamed: Mapping[str, str] | None
) -> Iterator[Fixture | SetAside]:
    text = path.read_text(encoding="utf-8-sig")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"{path.name}, line {number}"
            try:
                yield _fixture(read_json(line), place, renamed)
            except SienaError as error:
                yield SetAside(place, str(error))


def _fixture(
    form: Json, place: str, renamed: Mapping[str, str] | None = None
) -> Fixture:
    if not isinstance(form, dict) or "event" not in form:
        raise InvalidFormError('a fixture is an object with an "event"')
    unknown = form.keys() - {"event", "fires", "silent", "exactly", "name"}
    if unknown:
        hint = "it has event, fires, silent, exactly, name"
        raise InvalidFormError(f'a fixture has no "{min(unknown)}"', hint=hint)
    fires, silent = _ids(form, "fires"), _ids(form, "silent")
    exactly = _ids(form, "exactly") if "exactly" in form else None
    if not fires and not silent and exactly is None:
        hint = "fires, silent or exactly"
        raise InvalidFormError("a fixture says what rules do", hint=hint)
    name = form.get("name")
    shown = f"{place} ({name})" if isinstance(name, str) else place
    return Fixture(shown, event_of(form["event"], renamed), fires, silent, exactly)


def _ids(form: Mapping[str, Json], key: str) -> frozenset[str]:
    value = form.get(key, [])
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in listed):
        raise InvalidFormError(f'"{key}" is a list of ids')
    return frozenset(str(each) for each in listed)


def _of_sigma(
    info: Path, renamed: Mapping[str, str] | None
) -> Iterator[Fixture | SetAside]:
    ids = frozenset(_RULE_ID.findall(info.read_text(encoding="utf-8-sig")))
    for path in sorted(info.parent.glob("*.json")):
        try:
            forms = _forms(path.read_text(encoding="utf-8-sig"))
            first, *more = [event_of(form, renamed) for form in forms]
            yield Fixture(path.name, first, fires=ids, more=tuple(more))
        except SienaError as error:
            yield SetAside(path.name, str(error))


def _forms(text: str) -> list[Json]:
    """The events of a file: one, a list of them, or one behind the other."""
    found: list[Json] = []
    at = 0
    while text[at:].strip():
        start = at + len(text[at:]) - len(text[at:].lstrip())
        end = start
        try:
            _, end = _DECODER.raw_decode(text, start)
        except ValueError:
            end = len(text)  # the language's own reader says what is wrong
        form = read_json(text[start:end])
        found += form if isinstance(form, list) else [form]
        at = end
    if not found:
        raise InvalidFormError("there is no event in it")
    return found
