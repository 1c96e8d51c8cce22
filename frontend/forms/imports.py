"""The upload form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import Invalid
from annotation.core.kinds import Feature, ProjectKind
from annotation.core.label_files import MAX_FILE
from annotation.importers import FORMATS, kind_of
from annotation.importers.options import ReadOptions
from annotation.language import translated
from annotation.services.label.uploads import MAX_NAME

_LINE = re.compile(r"^\s*(\d{1,9})\s*[=:]\s*(\S.*?)\s*$")


class ManyFilesInput(forms.ClearableFileInput):
    """A file control that takes several files."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One file or more; its value is the list of them. Empty files pass: the service refuses them by name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=ManyFilesInput, allow_empty_file=True, **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        """Each file on its own."""
        files = data if isinstance(data, (list, tuple)) else [data]
        return [super(ManyFilesField, self).clean(file, initial) for file in files or [None]]


class ImportForm(forms.Form):
    """Files to import into one subset, or each into the one named after it."""

    file = ManyFilesField(
        label=_("Files"),
        help_text=_("Logs of agents, also many in a zip archive. Each file is imported on its own."),
    )
    subset = forms.SlugField(
        label=_("Subset"),
        max_length=64,
        required=False,
        help_text=_("If left empty, each file’s own name is used."),
    )
    format = forms.ChoiceField(label=_("Format"), required=False)
    policy_models = forms.CharField(
        label=_("Names of policy models"),
        required=False,
        max_length=10_000,
        widget=forms.Textarea({"rows": 3, "class": "mono", "placeholder": "0=Model A\n1=Model B"}),
        help_text=_("For files that give only a sample index: one “index=name” per line."),
    )
    replace = forms.BooleanField(
        label=_("Replace records whose content has changed"),
        required=False,
        help_text=_("Otherwise such records are refused. A record that has labels is never replaced."),
    )

    def __init__(self, *args: Any, kind: ProjectKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        formats = [
            (name, translated(importer.title))
            for name, importer in FORMATS.items()
            if kind_of(importer) == kind
        ]
        self.fields["format"].choices = [("", _("Detect automatically")), *formats]  # type: ignore[attr-defined]
        if not kind.has(Feature.RUNS):
            del self.fields["policy_models"]
            self.fields["file"].help_text = _(
                "Files of decisions, also many in a zip archive. Each file is imported on its own."
            )

    def clean(self) -> dict[str, Any]:
        """With no policy models where none are asked for."""
        return {"policy_models": {}, **(super().clean() or {})}

    def clean_policy_models(self) -> dict[int, str]:
        """The names by sample index."""
        names: dict[int, str] = {}
        for line in self.cleaned_data["policy_models"].splitlines():
            if not line.strip():
                continue
            match = _LINE.match(line)
            if match is None:
                raise forms.ValidationError(
                    _("“%(line)s” is not of the form index=name."), params={"line": line[:80]}
                )
            names[int(match[1])] = match[2][:120]
        return names


class LabelImportForm(forms.Form):
    """A file of a person's labels, and whose they are."""

    file = forms.FileField(
        label=_("File"),
        allow_empty_file=True,
        help_text=_(
            "JSON Lines: record_id, step_labels and final_label in each line; explanations become notes."
        ),
    )
    annotator = forms.ChoiceField(label=_("Annotator"), required=False)
    name = forms.CharField(
        label=_("Name of somebody new"),
        max_length=MAX_NAME,
        required=False,
        help_text=_("For labels of a person who has no account here. Nobody can sign in as them."),
    )
    subset = forms.ChoiceField(label=_("Subset"), required=False)

    def __init__(
        self, *args: Any, members: Iterable[tuple[str, str]], subsets: Iterable[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["annotator"].choices = [("", _("Somebody new")), *members]  # type: ignore[attr-defined]
        everywhere = ("", _("Look up each record in all subsets"))
        self.fields["subset"].choices = [everywhere, *((name, name) for name in subsets)]  # type: ignore[attr-defined]

    def clean_file(self) -> UploadedFile:
        """A file that can be read whole."""
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE:
            raise forms.ValidationError(_("A file of labels may have at most 100 MB."))
        return file


class OptionsForm(forms.Form):
    """A form for the reading of a waiting file."""

    task_key_at = forms.CharField(
        label=_("Path of the task’s id"),
        max_length=500,
        required=False,
        widget=forms.TextInput({"class": "mono", "list": "pointers", "placeholder": "/metadata/task_id"}),
        help_text=_("A JSON Pointer into a record. Empty: as the format says."),
    )
    policy_model_at = forms.CharField(
        label=_("Path of the policy model"),
        max_length=500,
        required=False,
        widget=forms.TextInput({"class": "mono", "list": "pointers", "placeholder": "/model"}),
    )
    redact = forms.BooleanField(
        label=_("Redact keys and tokens"),
        required=False,
        help_text=_("Known forms of secrets become “[redacted]”, also in the original that is kept."),
    )

    def clean(self) -> dict[str, Any]:
        """Check the pointers."""
        cleaned = super().clean() or {}
        try:
            ReadOptions.of(cleaned)
        except Invalid as error:
            for name in error.fields:
                self.add_error(name, translated(error.message))
        return cleaned

    def options(self) -> ReadOptions:
        """The chosen options."""
        return ReadOptions.of(self.cleaned_data)
