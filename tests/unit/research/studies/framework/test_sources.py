"""What of a source makes a new version of the code, and what does not."""

import ast
from pathlib import Path

import pytest

import siena
from siena.research.studies.framework.sources import closure, code_of, imported

SOURCE = """\
from a import b

def f(x):
    return x + 1  # one more
"""


@pytest.mark.parametrize(
    "said",
    [
        '"""What it is."""\n' + SOURCE,
        SOURCE.replace("one more", "another"),
        SOURCE.replace("  # one more", ""),
        SOURCE.replace("def", "\n# What it does.\n\ndef"),
        SOURCE.replace(
            "    return", '    """One more.\n\n    Really.\n    """\n    return'
        ),
        SOURCE.replace("    return", '    "One more: \u00e9."  # or not\n    return'),
    ],
)
def test_what_is_only_said_does_not_count(said: str) -> None:
    assert code_of(said) == code_of(SOURCE)


@pytest.mark.parametrize(
    "other",
    [
        SOURCE.replace("x + 1", "x + 2"),
        SOURCE.replace("from a", "from c"),
        SOURCE.replace("x + 1", "'# 1'"),
        SOURCE.replace("    return", "    'a text'; x += 1\n    return"),
        SOURCE.replace("    return", "    y = 'a text'\n    return"),
    ],
)
def test_what_is_done_counts(other: str) -> None:
    assert code_of(other) != code_of(SOURCE)


def test_lines_and_spaces_of_texts_count() -> None:
    texts = [
        '"""a\n\nb"""',
        '"""a\nb"""',
        '"""a \nb"""',
        'f"""a\n\n{1}"""',
        'f"""a\n{1}"""',
    ]
    assert len({code_of(f"x = {text}\n") for text in texts}) == len(texts)


def test_code_is_the_same_to_python_without_what_is_said() -> None:
    class Bare(ast.NodeTransformer):
        """What is said, taken out of a tree."""

        def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
            is_text = isinstance(node.value, ast.Constant) and isinstance(
                node.value.value, str
            )
            return None if is_text else node

    root, compared = Path(siena.__file__).parent, 0
    for path in sorted(root.glob("algebra/**/*.py")):
        text = path.read_text(encoding="utf-8")
        try:
            left = ast.parse(code_of(text))
        except IndentationError:  # of a class, say, nothing but a docstring was there
            continue
        compared += 1
        assert ast.dump(left) == ast.dump(Bare().visit(ast.parse(text))), path
    assert compared > 20


def test_what_is_imported_for_checkers_of_types_computes_no_rows(
    tmp_path: Path,
) -> None:
    path = tmp_path / "facade.py"
    path.write_text(
        "import typing\n"
        "if typing.TYPE_CHECKING:\n    import a\nelse:\n    import b\n"
        "def later():\n    from c import d\n"
    )
    assert set(imported(path)) == {"typing", "b", "c", "c.d"}


def test_a_study_of_routing_depends_on_no_client() -> None:
    found = closure("siena.research.studies.runs.architectures")
    assert "siena.routing.router" in found
    assert not any(name.startswith("siena.client") for name in found)
