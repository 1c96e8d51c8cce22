"""Connections to servers where runs lie and to stores of files, and their transfers."""

from __future__ import annotations

from rest_framework import serializers

from annotation.connections import KINDS
from annotation.core.vocabulary import Direction, TransferState

from ..base import Input, Output, Sentence, words


class Connection(Output):
    """A place on an outside server. The key itself is in no answer."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    base_url = serializers.CharField()
    key_name = serializers.CharField(help_text="The environment variable of the key; empty for none.")
    source = serializers.CharField(  # type: ignore[assignment]
        help_text="The experiment (MLflow) or project (Phoenix, Langfuse, LangSmith) there; of a store, a "
        "pattern of files."
    )
    filter = serializers.CharField()
    format = serializers.CharField(
        help_text="Of a store: the format of its files; empty: recognised file by file."
    )
    export_format = serializers.CharField(help_text="Of a store: what releases are pushed as.")
    subset = serializers.CharField(help_text="What is pulled comes into it.")
    push_reasons = serializers.BooleanField(help_text="Whether notes of adjudicators are pushed too.")
    created_at = serializers.DateTimeField()


class ConnectionSettings(Input):
    """Settings of a connection; what is left out stays."""

    name = serializers.CharField(required=False, max_length=80)
    base_url = serializers.CharField(
        required=False, max_length=500, help_text="One that the operator allows (TRISTEP_CONNECTION_URLS)."
    )
    key_name = serializers.CharField(required=False, allow_blank=True, max_length=120)
    source = serializers.CharField(required=False, max_length=200)  # type: ignore[assignment]
    filter = serializers.CharField(required=False, allow_blank=True, max_length=1000)
    format = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="Of stores only; empty: recognised."
    )
    export_format = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="Of stores only; a format of exports."
    )
    subset = serializers.SlugField(required=False, max_length=64)
    push_reasons = serializers.BooleanField(required=False)


class NewConnection(ConnectionSettings):
    """A connection to be made."""

    kind = serializers.ChoiceField(choices=list(KINDS))
    name = serializers.CharField(max_length=80)
    base_url = serializers.CharField(max_length=500)
    source = serializers.CharField(max_length=200)
    subset = serializers.SlugField(max_length=64)


class NewTransfer(Input):
    """A pull or push to be done."""

    direction = serializers.ChoiceField(choices=words(Direction))
    dry = serializers.BooleanField(required=False, default=False, help_text="Say what it would do, only.")
    versions = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Pull what has changed since somebody began to label it, and nothing else, into `subset`.",
    )
    subset = serializers.SlugField(required=False, default="", max_length=64, allow_blank=True)
    release = serializers.CharField(
        required=False,
        default="",
        max_length=40,
        allow_blank=True,
        help_text="The version of the release that is pushed to a store; empty: the newest.",
    )


class LeftOut(Output):
    """A trace or record that did not come along."""

    id = serializers.CharField()
    reason = Sentence()


class TransferredFile(Output):
    """A file of a store, and what became of it: `new` or `changed` when it was pulled, `written` there."""

    name = serializers.CharField()
    what = serializers.CharField()
    records = serializers.DictField(
        child=serializers.IntegerField(), required=False, help_text="Of a pulled file: records by their fate."
    )
    imports = serializers.ListField(
        child=serializers.IntegerField(),
        required=False,
        help_text="The imports that take a pulled file over.",
    )
    bytes = serializers.IntegerField(required=False)


class Transfer(Output):
    """A pull or push. `counts`: of a pull `new`, `known`, `replaced`, `versions`, and `read`, the spans so
    far, while they are gathered; of a push `written`, `changed`, `unchanged`, `withdrawn`; of both
    `left_out`; of a pull of a store also `files_new`, `files_changed`, `files_known`."""

    id = serializers.IntegerField()
    direction = serializers.ChoiceField(choices=words(Direction))
    dry = serializers.BooleanField()
    versions = serializers.BooleanField()
    subset = serializers.CharField()
    state = serializers.ChoiceField(choices=words(TransferState))
    progress_done = serializers.IntegerField(help_text="Traces or files looked at.")
    counts = serializers.DictField(child=serializers.IntegerField())
    left_out = LeftOut(many=True)
    files = TransferredFile(many=True, help_text="Of a store: the first 1,000 files.")
    release = serializers.CharField(
        source="release.version", allow_null=True, default=None, help_text="What is pushed to a store."
    )
    error = Sentence()
    import_id = serializers.IntegerField(
        source="imported_id", allow_null=True, help_text="The import that takes over what was pulled."
    )
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
