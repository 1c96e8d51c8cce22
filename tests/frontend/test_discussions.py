"""Discussions on pages: opening one, threads, changes of mind, one's own list."""

from __future__ import annotations

from html import unescape

import pytest

from annotation.models import Comment, Label, Notice, Revision
from annotation.services import discuss
from tests import people
from tests.fixtures.shared_rows import shared_rows


@shared_rows
def case(cast):
    """A dispute on the second of two steps and the outcome, taken by judith."""
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, [1, 1], outcome=1)
    people.label_next(cast.ben, cast.project, [1, -1], outcome=-1)
    return people.open_case(cast.judith, trajectory)


@shared_rows
def talk(cast, case):
    return discuss.open_discussion(actor=cast.judith, trajectory=case.trajectory)


def said(client, at, talk, text="Look at the result.", index="4"):
    return client.post(at("discussion-comment", talk.pk), {"message_index": index, "text": text})


def test_discussion_is_opened_from_the_case_and_the_annotators_find_it(browse, cast, case, at, text):
    judith = browse("judith")
    assert "Open a discussion" in text(judith.get(at("adjudication", case.pk)))
    opened = judith.post(at("discussion-start", case.trajectory_id))
    assert opened.status_code == 302
    assert "Open a discussion" not in text(judith.get(at("adjudication", case.pk)))
    for who in ("ann", "ben"):
        assert opened.url in text(browse(who).get(at("discussions")))
    assert "No discussions yet" in text(browse("cleo").get(at("discussions")))


def test_comment_stands_in_its_thread_under_letters_and_is_new_to_the_others_once(
    browse, cast, talk, case, at, text
):
    assert said(browse("ann"), at, talk).url == f"{at('discussion', talk.pk)}?at=4#m4"
    assert "1 new" in text(browse("ben").get(at("discussions")))
    page = text(browse("ben").get(at("discussion", talk.pk)))
    assert "Look at the result." in page
    assert "1 new" in page
    assert "1 new" not in text(browse("ben").get(at("discussion", talk.pk)))
    for name in ("Ann", "ann<", "Judith"):
        assert name not in page
    assert "Look at the result." in text(browse("judith").get(at("adjudication", case.pk)))
    answer = said(browse("judith"), at, talk, "So it is.", "")
    assert answer.url == f"{at('adjudication', case.pk)}#outcome"


@pytest.mark.parametrize("after", ["opened", "retracted", "revised"])
def test_discussion_that_was_opened_has_been_read_whatever_happened_in_it(browse, cast, talk, at, after):
    if after == "retracted":
        discuss.retract(actor=cast.ben, comment=discuss.comment(actor=cast.ben, discussion=talk, text="Oh."))
    if after == "revised":
        discuss.revise(actor=cast.ben, discussion=talk, message_index=4, value=1, note="I see.")
    unread = Notice.objects.filter(user=cast.ann, discussion=talk, read_at__isnull=True)
    assert unread.exists()
    assert browse("ann").get(at("discussion", talk.pk)).status_code == 200
    assert not unread.exists()


def test_change_of_mind_stands_beside_the_label_and_is_what_the_case_starts_from(
    browse, cast, talk, case, at, text
):
    form = {"message_index": "4", "value": "1", "note": "The result says so.", "version": "0"}
    assert browse("ben").post(at("discussion-revise", talk.pk), form).status_code == 302
    assert Revision.objects.get().value == 1
    assert Label.objects.get(assignment__annotator=cast.ben, step__message_index=4).value == -1
    shown = browse("judith").get(at("adjudication", case.pk))
    assert "The result says so." in text(shown)
    assert shown.context["state"]["steps"][1]["agreed"] == 1


def test_change_of_mind_corrects_where_an_error_began_and_why(browse, cast, at, text):
    (trajectory,) = people.import_records(cast.project, [people.make_record(7, steps=3)], subset="other")
    people.label_next(cast.ann, cast.project, [-1, -1, 1], outcome=-1)
    people.label_next(cast.ben, cast.project, [1, -1, 1], outcome=-1)
    talk = discuss.open_discussion(actor=cast.admin, trajectory=trajectory)
    page = text(browse("ann").get(at("discussion", talk.pk)))
    assert "beginning disputed" in page
    assert "step 1, and from it 2" in page
    form = {"message_index": "4", "value": "-1", "note": "It stands alone.", "version": "0"}
    named = {"root": "4", "reason": "wrong_tool"}
    refused = browse("ben").post(at("discussion-revise", talk.pk), {**form, "root": "6"})
    assert "this step or an earlier one" in text(refused)
    assert browse("ann").post(at("discussion-revise", talk.pk), {**form, **named}).status_code == 302
    change = Revision.objects.get()
    assert (change.previous, change.value, change.root.message_index) == (-1, -1, 4)
    assert change.reason == "wrong_tool"
    page = text(browse("ben").get(at("discussion", talk.pk)))
    assert "beginning disputed" not in page
    assert "step 2 · Wrong tool for what is needed" in page
    label = Label.objects.get(assignment__annotator=cast.ann, step__message_index=4)
    assert (label.root.message_index, label.reason) == (2, "")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("  ", "Write something."),
        ("x" * 20_001, "20,000 characters"),
        ("@Rumpelstilz look <here>", "Rumpelstilz"),
    ],
)
def test_comment_that_is_refused_stays_in_its_form(browse, talk, at, text, typed, sentence):
    answer = said(browse("ann"), at, talk, typed)
    assert answer.status_code == 400
    assert sentence in text(answer)
    assert typed in unescape(text(answer))
    assert not Comment.objects.exists()


def test_stale_change_of_mind_is_refused_and_its_reason_stays(browse, talk, at, text):
    form = {"message_index": "4", "value": "0", "note": "Neither.", "version": "0"}
    browse("ann").post(at("discussion-revise", talk.pk), form)
    late = browse("ann").post(at("discussion-revise", talk.pk), {**form, "value": "-1", "note": "Typed."})
    assert late.status_code == 409
    assert "Typed.</textarea>" in text(late)
    assert Revision.objects.count() == 1


def test_comment_is_taken_back_by_its_author_alone(browse, cast, talk, at, text):
    said(browse("ann"), at, talk)
    comment = Comment.objects.get()
    assert browse("ben").post(at("comment-retract", comment.pk)).status_code == 403
    assert browse("ann").post(at("comment-retract", comment.pk)).status_code == 302
    assert "Look at the result." not in text(browse("ben").get(at("discussion", talk.pk)))
