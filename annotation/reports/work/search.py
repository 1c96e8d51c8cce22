"""The search of a project: texts of trajectories, notes, reasons, comments, decisions and remarks.

Each person finds what they may read. Words are found as the page of a run finds them: whatever the case of
the letters, white space for any. Both databases answer alike, because texts are compared here: those of
trajectories are stored compressed, and an index of them would be larger than they are
(docs/performance.md, "Search").
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from django.db.models import F, IntegerField, Q, QuerySet, Value

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import escape, unescape
from annotation.core.trajectories.trajectory import Message, normalise
from annotation.core.vocabulary import AdjudicationState, Role
from annotation.models import (
    ACTIVE_STATES,
    Adjudication,
    AdminRemark,
    Assignment,
    Comment,
    Consensus,
    Label,
    OutcomeConsensus,
    OutcomeLabel,
    Project,
    Revision,
    Trajectory,
    TrajectoryContent,
    User,
    in_use,
)
from annotation.policies import being_labelled, kept_from_lists, require, roles, visible
from annotation.policies.rechecks import not_closed

SEARCHED: Final = ("step", "note", "reason", "comment", "decision", "remark")
"""The kinds of texts. All but `step` tell of somebody's judgement."""
MOST: Final = 500
"""Most finds of one kind that are listed."""
LEAST_LETTERS: Final = 2
NAMED, NAMED_AMONG = 8, 200
BEFORE, AFTER = 60, 160
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Page:
    """The page on which a person reads a trajectory, by the name of its address, and the pk in that."""

    name: str
    pk: int


@dataclass(frozen=True, slots=True)
class Found:
    """A text in which the words stand.

    `message_index` is None for the outcome or the whole. `before`, `words` and `after` are the text around
    the first place. `judged`: it tells of somebody's judgement who is not the reader.
    """

    kind: str
    trajectory: int
    message_index: int | None
    page: Page
    before: str
    words: str
    after: str
    judged: bool = False
    record_id: str = ""


def pattern_of(words: str) -> re.Pattern[str]:
    """The pattern that finds these words. Raises Invalid for fewer than two letters."""
    parts = words.split()
    if sum(map(len, parts)) < LEAST_LETTERS:
        raise Invalid(translatable("Type at least two characters."))
    return re.compile(r"\s+".join(map(re.escape, parts)), re.IGNORECASE)


def search(
    *, actor: User, project: Project, words: str, kind: str = "", reasons: Mapping[str, str]
) -> list[Found]:
    """The texts of a project in which words stand, by kind and in the order of the import: that of the queue
    would tell what came out of turn.

    `reasons`: the titles of reason codes as the person reads them. What is shown of others' judgements has to
    be noted (services/noted_reads.py, `found`). Whoever labels a trajectory finds of it only its texts and
    what they say themselves; of what an admin could still label, only its texts. Raises Invalid for too few
    letters or an unknown kind. The number of queries is constant.
    """
    require(actor, "project.view", project)
    if kind and kind not in SEARCHED:
        raise Invalid(translatable("There is no kind “{name}”.", name=kind))
    pattern = pattern_of(words)
    pages = _pages(actor, project)
    matches: list[Found] = []
    if kind in ("", "step"):
        matches += islice(_steps(project, pages, words, pattern), MOST)
    if kinds := [one for one in ((kind,) if kind else SEARCHED) if one != "step"]:
        reader = _reader(actor, project)
        for one in kinds:
            matches += islice(_said(reader, pages, one, pattern, reasons), MOST)
    names = Trajectory.objects.filter(pk__in={row.trajectory for row in matches}).order_by()
    record_ids = dict(names.values_list("pk", "record_id"))
    return [replace(row, record_id=record_ids[row.trajectory]) for row in matches]


def _pages(actor: User, project: Project) -> dict[int, Page]:
    """By trajectory, the page on which the person reads it. Four queries."""
    held = roles(actor, project)
    pages: dict[int, Page] = {}
    if Role.ANNOTATOR in held:
        own = _own(actor, project).filter(in_use("trajectory__"))
        pages = {t: Page("workbench", pk) for t, pk in own.values_list("trajectory", "pk").order_by()}
    if Role.ADJUDICATOR in held:
        cases = visible(actor, Adjudication.objects.filter(project=project, adjudicator=actor))
        cases = cases.exclude(state=AdjudicationState.RELEASED)
        pages |= {t: Page("adjudication", pk) for t, pk in cases.values_list("trajectory", "pk").order_by()}
    if Role.ADMIN in held:
        rows = visible(actor, Trajectory.objects.filter(project=project, live=True)).exclude(
            pk__in=being_labelled(actor)
        )
        pages |= {pk: Page("trajectory", pk) for pk in rows.order_by().values_list("pk", flat=True)}
    return pages


def trajectories_named(*, actor: User, project: Project, part: str) -> list[tuple[str, Page]]:
    """The first few trajectories that a person can open and whose id holds this, each with its page. Seven
    queries at most."""
    require(actor, "project.view", project)
    rows = visible(actor, Trajectory.objects.filter(project=project, record_id__icontains=escape(part)))
    pages = _pages(actor, project)
    named = rows.order_by("record_id").values_list("pk", "record_id")[:NAMED_AMONG]
    return [(record_id, pages[pk]) for pk, record_id in named if pk in pages][:NAMED]


def _own(actor: User, project: Project) -> QuerySet[Assignment]:
    """The assignments that a person can open, which leaves out what they were asked to label once more."""
    own = Assignment.stored.filter(annotator=actor, project=project, state__in=ACTIVE_STATES)
    return not_closed(project, own)


def _steps(
    project: Project, pages: Mapping[int, Page], words: str, pattern: re.Pattern[str]
) -> Iterator[Found]:
    needles = [needle for word in words.split() if (needle := _needle(word))]
    contents = TrajectoryContent.objects.filter(in_use("trajectory__"), trajectory__project=project)
    if not any(page.name == "trajectory" for page in pages.values()):
        contents = contents.filter(trajectory__in=list(pages))
    in_order = contents.order_by("trajectory_id").values_list("trajectory", "content")
    for pk, stored in in_order.iterator(200):
        if pk not in pages:
            continue
        text = zlib.decompress(bytes(stored)).decode("ascii")
        lower = text.lower()
        if not all(needle in lower for needle in needles):
            continue
        for index, message in enumerate(normalise(json.loads(text)["messages"])):
            if message.role == "system":  # which most runs of a project repeat word for word
                continue
            for part in _texts(message):
                if hit := pattern.search(part):
                    yield _found("step", pk, index, pages[pk], part, hit)
                    break


def _needle(word: str) -> str:
    """A word as it stands in lower-case canonical JSON; "" when its case cannot be told there."""
    if not word.isascii() and word.lower() != word.upper():
        return ""
    return json.dumps(word)[1:-1].lower()


def _texts(message: Message) -> Iterator[str]:
    """The texts of a message that its page shows."""
    for part in message.parts:
        yield part.text
    for call in message.tool_calls:
        yield call.name
        yield call.arguments_raw


@dataclass(frozen=True, slots=True)
class _Reader:
    """The person who searches: `own` are their assignments that they can open, `hidden` the trajectories of
    which they find only what they say themselves."""

    actor: User
    project: Project
    own: Collection[int]
    hidden: Collection[int]


def _reader(actor: User, project: Project) -> _Reader:
    """At most five queries."""
    hidden: set[int] = set()
    if (kept := kept_from_lists(actor, project)) is not None:
        hidden = set(Trajectory.objects.filter(kept, project=project).values_list("pk", flat=True))
    own = set(_own(actor, project).order_by().values_list("pk", flat=True))
    return _Reader(actor, project, own, hidden)


def _said(
    reader: _Reader,
    pages: Mapping[int, Page],
    kind: str,
    pattern: re.Pattern[str],
    reasons: Mapping[str, str],
) -> Iterator[Found]:
    """The finds in what people said, as far as the person may read it."""
    if kind == "comment":
        texts = _comments(reader)
    elif kind == "decision":
        texts = _decisions(reader)
    elif kind == "remark":
        texts = _remarks(reader)
    else:
        texts = _labels(reader, None if kind == "note" else reasons)
    for pk, index, own, talk, text in texts:
        page = pages.get(pk) if talk is None else Page("discussion", talk)
        if page is not None and (own or pk not in reader.hidden) and (hit := pattern.search(text)):
            yield _found(kind, pk, index, page, text, hit, judged=not own)


Said = Iterator[tuple[int, int | None, bool, int | None, str]]
"""The trajectory, the message, whether it is the reader's own, the discussion it stands in, and the text."""


def _labels(reader: _Reader, reasons: Mapping[str, str] | None) -> Said:
    """The notes of labels that the person may read, or the titles of their reasons."""
    actor = reader.actor
    of_project = Q(assignment__project=reader.project) & in_use("assignment__trajectory__")
    of_project &= ~Q(note="") if reasons is None else ~Q(reason="")
    # of rechecks one's own alone
    of_project &= Q(assignment__recheck__isnull=True) | Q(assignment__annotator=actor)
    columns = ("assignment__trajectory", "assignment", "assignment__annotator", "note", "reason")
    of_steps = visible(actor, Label.stored.filter(of_project)).annotate(place=F("step__message_index"))
    outcomes = visible(actor, OutcomeLabel.stored.filter(of_project))
    nowhere = outcomes.annotate(place=Value(None, IntegerField(null=True)))
    for rows in (of_steps, nowhere):
        in_order = rows.order_by("assignment__trajectory_id", "pk")
        for pk, turn, annotator, note, reason, place in in_order.values_list(*columns, "place"):
            own = annotator == actor.pk
            if not own or turn in reader.own:
                text = unescape(note) if reasons is None else reasons.get(reason, reason)
                yield pk, place, own, None, text


def _comments(reader: _Reader) -> Said:
    """Comments of discussions, and why people changed their minds in them."""
    actor, project = reader.actor, reader.project
    of_project = {"discussion__project": project, "discussion__trajectory__live": True}
    comments = visible(actor, Comment.objects.filter(**of_project, retracted_at=None))
    columns = ("discussion__trajectory", "step__message_index", "author", "discussion", "text")
    rows = comments.order_by("discussion__trajectory_id", "pk").values_list(*columns)
    of_project = {"assignment__project": project, "assignment__trajectory__live": True}
    changes = visible(actor, Revision.objects.filter(**of_project))
    talk = "assignment__trajectory__discussion"
    columns = ("assignment__trajectory", "step__message_index", "assignment__annotator", talk, "note")
    changed = changes.order_by("assignment__trajectory_id", "pk").values_list(*columns)
    for pk, index, author, discussion, text in chain(rows, changed):
        yield pk, index, author == actor.pk, discussion, unescape(text)


def _decisions(reader: _Reader) -> Said:
    """The notes of the consensus."""
    actor = reader.actor
    of_project = {"trajectory__project": reader.project, "trajectory__live": True}
    of_steps = visible(actor, Consensus.objects.filter(**of_project))
    outcomes = visible(actor, OutcomeConsensus.objects.filter(**of_project))
    steps = of_steps.annotate(place=F("step__message_index"))
    for rows in (steps, outcomes.annotate(place=Value(None, IntegerField(null=True)))):
        with_note = rows.exclude(note="").order_by("trajectory_id")
        for pk, by, note, place in with_note.values_list("trajectory", "resolved_by", "note", "place"):
            yield pk, place, by == actor.pk, None, unescape(note)


def _remarks(reader: _Reader) -> Said:
    """Remarks to admins, and their answers."""
    of_project = in_use("assignment__trajectory__")
    rows = visible(reader.actor, AdminRemark.objects.filter(of_project, project=reader.project))
    columns = ("assignment__trajectory", "assignment", "assignment__annotator", "step__message_index")
    in_order = rows.order_by("assignment__trajectory_id", "pk")
    for pk, turn, annotator, place, *texts in in_order.values_list(*columns, "text", "answer"):
        own = annotator == reader.actor.pk
        if not own or turn in reader.own:
            for text in filter(None, texts):
                yield pk, place, own, None, unescape(text)


def _found(
    kind: str, pk: int, index: int | None, page: Page, text: str, hit: re.Match[str], *, judged: bool = False
) -> Found:
    start, end = hit.span()
    cut = max(0, start - BEFORE)
    before, after = text[cut:start], text[end : end + AFTER]
    return Found(
        kind,
        pk,
        index,
        page,
        before=("…" if cut else "") + _SPACE.sub(" ", before),
        words=_SPACE.sub(" ", hit.group()),
        after=_SPACE.sub(" ", after) + ("…" if end + AFTER < len(text) else ""),
        judged=judged,
    )
