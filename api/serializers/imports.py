"""Import files and their progress."""

from __future__ import annotations

import json
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.label_files import LabelLine
from annotation.core.vocabulary import ImportState
from annotation.importers import FORMATS
from annotation.importers.preview import FilePreview
from annotation.models import ImportFile
from annotation.services.label.uploads import MAX_NAME

from .base import Output, Query, Sentence, words

IMPORT_STATES = words(ImportState)


class ImportError_(Output):
    """One thing that is wrong with a file."""

    line = serializers.IntegerField()
    field = serializers.CharField()
    reason = Sentence()


class ImportProgress(Output):
    """The progress of an import, in bytes read."""

    done = serializers.IntegerField(source="progress_done")
    total = serializers.IntegerField(source="progress_total")


class Import(Output):
    """One file on its way into a subset."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=IMPORT_STATES)
    subset = serializers.CharField(
        source="subset.name", default="", help_text="Empty for labels that are looked up in all subsets."
    )
    filename = serializers.CharField()
    format = serializers.CharField()
    sha256 = serializers.CharField()
    size = serializers.IntegerField()
    replace = serializers.BooleanField()
    progress = ImportProgress(source="*")
    created_count = serializers.IntegerField()
    unchanged_count = serializers.IntegerField()
    replaced_count = serializers.IntegerField()
    step_count = serializers.IntegerField()
    error = Sentence()
    error_count = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ImportNote(Output):
    """Something that the reader met in the file, and how often."""

    what = Sentence()
    count = serializers.IntegerField()


class RefusedMember(Output):
    """A file of an archive that was not received."""

    filename = serializers.CharField()
    reason = Sentence()


class ReceivedArchive(Output):
    """The imports of an archive's files."""

    imports = Import(many=True)
    refused = RefusedMember(many=True)


class ImportDetail(Import):
    """With its errors: the first 1,000 are listed, `error_count` counts all."""

    notes = serializers.SerializerMethodField()
    left_out = serializers.ListField(
        child=Sentence(), help_text="What the file has, and the trajectories not."
    )
    policy_models = serializers.DictField(child=serializers.CharField())
    offers_suspension = serializers.BooleanField(
        help_text="Most of the new trajectories are tasks in several turns that stand alone, and user "
        "messages do not suspend error runs in the subset yet: consider its `suspend_on_user_turn`."
    )
    options = serializers.DictField()
    errors = ImportError_(many=True)  # type: ignore[assignment]

    @extend_schema_field(ImportNote(many=True))
    def get_notes(self, row: ImportFile) -> Any:
        """The counts by what was met."""
        notes = [{"what": what, "count": count} for what, count in sorted(row.notes.items())]
        return ImportNote(notes, many=True).data


@extend_schema_field({"type": "string", "example": '{"0": "Qwen3-4B"}'})
class PolicyModels(serializers.Field[Any, Any, Any, Any]):
    """Names of the policy models by sample index, as a JSON object."""

    default_error_messages = {"invalid": _("Give a JSON object that maps sample indexes to model names.")}

    def to_internal_value(self, data: Any) -> dict[int, str]:
        """{sample index: name}."""
        try:
            value = json.loads(data) if isinstance(data, str) and len(data) <= 20_000 else None
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not all(self._fits(*pair) for pair in value.items()):
            self.fail("invalid")
        return {int(index): name.strip() for index, name in value.items()}

    @staticmethod
    def _fits(index: str, name: Any) -> bool:
        """The model's name must be one that every database takes as JSON."""
        is_index = index.isascii() and index.isdecimal() and len(index) <= 9
        printable = isinstance(name, str) and 0 < len(name.strip()) <= 120 and name.isprintable()
        return is_index and printable


class ImportOptions(Query):
    """Options for reading a file. They stand beside the file in a form, or in the query of a raw upload."""

    subset = serializers.CharField(
        required=False,
        max_length=64,
        help_text="Made when missing; by default the file's name without its ending.",
    )
    format = serializers.ChoiceField(
        required=False, choices=sorted(FORMATS), help_text="By default it is told from the first bytes."
    )
    replace = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Replace records whose content changed and nobody has claimed.",
    )
    policy_models = PolicyModels(required=False)
    preview = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Only store the file: look at its preview, then start the import.",
    )
    task_key_at = serializers.CharField(
        required=False, max_length=500, help_text="A JSON Pointer to the task's id in each record."
    )
    policy_model_at = serializers.CharField(
        required=False, max_length=500, help_text="A JSON Pointer to the policy model in each record."
    )
    redact = serializers.BooleanField(
        required=False, default=False, help_text="Take out keys and tokens of known forms."
    )


class RawOptions(ImportOptions):
    """The options of a raw upload."""

    filename = serializers.CharField(required=False, max_length=255)


class UploadForm(ImportOptions):
    """A file with its options."""

    file = serializers.FileField(allow_empty_file=True)


class LabelOptions(Query):
    """Options of a label file: whose labels they are, and where their records are."""

    annotator = serializers.CharField(
        required=False, default="", max_length=150, help_text="The user name of an annotator of the project."
    )
    name = serializers.CharField(
        required=False,
        default="",
        max_length=MAX_NAME,
        help_text="Instead: the name of somebody who gets an account that nobody can sign in to. The same "
        "name again is the same person.",
    )
    subset = serializers.CharField(
        required=False, default="", max_length=64, help_text="By default records are looked up in all."
    )
    preview = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Only store the file: look at its preview, then start the import.",
    )


class RawLabelOptions(LabelOptions):
    """The options of a raw upload."""

    filename = serializers.CharField(required=False, max_length=255)


class LabelUpload(LabelOptions):
    """A label file with its options."""

    file = serializers.FileField(allow_empty_file=True)


class PreviewedLine(Output):
    """A line of a label file, without its labels."""

    line = serializers.IntegerField()
    record_id = serializers.CharField()
    steps = serializers.SerializerMethodField(help_text="How many steps it labels.")

    def get_steps(self, line: LabelLine) -> int:
        """The number of step labels."""
        return len(line.step_labels)


class LabelPreview(Output):
    """A preview of a label file from its beginning. Nothing of it is imported yet."""

    records = serializers.IntegerField()
    steps = serializers.IntegerField()
    whole = serializers.BooleanField(help_text="Whether the file was read to its end.")
    lines = PreviewedLine(many=True)
    errors = ImportError_(many=True)  # type: ignore[assignment]


class Discarded(Output):
    """The number of discarded files."""

    discarded = serializers.IntegerField()


class JudgeName(Query):
    """The judge whose suggestions the labels become."""

    judge = serializers.CharField(max_length=120, help_text="Made when missing.")


class PreviewedTrajectory(Output):
    """The first trajectory, as it would be imported."""

    record_id = serializers.CharField()
    task_key = serializers.CharField()
    policy_model = serializers.CharField()
    question = serializers.CharField()
    reference_answer = serializers.JSONField()
    messages = serializers.JSONField()
    tools = serializers.JSONField()
    hints = serializers.JSONField()


class ImportPreview(Output):
    """A preview of a file from its beginning. Nothing of it is imported yet."""

    format = serializers.CharField(source="importer.name")
    recognised_by = Sentence(source="importer.recognised_by")
    certainty = serializers.FloatField()
    whole = serializers.BooleanField(help_text="Whether the file was read to its end.")
    trajectories = serializers.IntegerField(source="drafts")
    steps = serializers.IntegerField()
    labelled = serializers.IntegerField(help_text="Trajectories with labels or scores in the file.")
    notes = serializers.SerializerMethodField()
    left_out = serializers.ListField(child=Sentence(), source="context.left_out")
    errors = ImportError_(many=True)  # type: ignore[assignment]
    first = PreviewedTrajectory(allow_null=True)

    @extend_schema_field(ImportNote(many=True))
    def get_notes(self, preview: FilePreview) -> Any:
        """The counts by what was met."""
        notes = [{"what": what, "count": count} for what, count in sorted(preview.context.notes.items())]
        return ImportNote(notes, many=True).data
