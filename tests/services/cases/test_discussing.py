"""Discussions: who takes part, what is said to whom, changes of mind, and what is left in the end."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Conflict, Denied, Invalid, NotFound, StaleVersion, TristepError
from annotation.core.vocabulary import ExposureKind, NoticeKind, Voice
from annotation.models import (
    Adjudication,
    AuditEvent,
    Comment,
    Discussion,
    Exposure,
    Label,
    Notice,
    Revision,
    ThreadRead,
    User,
)
from annotation.reports.cases import discussions as reports
from annotation.reports.cases import side_by_side
from annotation.services import adjudicate, assign, discuss, notices, release
from tests import people
from tests.people import Cast
from tests.services.talking import letter_of, read, revise, say, told

MEGABYTE = "x" * (1 << 20)


# ── Opening ───────────────────────────────
def test_discussion_is_opened_by_the_adjudicator_of_the_case_or_an_admin(
    cast: Cast, disputed_case: Adjudication
) -> None:
    people.make_member(cast.project, cast.oscar, "adjudicator")
    for who in (cast.ann, cast.ben, cast.cleo, cast.oscar):
        with pytest.raises(Denied):
            discuss.open_discussion(actor=who, trajectory=disputed_case.trajectory)
    assert not Discussion.objects.exists()

    made = discuss.open_discussion(actor=cast.admin, trajectory=disputed_case.trajectory)

    assert discuss.open_discussion(actor=cast.judith, trajectory=disputed_case.trajectory) == made
    assert (told(cast.ann), told(cast.ben), told(cast.judith), told(cast.admin)) == (
        ["opened"],
        ["opened"],
        ["opened"],
        [],
    )
    assert AuditEvent.objects.filter(verb="discussion.open").count() == 1


def test_discussion_is_of_disputes_only(cast: Cast) -> None:
    (row,) = people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    with pytest.raises(Conflict) as refusal:
        discuss.open_discussion(actor=cast.admin, trajectory=row)
    assert refusal.value.code == "not_disputed"


def test_admin_who_labelled_it_speaks_as_an_annotator_and_opens_nothing(cast: Cast) -> None:
    people.make_member(cast.project, cast.ann, "annotator", "admin")
    (row,) = people.import_records(cast.project, 1)
    people.make_disputed(cast)
    with pytest.raises(Denied):
        discuss.open_discussion(actor=cast.ann, trajectory=row)

    talk = discuss.open_discussion(actor=cast.admin, trajectory=row)

    assert say(cast.ann, talk, at=None).voice == Voice.ANNOTATOR


def test_labels_of_others_are_seen_once_it_is_open_and_it_is_noted(cast: Cast, talk: Discussion) -> None:
    seen = read(cast.ann, talk)

    assert [sorted(one.now.values()) for one in seen.threads] == [[1, 1], [-1, 1], [-1, -1], [-1, 1]]
    assert {label.note for label in seen.threads[0].item.labels} == {"Ann's note.", "Ben's note."}
    assert not any(label.name for one in seen.threads for label in one.item.labels)
    assert all(item.consensus is None for item in seen.shown.steps)
    assert list(Exposure.objects.filter(user=cast.ann).values_list("kind", flat=True)) == [ExposureKind.LABEL]
    assert {seen.letter, letter_of(cast.ben, talk)} == {"A", "B"}


def test_letters_of_a_discussion_are_those_of_the_case_and_of_the_next_one(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    people.make_member(cast.project, cast.oscar, "adjudicator")
    adjudicate.release_case(actor=cast.judith, adjudication=disputed_case)

    taken = people.open_case(cast.oscar, disputed_case.trajectory)

    assert disputed_case.letter_seed == talk.letter_seed == taken.letter_seed


@pytest.mark.parametrize("seed", range(4))
def test_letters_of_a_trajectory_are_those_of_its_case(
    cast: Cast, disputed_case: Adjudication, seed: int
) -> None:
    Adjudication.objects.update(letter_seed=seed)
    disputed_case.refresh_from_db()
    inside = side_by_side.case(actor=cast.judith, adjudication=disputed_case)
    page = side_by_side.inspection(actor=cast.admin, trajectory=disputed_case.trajectory)
    own = {label.note: label.letter for label in inside.steps[1].labels}
    assert {label.note: label.letter for label in page.steps[1].labels} == own
    assert set(own) == {"Ann's note.", "Ben's note."}


@pytest.mark.parametrize("who", ["cleo", "oscar"])
def test_who_takes_no_part_neither_reads_nor_speaks(cast: Cast, talk: Discussion, who: str) -> None:
    user = cast.everybody[who]
    for deed in (
        lambda: read(user, talk),
        lambda: say(user, talk),
        lambda: revise(user, talk, 4, 0),
        lambda: discuss.mark_read(actor=user, discussion=talk, message_index=None, comment=0),
    ):
        with pytest.raises((Denied, NotFound)):
            deed()
    assert not reports.mine(user).exists()


def test_annotator_who_has_left_takes_no_part_and_is_not_told(cast: Cast, talk: Discussion) -> None:
    people.leave(cast.project, cast.ben)
    say(cast.ann, talk)

    assert told(cast.ben) == ["opened"]
    for deed in (lambda: read(cast.ben, talk), lambda: say(cast.ben, talk)):
        with pytest.raises((Denied, NotFound)):
            deed()
    assert read(cast.ann, talk).threads[1].now == {
        letter_of(cast.ann, talk): 1,
        "B" if letter_of(cast.ann, talk) == "A" else "A": -1,
    }


# ── Comments ──────────────────────────────
def test_comment_tells_the_others_and_whoever_is_mentioned_is_told_so(cast: Cast, talk: Discussion) -> None:
    ben = letter_of(cast.ben, talk)
    say(cast.ann, talk, f"Did you see this, @{ben}? \x00 <script>")

    assert (told(cast.ben), told(cast.judith), told(cast.ann)) == (
        ["opened", "mention"],
        ["comment"],
        ["opened"],
    )
    (remark,) = read(cast.judith, talk).threads[1].remarks
    assert remark.text == f"Did you see this, @{ben}? \x00 <script>"
    assert (remark.speaker.voice, remark.speaker.letter, remark.speaker.name) == (
        Voice.ANNOTATOR,
        letter_of(cast.ann, talk),
        "",
    )
    assert read(cast.admin, talk).threads[1].remarks[0].speaker.name == "Ann"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid"),
        (" \n", "invalid"),
        (MEGABYTE, "invalid"),
        ("Ask @C.", "stranger"),
        ("Ask @ben!", "stranger"),
        ("@adjudicators", "stranger"),
    ],
)
def test_comment_that_is_empty_too_long_or_to_a_stranger_is_refused_whole(
    cast: Cast, talk: Discussion, text: str, code: str
) -> None:
    before = Notice.objects.count()
    with pytest.raises(Invalid) as refusal:
        say(cast.ann, talk, text)

    assert (refusal.value.code, set(refusal.value.fields)) == (code, {"text"})
    assert len(refusal.value.message) < 120
    assert (Comment.objects.count(), Notice.objects.count()) == (0, before)


@pytest.mark.parametrize(
    "text", ["@Adjudicator, please.", "请 @裁决员看看", "`@dataclass` is python", "mail me: x@example.org"]
)
def test_mention_is_in_any_language_and_never_in_code_or_addresses(
    cast: Cast, talk: Discussion, text: str
) -> None:
    say(cast.ann, talk, text)
    assert told(cast.judith) == (["mention"] if "裁" in text or "Adj" in text else ["comment"])


def test_adjudicator_cannot_be_mentioned_while_nobody_has_the_case(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    adjudicate.release_case(actor=cast.judith, adjudication=disputed_case)
    with pytest.raises(Invalid, match="you can mention @A, @B"):
        say(cast.ann, talk, "@Adjudicator!")


@pytest.mark.parametrize("at", [0, 3, 99])
def test_message_that_is_not_a_step_has_no_thread(cast: Cast, talk: Discussion, at: int) -> None:
    for deed in (lambda: say(cast.ann, talk, at=at), lambda: revise(cast.ann, talk, at, 0)):
        with pytest.raises(Invalid, match="not a step"):
            deed()


@pytest.mark.postgres
def test_comment_taken_back_leaves_a_mark_and_no_text(cast: Cast, talk: Discussion) -> None:
    made = say(cast.ann, talk)
    for who in (cast.ben, cast.judith, cast.admin):
        with pytest.raises(Denied):
            discuss.retract(actor=who, comment=made)

    first = discuss.retract(actor=cast.ann, comment=made).retracted_at

    assert discuss.retract(actor=cast.ann, comment=made).retracted_at == first
    (remark,) = read(cast.ben, talk).threads[1].remarks
    assert (remark.retracted, remark.text, remark.unread) == (True, "", False)


@pytest.mark.postgres
def test_unread_is_counted_for_each_person_and_thread(cast: Cast, talk: Discussion) -> None:
    first, second = (say(cast.ann, talk, at=4) for _ in range(2))
    whole = say(cast.judith, talk, at=None)

    def unread(user: User) -> list[int]:
        return [thread.unread for thread in read(user, talk).threads]

    assert unread(cast.ben) == [0, 2, 0, 1]
    assert unread(cast.ann) == [0, 0, 0, 1]
    for until in (second, first):
        discuss.mark_read(actor=cast.ben, discussion=talk, message_index=4, comment=until.pk)
    assert unread(cast.ben) == [0, 0, 0, 1]
    assert reports.mine(cast.ben).get().unread == 1
    assert list(Notice.objects.filter(user=cast.ben, read_at=None).values_list("comment", flat=True)) == [
        whole.pk
    ]
    discuss.mark_read(actor=cast.ben, discussion=talk, message_index=None, comment=whole.pk)
    assert reports.mine(cast.ben).get().unread == 0
    assert ThreadRead.objects.filter(user=cast.ben).count() == 2
    for stranger in (whole.pk, whole.pk + 1):
        with pytest.raises(Invalid):
            discuss.mark_read(actor=cast.ben, discussion=talk, message_index=4, comment=stranger)


def test_my_discussions_are_unread_first_and_one_query_however_many(cast: Cast) -> None:
    rows = people.import_records(cast.project, 3)
    people.make_disputed(cast, 3)
    talks = [discuss.open_discussion(actor=cast.admin, trajectory=row) for row in rows]
    say(cast.ben, talks[0], at=None)
    say(cast.ann, talks[1], at=None)

    with CaptureQueriesContext(connection) as asked:
        mine = [(one.pk, one.unread) for one in reports.mine(cast.ann)]

    assert mine == [(talks[0].pk, 1), (talks[1].pk, 0), (talks[2].pk, 0)]
    assert len(asked) == 1
    assert not reports.mine(cast.judith).exists() and not reports.mine(cast.admin).exists()
    say(cast.admin, talks[2], at=None)
    assert [one.pk for one in reports.mine(cast.admin)] == [talks[2].pk]
    # who has spoken in one is told of no other
    say(cast.ann, talks[1], at=None)
    assert told(cast.admin) == []


def test_discussion_takes_as_many_queries_however_much_is_in_it(cast: Cast, talk: Discussion) -> None:
    counts = []
    for number in range(2):
        for _ in range(1 + 3 * number):
            say(cast.ann, talk)
            say(cast.judith, talk, at=None)
        revise(cast.ann, talk, 4, number - 1, version=number)
        read(cast.ben, talk)
        with CaptureQueriesContext(connection) as asked:
            read(cast.ben, talk)
        counts.append(len(asked))
    assert counts == [17, 17]


# ── Mail ──────────────────────────────────
@pytest.mark.postgres
def test_mail_is_due_once_until_it_is_read_and_tells_nothing(
    cast: Cast, disputed_case: Adjudication, settings: Any
) -> None:
    settings.MAIL_ENABLED = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    User.objects.filter(pk=cast.ann.pk).update(email="ann@example.org", language="zh-hans")
    talk = discuss.open_discussion(actor=cast.judith, trajectory=disputed_case.trajectory)
    said = say(cast.ben, talk, "Ben thinks otherwise.")

    assert notices.mail_due() == 1
    assert notices.mail_due() == 0
    (message,) = mail.outbox
    assert message.to == ["ann@example.org"]
    for secret in ("Ben", "Judith", "otherwise", "tiny", disputed_case.trajectory.record_id):
        assert secret not in f"{message.subject} {message.body}"
    assert cast.project.name in message.body

    discuss.mark_read(actor=cast.ann, discussion=talk, message_index=4, comment=said.pk)
    say(cast.ben, talk)
    assert notices.mail_due() == 1


def test_notices_are_mailed_to_nobody_without_a_mail_server(cast: Cast, disputed_case: Adjudication) -> None:
    User.objects.update(email="somebody@example.org")
    discuss.open_discussion(actor=cast.judith, trajectory=disputed_case.trajectory)
    assert not Notice.objects.filter(mail_due=True).exists()


# ── Changes of mind ───────────────────────
def test_revision_stands_beside_the_label_and_the_newest_counts(cast: Cast, talk: Discussion) -> None:
    before = list(Label.objects.order_by("pk").values())
    revise(cast.ann, talk, 4, 0)
    revise(cast.ann, talk, 4, -1, version=1, note="No: it is wrong.")

    assert list(Label.objects.order_by("pk").values()) == before
    assert list(Revision.objects.values_list("previous", "value")) == [(1, 0), (0, -1)]
    thread = read(cast.ben, talk).threads[1]
    assert set(thread.now.values()) == {-1}
    assert not thread.disputed_now and thread.item.disputed
    assert [change.note for change in thread.changes] == ["The result says so.", "No: it is wrong."]
    assert (thread.version, read(cast.ann, talk).threads[1].version) == (0, 2)
    assert told(cast.ben)[-1] == NoticeKind.REVISION


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"value": 2}, Invalid),
        ({"value": True}, Invalid),
        ({"value": 1}, Invalid),
        ({"note": " "}, Invalid),
        ({"note": MEGABYTE}, Invalid),
        ({"version": 1}, StaleVersion),
        ({"value": -1, "root": 6}, Invalid),
        ({"value": -1, "root": 3}, Invalid),
        ({"value": 0, "root": 4}, Invalid),
        ({"value": -1, "reason": "recovery"}, Invalid),
        ({"value": -1, "reason": "because"}, Invalid),
    ],
)
def test_revision_that_cannot_be_is_refused_whole(
    cast: Cast, talk: Discussion, given: dict[str, Any], error: type[TristepError]
) -> None:
    with pytest.raises(error):
        revise(cast.ann, talk, 4, **{"value": 0, **given})
    assert not Revision.objects.exists()


def test_root_and_reason_of_an_error_are_corrected_by_a_revision(cast: Cast, talk: Discussion) -> None:
    made = revise(cast.ben, talk, 6, -1, root=6, reason="fabrication")

    assert (made.previous, made.value, made.root.message_index, made.reason) == (-1, -1, 6, "fabrication")  # type: ignore[union-attr]
    with pytest.raises(Invalid) as same:
        revise(cast.ben, talk, 6, -1, version=1, root=6, reason="fabrication")
    assert same.value.code == "unchanged"


def test_revision_to_the_same_label_without_its_reason_is_none(cast: Cast, talk: Discussion) -> None:
    """Forms ask for the reason of an error alone; that of another label stays."""
    Label.objects.filter(assignment__annotator=cast.ann, step__message_index=4).update(reason="recovery")
    with pytest.raises(Invalid) as same:
        revise(cast.ann, talk, 4, 1)
    assert same.value.code == "unchanged"
    assert not Revision.objects.exists()
    revise(cast.ann, talk, 4, 1, reason="cross_check")
    assert Revision.objects.get().reason == "cross_check"


# ── The end of it ─────────────────────────
def _close(cast: Cast, disputed_case: Adjudication) -> None:
    for at in (4, None):
        adjudicate.decide(actor=cast.judith, adjudication=disputed_case, message_index=at, value=-1)
    adjudicate.close_case(actor=cast.judith, adjudication=disputed_case)


def test_discussion_of_a_resolved_case_is_read_and_not_gone_on_with(
    cast: Cast, disputed_case: Adjudication, talk: Discussion
) -> None:
    said = say(cast.ann, talk)
    _close(cast, disputed_case)

    seen = read(cast.ann, talk)
    assert (seen.open, seen.frozen) == (False, None)
    assert [item.consensus for item in (*seen.shown.steps, seen.shown.outcome)] == [1, -1, -1, -1]
    assert set(Exposure.objects.filter(user=cast.ann).values_list("kind", flat=True)) == {
        "label",
        "consensus",
    }
    deeds = (
        lambda: say(cast.ann, talk),
        lambda: revise(cast.ann, talk, 4, 0),
        lambda: discuss.retract(actor=cast.ann, comment=said),
    )
    for deed in deeds:
        with pytest.raises(Conflict) as closed:
            deed()
        assert closed.value.code == "case_closed"
    made = release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    for deed in deeds:
        with pytest.raises(Conflict, match=r"Release 1\.0 holds this trajectory") as frozen:
            deed()
        assert frozen.value.code == "frozen"
    assert read(cast.ann, talk).frozen == made
    assert told(cast.ann)[-1] == NoticeKind.RESOLVED


def test_who_reads_a_discussion_may_still_claim_what_is_blind_to_them(cast: Cast, talk: Discussion) -> None:
    read(cast.ann, talk)
    more = people.import_records(cast.project, [people.make_record(0, 1, steps=3)], subset="more")
    assert assign.claim_this(actor=cast.ann, trajectory=more[0]).annotator == cast.ann
