"""Small modules with one user: each is an idea of its own, and is named with it."""

import ast
from collections import defaultdict
from pathlib import Path

from repository import ROOT

PACKAGE = ROOT / "src" / "siena"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Below this, a module that one other imports could as well stand there.
LINES_MIN = 80
# And beyond this, not both together.
LINES_MAX = 400

IDEAS = {
    "block/times.py": "what a time is in msgpack",
    "broker/http/cloud_events.py": "a format",
    "broker/http/inspect.py": "one kind of answer",
    "broker/questions/turns.py": "who waits, with bounds of its own and a test of them",
    "broker/webhooks/mail.py": "one of two ways in which letters go",
    "dialects/cesql/functions.py": "the functions of a language",
    "dialects/sigma/conditions.py": "the logic of a rule, beside its values",
    "dialects/sigma/numbers.py": "what rules about texts say of numbers",
    "dialects/sql/defaults.py": "what a language says of columns that are not there",
    "lang/fast_path.py": "a fast path, beside its slow twin",
    "lang/words.py": "words of operators, which grow with the language",
    "matching/input/choices.py": "an algorithm",
    "research/schemes/ideal.py": "an algorithm",
    "research/studies/framework/loading.py": "studies of other makers",
    "rules/review/side_by_side.py": "proofs in other processes",
    "testing/chaos/client_process.py": "a program",
    "testing/chaos/moved_clock.py": "a program",
}


def test_a_small_module_with_one_user_is_an_idea_of_its_own() -> None:
    """Others are merged into their user, if it stands beside them and stays readable.

    A command has a file for itself, and what a room's door shows is not seen here.
    """
    known = {name_of(path): path for path in MODULES if path.name != "__init__.py"}
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    users = defaultdict(set)
    for path in MODULES:
        for imported in imports(texts[path]) & known.keys():
            users[imported].add(path)
    lines = {path: text.count("\n") for path, text in texts.items()}
    found = set()
    for imported, (user, *others) in users.items():
        path = known[imported]
        if (
            not others
            and lines[path] < LINES_MIN
            and user.name != "__init__.py"
            and user.parent == path.parent
            and PACKAGE / "cli" not in path.parents
            and lines[path] + lines[user] <= LINES_MAX
        ):
            found.add(str(path.relative_to(PACKAGE)))
    assert found <= IDEAS.keys(), "merge it into its user, or say which idea it is"
    assert all((PACKAGE / each).exists() for each in IDEAS)


def name_of(path: Path) -> str:
    return ".".join(("siena", *path.relative_to(PACKAGE).with_suffix("").parts))


def imports(text: str) -> set[str]:
    """The modules that one imports, by name or with a name of theirs."""
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ImportFrom(module=str(module)):
                found |= {module, *(f"{module}.{each.name}" for each in node.names)}
            case ast.Import():
                found |= {each.name for each in node.names}
            case _:
                pass
    return found
