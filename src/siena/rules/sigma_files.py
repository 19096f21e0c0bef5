"""Sigma rules in files of YAML: one document each, or several with ``---`` between.

Only what stands at the beginning of a line is looked at here, the rule's id, title,
level and dates, so that a set can be listed without reading what its rules mean; that
is done by pySigma (:mod:`siena.dialects.sigma`).
"""

import re
from collections.abc import Iterator

from siena.errors import SienaError
from siena.rules.entry import RuleEntry, SetAside

_DOCUMENTS = re.compile(r"^---[ \t]*(?:#.*)?$", re.MULTILINE)
_FIELD = re.compile(r"^([a-z][a-z-]*)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_COMMENT = re.compile(r"\s+#.*$")
# A rule says what it is about by one of these; other YAML lies beside rules, too.
_KINDS = {"detection", "correlation"}


def sigma_entries(text: str, name: str) -> Iterator[RuleEntry | SetAside]:
    r"""The entries of a file called ``name``; what is no rule at all is passed over.

    >>> list(sigma_entries("title: T\nid: 7\nlevel: low\ndetection:\n  …", "a.yml"))
    [RuleEntry(id='7', text='title: T\nid: 7\nlevel: low\ndetection:\n  …',
        dialect='sigma', severity='low', enabled=True, version='', title='T',
        place='a.yml')]

    A rule without an id is called by its ``name``, or as its file is.  Its version is
    the day on which it was modified, or written.
    """
    documents = [part for part in _DOCUMENTS.split(text) if part.strip()]
    for number, document in enumerate(documents, start=1):
        fields = {key: _scalar(value) for key, value in _FIELD.findall(document)}
        if not _KINDS & fields.keys():
            continue
        place = name if len(documents) == 1 else f"{name}, document {number}"
        try:
            yield RuleEntry(
                id=fields.get("id") or fields.get("name") or place,
                text=document.strip("\n"),
                dialect="sigma",
                severity=fields.get("level", ""),
                version=fields.get("modified") or fields.get("date", ""),
                title=fields.get("title", ""),
                place=place,
            )
        except SienaError as error:
            yield SetAside(place, str(error))


def is_correlation(text: str) -> bool:
    """Whether a rule of Sigma is about several events."""
    return any(key == "correlation" for key, _ in _FIELD.findall(text))


def sigma_name(text: str) -> str:
    """The name by which correlations call a rule, beside its id; empty if none."""
    return next((_scalar(v) for key, v in _FIELD.findall(text) if key == "name"), "")


def _scalar(text: str) -> str:
    text = text.strip()
    if text[:1] in {"'", '"'}:
        end = text.rfind(text[0])
        inner = text[1:end] if end > 0 else text[1:]
        return inner.replace("''", "'") if text[0] == "'" else inner
    return _COMMENT.sub("", text)
