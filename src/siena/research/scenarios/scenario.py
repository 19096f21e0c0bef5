"""Scenario files: what objects publish, and what parties wait for.

::

    servers = acyclic adv_fwd;
    objects { event = "A"; number = 1000; pub/adv = 10; time/pub = 2000~2500;
              cycles = 10; };
    parties { pattern = "A"; number = 10000; notif/sub = 10; cycles = 10; };

    faults { lost = 20; duplicated = 20; time = 0~20000; };

An *object* of interest goes through cycles: it advertises its event, publishes it so
often, at random intervals whose mean is drawn from ``time/pub``, and stops advertising.
An interested *party* subscribes to an event, waits for so many notifications, and
unsubscribes.  *Faults*, which are ours, not the papers', happen at random times and to
random links: a frame is lost or comes twice, which breaks its link for a moment.

Reference:
    CU-CS-888-99, figure 25; our specification, F.3 and F.4.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from siena.errors import SienaError
from siena.routing.options import Forwarding
from siena.sim.architecture import Architecture

ARCHITECTURES: dict[str, Architecture] = {
    "centralized": "centralised",
    "hierarchical": "hierarchical",
    "acyclic": "acyclic",
    "general": "general",
}
ALGORITHMS: dict[str, Forwarding] = {
    "sub_fwd": "subscription",
    "adv_fwd": "advertisement",
}
# Numbers beyond this are mistakes, not simulations.
NUMBER_MAX = 10_000_000


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects of interest: they publish."""

    event: str
    number: int
    publications: int
    interval: tuple[int, int]
    cycles: int

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f'objects {{\n  event = "{self.event}";\n  number = {self.number};\n'
            f"  pub/adv = {self.publications};\n  time/pub = {low}~{high};\n"
            f"  cycles = {self.cycles};\n}};\n"
        )


@dataclass(frozen=True, slots=True)
class Parties:
    """Interested parties: they subscribe."""

    pattern: str
    number: int
    notifications: int
    cycles: int

    def __str__(self) -> str:
        return (
            f'parties {{\n  pattern = "{self.pattern}";\n  number = {self.number};\n'
            f"  notif/sub = {self.notifications};\n  cycles = {self.cycles};\n}};\n"
        )


@dataclass(frozen=True, slots=True)
class Faults:
    """Frames that are lost or come twice, each at a random time and on a random link.

    That is the next frame which the link carries from then on.
    """

    lost: int
    duplicated: int
    time: tuple[int, int]

    def __str__(self) -> str:
        low, high = self.time
        return (
            f"faults {{\n  lost = {self.lost};\n  duplicated = {self.duplicated};\n"
            f"  time = {low}~{high};\n}};\n"
        )


Section = Objects | Parties | Faults


@dataclass(frozen=True, slots=True)
class Scenario:
    """An architecture, and who takes part.

    >>> scenario = parse_scenario('servers = acyclic adv_fwd; parties { pattern = "A";'
    ...     ' number = 2; notif/sub = 1; cycles = 1; };')
    >>> print(scenario, end="")
    servers = acyclic adv_fwd;
    parties {
      pattern = "A";
      number = 2;
      notif/sub = 1;
      cycles = 1;
    };
    >>> parse_scenario(str(scenario)) == scenario
    True
    """

    architecture: Architecture
    forwarding: Forwarding
    sections: tuple[Section, ...] = ()

    def __str__(self) -> str:
        words = [w for w, name in ARCHITECTURES.items() if name == self.architecture]
        if self.architecture in {"acyclic", "general"}:
            words += [w for w, name in ALGORITHMS.items() if name == self.forwarding]
        servers = f"servers = {' '.join(words)};\n"
        return servers + "".join(map(str, self.sections))

    @property
    def has_faults(self) -> bool:
        """Whether anything goes wrong on a link."""
        return any(isinstance(section, Faults) for section in self.sections)


def parse_scenario(text: str) -> Scenario:
    """Read a scenario file.

    >>> parse_scenario("servers = acyclic sub_fwd; objects { colour = 3; };")
    Traceback (most recent call last):
    siena.errors.SienaError: column 38: objects have no "colour"
    """
    return _Reader(text).scenario()


_TOKEN = re.compile(r'\s*(?:("[^"\n]*")|(\d+)|([A-Za-z_][\w/]*)|([={};~])|(\S))')


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._scan(text))
        self._next = 0

    def scenario(self) -> Scenario:
        self._take("servers")
        self._take("=")
        architecture, forwarding = self._servers()
        self._take(";")
        sections = []
        while self._peek():
            sections.append(self._section())
        return Scenario(architecture, forwarding, tuple(sections))

    def _servers(self) -> tuple[Architecture, Forwarding]:
        word = self._word()
        if word not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            self._fail(f"{word!r} is not an architecture", hint=known, back=1)
        forwarding: Forwarding = "subscription"
        if self._peek() != ";":
            algorithm = self._word()
            if algorithm not in ALGORITHMS:
                known = ", ".join(ALGORITHMS)
                self._fail(f"{algorithm!r} is not an algorithm", hint=known, back=1)
            forwarding = ALGORITHMS[algorithm]
            if word == "centralized" or (word, algorithm) == (
                "hierarchical",
                "adv_fwd",
            ):
                self._fail(f"{word} servers do not use {algorithm}", back=1)
        return ARCHITECTURES[word], forwarding

    def _section(self) -> Section:
        kind = self._word()
        if kind not in _KEYS:
            known = ", ".join(_KEYS)
            self._fail(f"{kind!r} is not a section", hint=known, back=1)
        self._take("{")
        values: dict[str, Any] = {}
        while self._peek() != "}":
            key = self._word()
            if key not in _KEYS[kind]:
                self._fail(f'{kind} have no "{key}"', back=1)
            field, read = _KEYS[kind][key]
            if field in values:
                self._fail(f'"{key}" is said twice', back=1)
            self._take("=")
            values[field] = read(self)
            self._take(";")
        for key, (field, _) in _KEYS[kind].items():
            if field not in values:
                self._fail(f'{kind} need "{key}"')
        self._take("}")
        self._take(";")
        return _SECTIONS[kind](**values)

    def number(self) -> int:
        token = self._peek()
        if not token.isdecimal():
            self._fail(f"expected a number, found {token or 'the end'!r}")
        self._next += 1
        if int(token) > NUMBER_MAX:
            self._fail(f"{token} is more than {NUMBER_MAX}", back=1)
        return int(token)

    def string(self) -> str:
        token = self._peek()
        if not token.startswith('"') or len(token) < 2:
            self._fail(f"expected a text in quotes, found {token or 'the end'!r}")
        self._next += 1
        return token[1:-1]

    def range(self) -> tuple[int, int]:
        low = self.number()
        self._take("~")
        high = self.number()
        if low > high:
            self._fail(f"the range {low}~{high} is reversed", back=3)
        return low, high

    def _word(self) -> str:
        token = self._peek()
        if not token[:1].isalpha():
            self._fail(f"expected a word, found {token or 'the end'!r}")
        self._next += 1
        return token

    def _take(self, wanted: str) -> None:
        if self._peek() != wanted:
            found = self._peek() or "the end"
            self._fail(f"expected {wanted!r}, found {found!r}")
        self._next += 1

    def _peek(self) -> str:
        at_end = self._next >= len(self._tokens)
        return "" if at_end else self._tokens[self._next][0]

    def _fail(self, message: str, *, hint: str = "", back: int = 0) -> NoReturn:
        at = self._next - back
        end = len(self._text.rstrip())
        position = self._tokens[at][1] if at < len(self._tokens) else end
        raise SienaError(message, hint=hint).at(self._text, position)

    @staticmethod
    def _scan(text: str) -> Iterator[tuple[str, int]]:
        position = 0
        while found := _TOKEN.match(text, position):
            position = found.end()
            yield found[found.lastindex or 0], found.start(found.lastindex or 0)


_KEYS: dict[str, dict[str, tuple[str, Callable[[_Reader], object]]]] = {
    "objects": {
        "event": ("event", _Reader.string),
        "number": ("number", _Reader.number),
        "pub/adv": ("publications", _Reader.number),
        "time/pub": ("interval", _Reader.range),
        "cycles": ("cycles", _Reader.number),
    },
    "parties": {
        "pattern": ("pattern", _Reader.string),
        "number": ("number", _Reader.number),
        "notif/sub": ("notifications", _Reader.number),
        "cycles": ("cycles", _Reader.number),
    },
    "faults": {
        "lost": ("lost", _Reader.number),
        "duplicated": ("duplicated", _Reader.number),
        "time": ("time", _Reader.range),
    },
}
_SECTIONS: dict[str, Callable[..., Section]] = {
    "objects": Objects,
    "parties": Parties,
    "faults": Faults,
}
