"""Releases and what became of them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.core.releases.diff import WHATS
from annotation.core.vocabulary import FreezeState, SignatureState
from annotation.services.release import check_release
from annotation.services.release.freeze_request import MAX_LICENCE, MAX_NOTE, MAX_TITLE

from .base import Input, Output, Query, Sentence, StoredText, words


class Withdrawal(Output):
    """The withdrawal of a faulty release, and its reason."""

    reason = StoredText()
    created_at = serializers.DateTimeField()


class Release(Output):
    """A frozen release."""

    version = serializers.CharField()
    number = serializers.IntegerField()
    note = StoredText()
    digest = serializers.CharField()
    record_count = serializers.IntegerField()
    label_count = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    withdrawal = serializers.SerializerMethodField()

    def get_withdrawal(self, row: Any) -> dict[str, Any] | None:
        """The withdrawal, if there is one."""
        withdrawal = getattr(row, "withdrawal", None)
        return dict(Withdrawal(withdrawal).data) if withdrawal is not None else None


class Signature(Output):
    """The validity of a release's signature here: `valid` by a key that is known here, `unknown_key` or
    `invalid`; and the fingerprint of the key that it names."""

    state = serializers.ChoiceField(choices=[state.value for state in SignatureState])
    fingerprint = serializers.CharField(allow_blank=True)


class ReleaseDetail(Release):
    """With its manifest: counts, distributions, agreement figures, versions, every file's sha256, and the
    release before; and with its signature."""

    manifest = serializers.SerializerMethodField()
    signature = serializers.SerializerMethodField()

    def get_manifest(self, row: Any) -> dict[str, Any]:
        """The manifest, parsed."""
        manifest: dict[str, Any] = row.parsed_manifest()
        return manifest

    def get_signature(self, row: Any) -> dict[str, Any]:
        """The signature, checked against the manifest."""
        return dict(Signature(check_release(row)).data)


class NewRelease(Input):
    """Freeze everything that is resolved now."""

    version = serializers.CharField(
        max_length=40, help_text="Letters, digits, dots, hyphens and underscores."
    )
    title = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=MAX_TITLE, help_text="In one line."
    )
    licence = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=MAX_LICENCE,
        help_text="An SPDX identifier, such as CC-BY-4.0, or words of your own.",
    )
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)
    leave_out = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        default=list,
        max_length=1_000,
        help_text="Names of subsets that do not come into the release.",
    )
    difficulty = serializers.ListField(
        child=serializers.FloatField(min_value=0, max_value=1),
        required=False,
        allow_null=True,
        default=None,
        min_length=2,
        max_length=2,
        help_text="Of decisions: from and to which share of right answers by judges they come into it.",
    )


class FreezeProgress(Output):
    """The progress of a freeze, in records read."""

    done = serializers.IntegerField(source="progress_done")
    total = serializers.IntegerField(source="progress_total")


class Freeze(Output):
    """A release on its way. `release` is its version from the moment that it is frozen; `error` says why it
    is not."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=words(FreezeState))
    version = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    licence = StoredText(allow_blank=True)
    note = StoredText(allow_blank=True)
    leave_out = serializers.ListField(child=serializers.CharField())
    difficulty = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    progress = FreezeProgress(source="*")
    error = Sentence()
    release = serializers.CharField(source="release.version", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class Verification(Output):
    """The result of verifying a release against its freezing."""

    ok = serializers.BooleanField()
    records = serializers.IntegerField()
    labels = serializers.IntegerField()
    digest = serializers.CharField()
    problems = serializers.ListField(child=serializers.CharField())
    signature = serializers.ChoiceField(choices=[state.value for state in SignatureState])
    fingerprint = serializers.CharField(allow_blank=True, help_text="Of the key that signed it.")


class Withdraw(Input):
    """The reason for withdrawing a release."""

    reason = serializers.CharField(max_length=MAX_NOTE)


class ReleasedLabel(Output):
    """One label of a release: its value, how it was reached, the message at which its error began, its
    reason."""

    value = serializers.IntegerField()
    kind = serializers.CharField()
    root = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]
    reason = serializers.CharField(allow_blank=True)


class LabelChange(Output):
    """One label that is not the same in both; the outcome has neither message nor step."""

    message_index = serializers.IntegerField(allow_null=True)
    step = serializers.IntegerField(allow_null=True, help_text="From 1.")
    before = ReleasedLabel(allow_null=True)
    after = ReleasedLabel(allow_null=True)


class RecordChange(Output):
    """One record that is not the same in two releases."""

    subset = serializers.CharField()
    record_id = serializers.CharField()
    policy_model = serializers.CharField(allow_blank=True)
    what = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="The kinds of changes."
    )
    labels = LabelChange(many=True)
    hidden = serializers.BooleanField(help_text="You are labelling this trajectory: nothing more is said.")


class ChangesAsked(Query):
    """A filter of changes."""

    what = serializers.ChoiceField(choices=WHATS, required=False)
    subset = serializers.CharField(required=False, allow_blank=True, default="")


class PublicAddress(Output):
    """The switches of a release's public address."""

    is_open = serializers.BooleanField()
    shows_leaderboard = serializers.BooleanField()
    may_be_indexed = serializers.BooleanField()
    address = serializers.CharField(help_text="Of the page; nobody reads it while `is_open` is false.")


class SetPublicAddress(Input):
    """New switches of the public address; those left out stay."""

    is_open = serializers.BooleanField(required=False)
    shows_leaderboard = serializers.BooleanField(required=False)
    may_be_indexed = serializers.BooleanField(required=False)
