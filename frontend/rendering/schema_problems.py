"""Describe in words how a call breaks the schema of its tool."""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotation.core.trajectories.tool_schema import SchemaProblem
from frontend.rendering.control_chars import escape_control_chars


def in_words(problem: SchemaProblem) -> str:
    """The fault of a call's arguments, as a sentence."""
    sentences = {
        "unknown_tool": _("No tool has this name"),
        "missing": _("{where} is required and missing"),
        "unexpected": _("{where} is not a parameter of this tool"),
        "type": _("{where} must be {wanted}, not {found}") if problem.where else "",
        "choice": _("{where} is {found}, and must be one of {wanted}"),
        "other": _("{where} does not match the schema ({wanted})"),
    }
    sentence = sentences[problem.kind] or _("The arguments must be {wanted}, not {found}")
    where = problem.where or _("the whole value")
    if problem.kind != "type":
        return escape_control_chars(sentence.format(where=where, wanted=problem.wanted, found=problem.found))
    wanted = _(" or ").join(_type_in_words(name) for name in problem.wanted.split(" or "))
    return escape_control_chars(
        sentence.format(where=where, wanted=wanted, found=_type_in_words(problem.found))
    )


def _type_in_words(name: str) -> str:
    words = {
        "object": _("an object"),
        "array": _("a list"),
        "string": _("a string"),
        "number": _("a number"),
        "integer": _("a whole number"),
        "boolean": _("true or false"),
    }
    return words.get(name, name)
