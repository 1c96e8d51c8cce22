"""The form of a correction: one choice, and for an action that somebody writes its text and its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.decisions.corrections import (
    MAX_CALLS,
    CorrectionAnswer,
    CorrectionOrigin,
    ErrorClass,
    TypedCall,
    typed,
)
from annotation.core.errors import Invalid
from annotation.core.text import unescape
from annotation.language import translated
from annotation.models import Correction
from annotation.services.correct import Draft
from annotation.services.judged_steps import MAX_NOTE

ANSWERS: Final = {
    CorrectionAnswer.ACTION: _("another action"),
    CorrectionAnswer.NOTHING_WRONG: _("nothing was wrong here"),
    CorrectionAnswer.NO_RIGHT_ACTION: _("no action would have been right here"),
}
ORIGINS: Final = {
    CorrectionOrigin.SIBLING: _("taken from another run"),
    CorrectionOrigin.EDITED: _("the wrong action, edited"),
    CorrectionOrigin.WRITTEN: _("written"),
    CorrectionOrigin.JUDGE: _("taken from a judge"),
}
ERROR_CLASSES: Final = {
    ErrorClass.WRONG_TOOL: _("wrong tool"),
    ErrorClass.WRONG_PARAMETERS: _("wrong parameters"),
    ErrorClass.SHOULD_HAVE_ANSWERED: _("should have answered"),
    ErrorClass.SHOULD_HAVE_CALLED: _("should have called a tool"),
}
AS_THEY_DIFFER, NONE_OF_THESE = "auto", "none"
WRITING: Final = (CorrectionOrigin.EDITED, CorrectionOrigin.WRITTEN)
"""Origins of a typed action; each has fields of its own, so that nothing is lost when one changes one's
mind."""
FIELDS: Final = dict.fromkeys(("answer", "origin", "sibling", "proposal"), "choice") | {
    "error_class": "error"
}
"""The fields of the form whose names the service does not use."""
SPARE_CALLS: Final = 2
"""So many calls may be added to those that are there; saved, there is room for as many again."""


def choice_of(row: Correction) -> str:
    """The value of the choice for a correction."""
    if row.answer != CorrectionAnswer.ACTION:
        return row.answer
    return f"sibling:{row.sibling_id}" if row.sibling_id else row.origin


def values_of(row: Correction, wrong: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the form for a correction; one that is not saved begins with the wrong action."""
    values: dict[str, Any] = {
        "choice": choice_of(row),
        "error": (row.error_class or NONE_OF_THESE) if row.version else AS_THEY_DIFFER,
        "reason": unescape(row.reason),
        "checked_myself": False,
    }
    for origin in WRITING:
        action = row.action if row.origin == origin else wrong if origin is CorrectionOrigin.EDITED else None
        text, calls = typed(action) if action is not None else ("", [])
        values[f"{origin}-text"] = text
        for at, call in enumerate(calls):
            values[f"{origin}-name-{at}"] = call.name
            values[f"{origin}-arguments-{at}"] = call.arguments
    return values


class CorrectionForm(forms.Form):
    """The right action. `values` are those of `values_of`; `siblings` and `proposals` can be chosen, by their
    numbers."""

    choice = forms.ChoiceField(label=_("What would have been right here?"))
    error = forms.ChoiceField(
        label=_("What the agent did wrong"),
        choices=[
            (AS_THEY_DIFFER, _("as the two actions say")),
            *((str(key.value), words) for key, words in ERROR_CLASSES.items()),
            (NONE_OF_THESE, _("none of these")),
        ],
    )
    reason = forms.CharField(
        label=_("Why"),
        required=False,
        max_length=MAX_NOTE,
        widget=forms.Textarea({"rows": 2}),
        help_text=_("It is kept with the decision, and shown to nobody who verifies it."),
    )
    checked_myself = forms.BooleanField(
        label=_("I have checked the calls that no schema can check"), required=False
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        values: Mapping[str, Any],
        siblings: Sequence[int],
        proposals: Sequence[int],
    ) -> None:
        super().__init__(data, initial=dict(values))
        self.fields["choice"].choices = [  # type: ignore[attr-defined]
            *((f"sibling:{pk}", _("the action of another run")) for pk in siblings),
            *((f"judge:{pk}", _("what a judge proposes")) for pk in proposals),
            *((str(origin.value), ORIGINS[origin]) for origin in (*WRITING, CorrectionOrigin.JUDGE)),
            *((str(key.value), words) for key, words in ANSWERS.items() if key != CorrectionAnswer.ACTION),
        ]
        self.calls = {origin: self._add_fields(origin, data, values) for origin in WRITING}

    def _add_fields(
        self, origin: CorrectionOrigin, data: Mapping[str, Any] | None, values: Mapping[str, Any]
    ) -> int:
        """The fields of an action that is typed; how many calls it has room for."""
        self.fields[f"{origin}-text"] = forms.CharField(
            label=_("Text"), required=False, strip=False, widget=forms.Textarea({"rows": 4, "dir": "auto"})
        )
        names = [f"{origin}-name-{at}" for at in range(MAX_CALLS)]
        there = sum(name in values for name in names)
        typed_ = sum(name in (data or {}) for name in names)
        room = min(MAX_CALLS, max(there + SPARE_CALLS, typed_))
        for at in range(room):
            self.fields[f"{origin}-name-{at}"] = forms.CharField(
                label=_("Tool"),
                required=False,
                widget=forms.TextInput(
                    {"list": "tools", "autocomplete": "off", "spellcheck": "false", "class": "mono"}
                ),
            )
            self.fields[f"{origin}-arguments-{at}"] = forms.CharField(
                label=_("Arguments, as JSON"),
                required=False,
                strip=False,
                widget=forms.Textarea({"rows": 4, "spellcheck": "false", "class": "mono"}),
            )
        return room

    def text(self, origin: CorrectionOrigin) -> forms.BoundField:
        """The field of an action's text."""
        return self[f"{origin}-text"]

    def call_fields(
        self, origin: CorrectionOrigin
    ) -> Iterator[tuple[int, forms.BoundField, forms.BoundField]]:
        """The fields of an action's calls: number, tool, arguments."""
        for at in range(self.calls[origin]):
            yield at, self[f"{origin}-name-{at}"], self[f"{origin}-arguments-{at}"]

    def draft(self) -> Draft:
        """The draft in a valid form."""
        typed = self.cleaned_data
        kind, _colon, number = typed["choice"].partition(":")
        is_answer = kind in set(CorrectionAnswer)
        text, calls, _places = self.written(kind, typed) if kind in WRITING else ("", [], [])
        error_class = typed["error"]
        return Draft(
            answer=kind if is_answer else CorrectionAnswer.ACTION.value,
            origin="" if is_answer else kind,
            sibling=int(number) if kind == CorrectionOrigin.SIBLING and number else None,
            proposal=int(number) if kind == CorrectionOrigin.JUDGE and number else None,
            text=text,
            calls=calls,
            error_class={AS_THEY_DIFFER: None, NONE_OF_THESE: ""}.get(error_class, error_class),
            reason=typed["reason"].replace("\r\n", "\n"),
            checked_myself=typed["checked_myself"],
        )

    def written(self, origin: str, typed: Mapping[str, Any]) -> tuple[str, list[TypedCall], list[int]]:
        """The text and the calls of an action that is typed, and the number of each call among the fields;
        a call without a word is none."""
        calls, places = [], []
        for at in range(self.calls[CorrectionOrigin(origin)]):
            name, arguments = (typed.get(f"{origin}-{what}-{at}") or "" for what in ("name", "arguments"))
            if name.strip() or arguments.strip():
                calls.append(TypedCall(name.strip(), arguments.replace("\r\n", "\n")))
                places.append(at)
        return str(typed.get(f"{origin}-text") or "").replace("\r\n", "\n"), calls, places

    def refuse(self, error: Invalid) -> None:
        """Put what the service refuses beside its field."""
        kind = self.cleaned_data["choice"].partition(":")[0]
        places = self.written(kind, self.cleaned_data)[2] if kind in WRITING else []
        for name, sentence in error.fields.items():
            field = self.field_of(name, kind, places)
            self.add_error(field, translated(sentence))
        if not error.fields:
            self.add_error(None, translated(error.message))

    def field_of(self, name: str, origin: str, places: Sequence[int]) -> str | None:
        """The field for what the service calls `calls[1].arguments`; None for what has none."""
        if name.startswith("calls[") and "]." in name:
            at, _dot, what = name.removeprefix("calls[").partition("].")
            name = f"{what}-{places[int(at)]}"
        for field in (f"{origin}-{name}", name, FIELDS.get(name, "")):
            if field in self.fields:
                return field
        return None
