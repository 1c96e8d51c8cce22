"""Marking a case as an example."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.kinds import ProjectKind
from annotation.models import Step
from annotation.services.adjudicate import MAX_TEXT, MAX_TITLE
from frontend.rendering.step_names import step_title


class ExampleForm(forms.Form):
    """A form for an example: a part of a case, a title, and the lesson."""

    step = forms.ChoiceField(label=_("Part of the case"), required=False)
    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE)
    text = forms.CharField(
        label=_("Lesson"),
        max_length=MAX_TEXT,
        widget=forms.Textarea({"rows": 6}),
        help_text=_("Every member of the project may read it. Name nobody."),
    )

    def __init__(self, *args: Any, steps: Iterable[Step], kind: ProjectKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["step"].choices = [  # type: ignore[attr-defined]
            ("", gettext("The whole case, with its outcome")),
            *((str(step.message_index), step_title(step.ordinal + 1, kind)) for step in steps),
        ]
