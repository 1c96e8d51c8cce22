"""Discussions, comments, changes of mind and notices."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.vocabulary import NoticeKind, TrajectoryState, Voice
from annotation.reports.cases.notices import record_of
from annotation.services.discuss import MAX_COMMENT
from annotation.services.judged_steps import MAX_NOTE

from .base import MAX_BIGINT, Input, Output, Query, Value, Whole, words
from .trajectories import LabelledItem, Side

DISCUSSED_STATES = words(TrajectoryState)
VOICES = words(Voice)


class DiscussionRow(Output):
    """One discussion in a list: nothing that was said in it."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = serializers.CharField(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    state = serializers.ChoiceField(choices=DISCUSSED_STATES, source="trajectory.state")
    opened_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField()


class MyDiscussion(DiscussionRow):
    """One of one's own discussions; `unread` counts the comments of others that one has not read."""

    comments = serializers.IntegerField(source="comment_count")
    unread = serializers.IntegerField()


class Speaker(Output):
    """A speaker: an annotator as their letter, others as their role; `name` is empty for those who see only
    letters."""

    voice = serializers.ChoiceField(choices=VOICES)
    letter = serializers.CharField()
    name = serializers.CharField()
    own = serializers.BooleanField()


class Comment(Output):
    """One comment; the text of one that was taken back is empty."""

    id = serializers.IntegerField(source="pk")
    speaker = Speaker()
    text = serializers.CharField()
    created_at = serializers.DateTimeField()
    retracted = serializers.BooleanField()
    unread = serializers.BooleanField()


class Revision(Output):
    """One change of mind: from `previous` to `value`, and why. `root` is a message index."""

    speaker = Speaker()
    previous = Value(allow_null=True)
    value = Value()
    root = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]
    reason = serializers.CharField()
    note = serializers.CharField()
    created_at = serializers.DateTimeField()


class Thread(LabelledItem):
    """The discussion of one step, or with `message_index` null of the whole trajectory and its outcome.

    `votes` are the labels as submitted; `now` is what each letter says after what they have changed;
    `version` is how often one has changed this oneself.
    """

    now = serializers.DictField(child=Value(allow_null=True))
    disputed_now = serializers.BooleanField()
    version = serializers.IntegerField()
    unread = serializers.IntegerField()
    comments = Comment(many=True)
    revisions = Revision(many=True)


class Discussion(Output):
    """A discussion with its threads. `voice` is as whom one speaks, `letter` one's own as an annotator;
    `frozen_in` the release that closed it; `mentions` those whom a comment can name."""

    discussion = DiscussionRow()
    voice = serializers.ChoiceField(choices=VOICES, allow_null=True)
    letter = serializers.CharField()
    open = serializers.BooleanField()
    frozen_in = serializers.CharField(allow_null=True)
    mentions = serializers.ListField(child=serializers.CharField())
    unread = serializers.IntegerField()
    annotators = Side(many=True)
    threads = Thread(many=True)


INDEX = "The message of the step; null for the whole trajectory and its outcome."


class NewComment(Input):
    """A comment."""

    message_index = Whole(required=False, allow_null=True, min_value=0, max_value=MAX_INT, help_text=INDEX)
    text = serializers.CharField(max_length=MAX_COMMENT, trim_whitespace=False)


class Said(Output):
    """The comment that was made or taken back."""

    id = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    retracted_at = serializers.DateTimeField(allow_null=True)


class Reading(Input):
    """The last comment of a thread that one has read."""

    message_index = Whole(required=False, allow_null=True, min_value=0, max_value=MAX_INT, help_text=INDEX)
    comment = Whole(min_value=0, max_value=MAX_BIGINT, help_text="The id of the last comment that was read.")


class LastRead(Output):
    """The last comment that one has read now."""

    last_read = serializers.IntegerField()


class NewRevision(Input):
    """A change of mind, and why."""

    message_index = Whole(required=False, allow_null=True, min_value=0, max_value=MAX_INT, help_text=INDEX)
    value = Value()
    note = serializers.CharField(max_length=MAX_NOTE)
    root = Whole(  # type: ignore[assignment]
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_INT,
        help_text="For a −1: the message of the step at which the error began.",
    )
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=40)
    version = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_INT,
        help_text="How often one has changed this before.",
    )


class Revised(Output):
    """One's label now."""

    message_index = serializers.IntegerField(allow_null=True)
    previous = Value(allow_null=True)
    value = Value()
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class Notice(Output):
    """A notice: of a discussion (`message_index` null: of the whole trajectory), of a claim of one's own,
    of a case, of a remark to admins, about a member (one's own membership, or for admins another's), or about
    a webhook that is paused."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=words(NoticeKind))
    project = serializers.CharField(source="project.slug")
    discussion = serializers.IntegerField(source="discussion_id", allow_null=True)
    assignment = serializers.IntegerField(source="assignment_id", allow_null=True)
    adjudication = serializers.IntegerField(source="adjudication_id", allow_null=True)
    remark = serializers.IntegerField(source="remark_id", allow_null=True)
    membership = serializers.IntegerField(source="membership_id", allow_null=True)
    webhook = serializers.IntegerField(source="webhook_id", allow_null=True)
    record_id = serializers.SerializerMethodField()
    message_index = serializers.IntegerField(allow_null=True)
    comment = serializers.IntegerField(source="comment_id", allow_null=True)
    created_at = serializers.DateTimeField()
    read_at = serializers.DateTimeField(allow_null=True)

    def get_record_id(self, row: Any) -> str:
        """The record of the notice; of a claim only while it is open."""
        return record_of(row)


class HistoryOf(Query):
    """The step; without it the outcome and the whole. `everything`: all steps too."""

    message_index = serializers.IntegerField(required=False, min_value=0, max_value=MAX_INT)
    everything = serializers.BooleanField(required=False, default=False)


class HistoryEntry(Output):
    """One thing that happened, by whom as far as one may know, `about` a step (by `message_index`), the
    outcome or the whole."""

    at = serializers.DateTimeField()
    kind = serializers.CharField()
    about = serializers.ChoiceField(choices=["step", "outcome", "whole"])
    message_index = serializers.IntegerField(allow_null=True)
    voice = serializers.ChoiceField(choices=VOICES, allow_null=True)
    letter = serializers.CharField()
    name = serializers.CharField()
    own = serializers.BooleanField()
    value = Value(allow_null=True)
    note = serializers.CharField()
    detail = serializers.DictField(child=serializers.JSONField(allow_null=True))


class Seen(Input):
    """The newest notice that was seen; older ones count as seen too."""

    notice = Whole(min_value=1, max_value=MAX_BIGINT)


class SeenCount(Output):
    """The number of notices that were new until now."""

    seen = serializers.IntegerField()
