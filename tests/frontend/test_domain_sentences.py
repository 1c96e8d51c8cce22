"""The sentences of the domain: every one that a reader may meet can be translated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from annotation.core import errors
from tests import messages

# No page shows these sentences.
ONLY_ENGLISH = {
    "annotation/checks.py": "Django's system checks, at the operator's terminal",
    "annotation/core/judging/prompt.py": "what a prompt left out, kept with the raw answer",
    "annotation/core/judging/trajectory_text.py": "the same",
    "annotation/core/decisions/questions.py": "a question of a data set, in the language of that",
    "annotation/core/releases/changelog.py": "a section for the card of a data set",
    "annotation/core/releases/exports/card.py": "the card of a data set, which is in English",
    "annotation/core/releases/exports/card_sections.py": "the same",
    "annotation/core/releases/exports/croissant.py": "the same",
    "annotation/core/releases/exports/formats/aptbench.py": "the same",
    "annotation/core/releases/exports/formats/pairs.py": "the same",
    "annotation/core/releases/exports/formats/decisions.py": "the same",
    "annotation/core/releases/exports/formats/training.py": "the same",
    "annotation/core/releases/record_format.py": "manage.py verify_release of files, at a terminal",
    "annotation/outside/transport.py": "of an exception that sending.py says in words of its own",
}
# Of a kind of project: what it says in the card of a data set.
ENGLISH_ARGUMENTS = {"help_text", "card", "card_outcome"}
ERRORS = {kind.__name__ for kind in vars(errors).values() if isinstance(kind, type)}


def test_sentences_of_every_refusal_can_be_said_in_another_language() -> None:
    """No error of core.errors is raised with a bare string, and no sentence stands outside `translatable(…)`
    but in the files of ONLY_ENGLISH."""
    bare = []
    sentences = set()
    for path in sorted((messages.ROOT / "annotation").rglob("*.py")):
        if {"management", "migrations"} & set(path.parts):
            continue
        name = str(path.relative_to(messages.ROOT))
        tree = ast.parse(path.read_text("utf-8"))
        bare += [f"{name}:{line}" for line in _refusals(tree)]
        found = [f"{name}:{line}: {text}" for line, text in _sentences(tree)]
        sentences |= {name} if found else set()
        if name not in ONLY_ENGLISH:
            bare += found
    assert not bare, f"translatable(…) around the sentence: {bare}"
    assert sentences == set(ONLY_ENGLISH), "take files off the list that have no bare sentence any more"


def _refusals(tree: ast.Module) -> Iterator[int]:
    """The lines where an error is made with a bare string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS and node.args:
            first = node.args[0]
            text = isinstance(first, ast.Constant) and isinstance(first.value, str)
            if text or isinstance(first, ast.JoinedStr):
                yield node.lineno


def _sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Texts that read like a sentence, but for docstrings, help texts, the log and `translatable(…)`."""
    apart: set[ast.AST] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call) and (_logs(node) or getattr(node.func, "id", "") == "translatable")
        ) or (isinstance(node, ast.keyword) and node.arg in ENGLISH_ARGUMENTS):
            apart |= set(ast.walk(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            apart.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            apart |= set(node.values)
    for node in ast.walk(tree):
        if node in apart:
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(
            str(part.value) if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"
            for part in parts
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
        if " " in text.strip() and text.rstrip().endswith((".", "?", "!")):
            yield node.lineno, text


def _logs(call: ast.Call) -> bool:
    """Whether this is `logger.warning(…)` or the like: operators read logs, in English."""
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "logger"
