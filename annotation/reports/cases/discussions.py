"""Discussions as those who take part read them: under letters, thread by thread, with what is unread."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotation.core.text import unescape
from annotation.core.vocabulary import AdjudicationState, AssignmentState, TrajectoryState, Voice
from annotation.models import (
    Adjudication,
    Assignment,
    Comment,
    Discussion,
    Release,
    ThreadRead,
    User,
)
from annotation.policies import visible, voice_of

from ..releases.release_preview import frozen_in
from ..shared.pseudonyms import letters
from . import side_by_side


@dataclass(frozen=True, slots=True)
class Speaker:
    """A speaker in a discussion: voice, letter of an annotator, and the name where it may be seen."""

    voice: Voice
    letter: str = ""
    name: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """One comment; the text of one that was taken back is empty."""

    pk: int
    speaker: Speaker
    text: str
    created_at: datetime
    retracted: bool
    unread: bool


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """One change of mind; `root` is a message index, `reason` a code of the scheme."""

    speaker: Speaker
    previous: int | None
    value: int
    root: int | None
    reason: str
    note: str
    created_at: datetime


@dataclass(slots=True)
class DiscussionThread:
    """The discussion of one step, or with `message_index` None of the whole trajectory and its outcome.

    `item` holds the labels as submitted and as they are now. `version` is how often the reader, who is
    `letter`, has changed this.
    """

    message_index: int | None
    item: side_by_side.SideBySideItem
    remarks: list[Remark] = field(default_factory=list)
    changes: list[RevisionLine] = field(default_factory=list)
    version: int = 0
    letter: str = ""

    @property
    def now(self) -> dict[str, int | None]:
        """The present label of each letter, with later changes."""
        return {label.letter: label.says.value for label in self.item.labels}

    @property
    def mine(self) -> side_by_side.LabelWithRoot | None:
        """The present label of the reader, who is one of the annotators."""
        return next((label.says for label in self.item.labels if label.letter == self.letter), None)

    @property
    def said(self) -> list[tuple[str, Remark | RevisionLine]]:
        """Comments and changes in the order of time: "comment" or "change", and the entry."""
        entries: list[tuple[str, Remark | RevisionLine]] = [("comment", remark) for remark in self.remarks]
        entries += [("change", change) for change in self.changes]
        return sorted(entries, key=lambda entry: entry[1].created_at)

    @property
    def unread(self) -> int:
        """The number of others' comments that the reader has not read."""
        return sum(remark.unread for remark in self.remarks)

    @property
    def own_remarks(self) -> int:
        """The number of the reader's own comments."""
        return sum(remark.speaker.own for remark in self.remarks)

    @property
    def last(self) -> int:
        """The id of the newest comment; 0 without one."""
        return self.remarks[-1].pk if self.remarks else 0

    @property
    def disputed_now(self) -> bool:
        """Whether the annotators differ after what they have changed."""
        return len({value for value in self.now.values() if value is not None}) > 1


@dataclass(frozen=True, slots=True)
class ReadableDiscussion:
    """A discussion as one person reads it.

    `voice` is as whom they speak, `letter` theirs as an annotator; `open` whether anything can be said now,
    `frozen` the release that closed it for good; `mentions` those whom a comment can name.
    """

    discussion: Discussion
    shown: side_by_side.SideBySide
    threads: list[DiscussionThread]
    voice: Voice | None
    letter: str
    open: bool
    frozen: Release | None
    mentions: tuple[str, ...]

    @property
    def unread(self) -> int:
        """The number of comments that the reader has not read."""
        return sum(thread.unread for thread in self.threads)


def discussion(*, actor: User, row: Discussion) -> ReadableDiscussion:
    """A discussion with all its threads. A constant number of queries.

    `row` comes with its trajectory's project, subset and task. Raises Denied to whoever takes no part.
    """
    shown = side_by_side.discussed(actor=actor, discussion=row)
    submitted = Assignment.objects.filter(trajectory=row.trajectory, state=AssignmentState.SUBMITTED)
    annotators = submitted.order_by().values_list("annotator", flat=True)
    drawn = letters(row.letter_seed, row.trajectory_id, annotators)
    letter = drawn.get(actor.pk, "")
    threads = {
        item.step.pk if item.step else None: DiscussionThread(
            item.step.message_index if item.step else None, item, letter=letter
        )
        for item in (*shown.steps, shown.outcome)
    }
    index_of = {item.step.pk: item.step.message_index for item in shown.steps if item.step is not None}
    _add_remarks(threads, actor, row, drawn, names=shown.access.names)
    for side, revision in shown.revisions:
        thread = threads[revision.step_id]
        own = side.letter == letter
        speaker = Speaker(voice=Voice.ANNOTATOR, letter=side.letter, name=side.name, own=own)
        thread.changes.append(
            RevisionLine(
                speaker=speaker,
                previous=revision.previous,
                value=revision.value,
                root=index_of.get(revision.root_id) if revision.root_id else None,
                reason=revision.reason,
                note=unescape(revision.note),
                created_at=revision.created_at,
            )
        )
        thread.version += speaker.own
    case = Adjudication.objects.filter(trajectory=row.trajectory).exclude(state=AdjudicationState.RELEASED)
    called = tuple(sorted(drawn.values())) + (("Adjudicator",) if case.exists() else ())
    is_open = row.trajectory.state == TrajectoryState.DISPUTED
    return ReadableDiscussion(
        discussion=row,
        shown=shown,
        threads=list(threads.values()),
        voice=voice_of(actor, row.trajectory),
        letter=letter,
        open=is_open,
        frozen=None if is_open else frozen_in(row.trajectory),
        mentions=called,
    )


def _speaker(voice: Voice, person: User, reader: User, drawn: dict[int, str], *, names: bool) -> Speaker:
    return Speaker(
        voice=voice,
        letter=drawn.get(person.pk, "") if voice is Voice.ANNOTATOR else "",
        name=str(person) if names else "",
        own=person.pk == reader.pk,
    )


def _add_remarks(
    threads: dict[int | None, DiscussionThread],
    reader: User,
    row: Discussion,
    drawn: dict[int, str],
    *,
    names: bool,
) -> None:
    marks = ThreadRead.objects.filter(user=reader, discussion=row).values_list("step", "last_read")
    read: dict[int | None, int] = defaultdict(int, dict(marks))
    for comment in Comment.objects.filter(discussion=row).select_related("author"):
        own = comment.author_id == reader.pk
        retracted = comment.retracted_at is not None
        threads[comment.step_id].remarks.append(
            Remark(
                pk=comment.pk,
                speaker=_speaker(Voice(comment.voice), comment.author, reader, drawn, names=names),
                text="" if retracted else unescape(comment.text),
                created_at=comment.created_at,
                retracted=retracted,
                unread=not own and not retracted and comment.pk > read[comment.step_id],
            )
        )


def mine(user: User) -> QuerySet[Discussion]:
    """The discussions that concern a person: of what they labelled, of cases they have, and those they spoke
    in; each with `unread` (comments of others) and `comment_count`, what is unread first, then the newest.

    One query, whatever it shows.
    """
    labelled = Assignment.objects.filter(
        trajectory=OuterRef("trajectory"), annotator=user, state=AssignmentState.SUBMITTED
    )
    has = Adjudication.objects.filter(trajectory=OuterRef("trajectory"), adjudicator=user).exclude(
        state=AdjudicationState.RELEASED
    )
    spoken = Comment.objects.filter(discussion=OuterRef("pk"), author=user)
    rows = visible(user, Discussion.objects.filter(trajectory__live=True)).filter(
        Q(Exists(labelled)) | Q(Exists(has)) | Q(Exists(spoken))
    )
    all_said = Comment.objects.filter(discussion=OuterRef("pk"), retracted_at__isnull=True)
    return (
        rows.annotate(unread=_count(_unread(all_said, user)), comment_count=_count(all_said))
        .annotate(is_new=Case(When(unread__gt=0, then=1), default=0))
        .select_related("project", "trajectory__subset", "trajectory__task")
        .order_by("-is_new", "-changed_at", "-pk")
    )


def _unread(comments: QuerySet[Comment], user: User) -> QuerySet[Comment]:
    theirs = ThreadRead.objects.filter(
        user=user, discussion=OuterRef("discussion"), last_read__gte=OuterRef("pk")
    )
    read = Q(Exists(theirs.filter(step=OuterRef("step")))) | Q(
        Exists(theirs.filter(step__isnull=True)), step__isnull=True
    )
    return comments.exclude(author=user).exclude(read)


def _count(rows: QuerySet[Comment]) -> Coalesce:
    counted = rows.order_by().values("discussion").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), Value(0))
