"""The forms of a connection, and of what is asked of it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.connections import RUNS, STORES
from annotation.core.kinds import ProjectKind
from annotation.core.releases.exports import FORMATS as EXPORTS
from annotation.importers import FORMATS, kind_of
from annotation.language import joined, translated
from annotation.models import Project, Release
from annotation.services.connections import operator


class ConnectionForm(forms.Form):
    """A place on an outside server; the service checks it against the operator's rules."""

    name = forms.CharField(label=_("Name"), max_length=80)
    kind = forms.ChoiceField(label=_("Kind"), choices=[(kind.name, kind.title) for kind in RUNS.values()])
    base_url = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.TextInput({"spellcheck": "false", "inputmode": "url"}),
    )
    key_name = forms.CharField(
        label=_("Environment variable of the key"),
        max_length=120,
        required=False,
        widget=forms.TextInput({"spellcheck": "false"}),
        help_text=_(
            "TRISTEP_CONNECTION_KEY_… on the server; empty where no key is wanted. For Langfuse, both keys "
            "as public:secret."
        ),
    )
    source = forms.CharField(
        label=_("Experiment or project there"), max_length=200, help_text=_("Its name, or its id.")
    )
    filter = forms.CharField(label=_("Filter"), max_length=1000, required=False)
    subset = forms.SlugField(
        label=_("Subset"), max_length=64, initial="runs", help_text=_("What is pulled comes into it.")
    )
    push_reasons = forms.BooleanField(
        label=_("Push notes of adjudicators too"),
        required=False,
        help_text=_("They may name people; whoever may read the server reads them."),
    )

    def __init__(self, *args: Any, changing: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if changing:
            del self.fields["kind"]
        allowed = ", ".join(operator().addresses)
        self.fields["base_url"].help_text = (
            _("The operator of this Tristep allows: %(addresses)s") % {"addresses": allowed}
            if allowed
            else _("The operator of this Tristep allows no address yet (TRISTEP_CONNECTION_URLS).")
        )
        if "filter" in self.fields:
            helps = [f"{kind.title}: {translated(kind.filter_help)}" for kind in RUNS.values()]
            self.fields["filter"].help_text = " ".join(helps)


class StoreForm(ConnectionForm):
    """A place in a store of files."""

    filter = None  # type: ignore[assignment]
    push_reasons = None  # type: ignore[assignment]
    format = forms.ChoiceField(label=_("Format of the files"), required=False)
    export_format = forms.ChoiceField(
        label=_("Releases are pushed as"),
        help_text=_(
            "Each into a folder, tristep-releases/project/version; on the hub as a commit with a tag."
        ),
    )
    field_order = ("name", "kind", "base_url", "key_name", "source", "format", "subset", "export_format")

    def __init__(self, *args: Any, project_kind: ProjectKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "kind" in self.fields:
            self.fields["kind"].choices = [  # type: ignore[attr-defined]
                (kind.name, translated(kind.title)) for kind in STORES.values()
            ]
            self.fields["kind"].help_text = _("S3 is for GCS, MinIO and R2 too.")
        examples = _(
            "https://server/bucket/folder, https://huggingface.co/datasets/owner/name, or file:///data/runs."
        )
        self.fields["base_url"].help_text = joined(str(examples), str(self.fields["base_url"].help_text))
        self.fields["source"].label = _("Files")
        self.fields["source"].help_text = translated(STORES["s3"].source_help)
        self.fields["key_name"].help_text = _(
            "TRISTEP_CONNECTION_KEY_… on the server: for S3 it holds id:secret; empty for a folder."
        )
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            ("", _("Detect automatically")),
            *(
                (name, translated(importer.title))
                for name, importer in FORMATS.items()
                if kind_of(importer) == project_kind
            ),
        ]
        exports = [one for one in EXPORTS if project_kind.has(one.needs)]
        self.fields["export_format"].choices = [  # type: ignore[attr-defined]
            (one.name, translated(one.title)) for one in sorted(exports, key=lambda one: not one.options)
        ]


class PushForm(forms.Form):
    """The release that is pushed to a store, by its version."""

    release = forms.ChoiceField(label=_("Release"))

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Release.objects.filter(project=project).order_by("-number")
        versions = rows.values_list("version", "withdrawal")
        self.fields["release"].choices = [  # type: ignore[attr-defined]
            (version, _("%(version)s (withdrawn)") % {"version": version} if withdrawn else version)
            for version, withdrawn in versions
        ]


class VersionsForm(forms.Form):
    """The subset into which new versions of what is labelled already go."""

    subset = forms.SlugField(label=_("New versions go into the subset"), max_length=64)
