"""What a study came to, in a word, in a sentence, and in numbers.

All claims count, those that fail no run too: a summary that leaves out what differs
would be kinder than the study.
"""

from collections import Counter
from collections.abc import Iterable

from siena.research.studies.framework.claim import Finding, Verdict

# In the order in which a reader should see them.
WORDS: dict[Verdict, tuple[str, str]] = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.DIFFERS: ("differs", "differ"),
    Verdict.UNDECIDED: ("is not decided by this data", "are not decided by this data"),
    Verdict.OPEN: ("is left open by the paper", "are left open by the paper"),
}
KINDS = {
    Verdict.HOLDS: "holds",
    Verdict.DIFFERS: "differs",
    Verdict.UNDECIDED: "undecided",
    Verdict.OPEN: "open",
}
"""Names for style sheets."""


def tally(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """How many claims there are of each verdict; all four are there.

    >>> tally([])[Verdict.DIFFERS]
    0
    """
    counts = Counter(finding.verdict for finding in findings)
    return {verdict: counts[verdict] for verdict in Verdict}


def short(findings: Iterable[Finding]) -> str:
    """In a few words.

    >>> short([Finding("A", "", Verdict.HOLDS, ""), Finding("B", "", Verdict.OPEN, "")])
    '1 holds, 1 left open'
    """
    counts = tally(findings)
    names = {
        Verdict.HOLDS: ("holds", "hold"),
        Verdict.DIFFERS: ("differs", "differ"),
        Verdict.UNDECIDED: ("not decided", "not decided"),
        Verdict.OPEN: ("left open", "left open"),
    }
    return ", ".join(
        f"{count} {names[verdict][count > 1]}"
        for verdict, count in counts.items()
        if count
    )


def sentence(findings: Iterable[Finding]) -> str:
    """Every verdict, with the names of all claims that do not simply hold.

    >>> known = (Verdict.HOLDS, Verdict.OPEN)
    >>> good, open_ = (Finding(verdict.name, "", verdict, "") for verdict in known)
    >>> sentence([good, open_])
    'Of 2 claims 1 holds, 1 is left open by the paper (OPEN).'
    """
    known = list(findings)
    parts = []
    for verdict, count in tally(known).items():
        if count:
            words = f"{count} {WORDS[verdict][count > 1]}"
            if verdict is not Verdict.HOLDS:
                names = dict.fromkeys(f.claim for f in known if f.verdict is verdict)
                words += f" ({', '.join(names)})"
            parts.append(words)
    if not parts:
        return "Nothing is claimed about these runs."
    of = "Of 1 claim" if len(known) == 1 else f"Of {len(known)} claims"
    return f"{of} {', '.join(parts)}."


def kind(findings: Iterable[Finding]) -> str:
    """The verdict that a reader should look at first: differs, then not decided.

    >>> kind(Finding("A", "", verdict, "") for verdict in Verdict)
    'differs'
    """
    counts = tally(findings)
    order = (Verdict.DIFFERS, Verdict.UNDECIDED, Verdict.HOLDS, Verdict.OPEN)
    return next((KINDS[verdict] for verdict in order if counts[verdict]), "open")
