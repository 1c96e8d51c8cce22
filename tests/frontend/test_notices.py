"""The page of notices: what one is told of, unread marks, and where a notice leads."""

from __future__ import annotations

from datetime import timedelta

from django.core import mail
from django.utils import timezone

from annotation.models import Assignment, Membership, Notice, Trajectory, User
from annotation.reports.cases.discussions import discussion
from annotation.services import adjudicate, assign, claim_expiry, discuss, notices
from tests import callers, people


def discussed(cast):
    """A dispute that judith discusses with ann and ben; she has said something of the second step."""
    people.import_records(cast.project, 2)
    people.make_disputed(cast)
    row = Trajectory.objects.get(state="disputed")
    people.open_case(cast.judith, row)
    talk = discuss.open_discussion(actor=cast.judith, trajectory=row)
    discuss.comment(actor=cast.judith, discussion=talk, text="@A @B why?", message_index=4)
    return talk


def test_notices_are_counted_on_every_page_listed_and_marked_as_read(cast, browse, at, text):
    talk = discussed(cast)
    client = browse("ann")
    # opened, and then mentioned: one discussion, and one line
    assert "1<span" in text(client.get(at("home"))).replace(" ", "").replace("\n", "")
    page = text(client.get(at("notices")))
    assert "The adjudicator mentioned you at step 2." in page and "was opened" not in page
    assert page.count(">2 new<") == 1 and "1 earlier event" in page
    discuss.comment(actor=cast.judith, discussion=talk, text="Both?", message_index=4)
    again = text(client.get(at("notices")))
    assert "you are mentioned" in again and "you are mentioned" not in page

    newest = Notice.objects.filter(user=cast.ann).latest("pk")
    went = client.get(at("notice", newest.pk))
    assert went.headers["Location"] == f"{at('discussion', talk.pk)}?at=4#m4"
    page = text(client.get(at("notices")))
    assert " new<" not in page and "Mark all as read" not in page
    assert "new notices" not in text(client.get(at("home")))
    discuss.comment(actor=cast.judith, discussion=talk, text="And here?", message_index=2)
    page = text(client.get(at("notices")))
    assert "The adjudicator commented on step 1." in page and ">1 new<" in page and "3 earlier events" in page
    client.post(at("notices-read"), {"newest": str(Notice.objects.latest("pk").pk)})
    assert " new<" not in text(client.get(at("notices")))


def test_notice_names_who_spoke_to_admins_and_gives_others_the_letter_of_the_discussion(
    cast, browse, at, text
):
    talk = discussed(cast)
    discuss.comment(actor=cast.admin, discussion=talk, text="I listen.")
    discuss.revise(actor=cast.ben, discussion=talk, message_index=None, value=1, note="Seen again.")
    said = "changed their mind about the outcome."
    assert f"{cast.ben} {said}" in text(browse("admin").get(at("notices")))
    (letter,) = {"A", "B"} - {discussion(actor=cast.ann, row=talk).letter}
    for who in ("ann", "judith"):
        page = text(browse(who).get(at("notices")))
        assert f"{letter} {said}" in page and str(cast.ben) not in page.partition("<main")[2]


def test_notices_take_as_many_queries_for_three_discussions_as_for_one(
    cast, browse, at, django_assert_num_queries
):
    people.import_records(cast.project, 3)
    client = browse("judith")
    for _number in range(3):
        people.make_disputed(cast)
        row = Trajectory.objects.filter(state="disputed").latest("pk")
        people.open_case(cast.judith, row)
        talk = discuss.open_discussion(actor=cast.judith, trajectory=row)
        discuss.comment(actor=cast.ann, discussion=talk, text="See here.", message_index=2)
        with django_assert_num_queries(9):
            client.get(at("notices"))


def test_notice_of_somebody_else_is_not_there(cast, browse, at):
    discussed(cast)
    theirs = Notice.objects.filter(user=cast.ben).latest("pk")
    client = browse("ann")
    assert client.get(at("notice", theirs.pk)).status_code == 404
    assert client.post(at("notices-read"), {"only": str(theirs.pk)}).status_code == 404
    assert client.post(at("notices-read"), {"newest": "x"}).status_code == 400
    theirs.refresh_from_db()
    assert theirs.read_at is None


def test_notices_tell_of_claims_and_of_cases_and_lead_there(cast, browse, at, text):
    people.import_records(cast.project, 2)
    claim = people.claim(cast.cleo, cast.project)
    long_ago = timezone.now() - timedelta(days=13)
    Assignment.objects.filter(pk=claim.pk).update(last_used_at=long_ago)
    claim_expiry.sweep()
    claim_expiry.sweep()
    assert [one.kind for one in Notice.objects.filter(user=cast.cleo)] == ["claim_warned"]
    client = browse("cleo")
    first = Notice.objects.get(user=cast.cleo)
    assert client.get(at("notice", first.pk)).headers["Location"] == at("workbench", claim.pk)
    assign.take_back(actor=cast.admin, project=cast.project, assignments=[claim], reason="idle")
    ended = Notice.objects.filter(user=cast.cleo).latest("pk")
    assert ended.kind == "claim_ended"
    page = text(client.get(at("notices")))
    assert claim.trajectory.record_id not in page.partition("<main")[2]
    assert client.get(at("notice", ended.pk)).headers["Location"] == at("work", "bench")

    people.make_disputed(cast)
    row = Trajectory.objects.get(state="disputed")
    (case,) = adjudicate.assign_cases(actor=cast.admin, project=cast.project, trajectories=[row]).done
    given = Notice.objects.get(user=cast.judith)
    judge = browse("judith")
    assert "A case was assigned to you." in text(judge.get(at("notices")))
    assert judge.get(at("notice", given.pk)).headers["Location"] == at("adjudication", case.pk)
    listed = callers.Caller(cast.judith).get("/me/notices/").json()["results"]
    assert [(one["kind"], one["adjudication"], one["record_id"]) for one in listed] == [
        ("case_given", case.pk, row.record_id)
    ]


def test_notice_of_what_one_may_not_see_any_more_is_neither_listed_nor_counted(cast, browse, at, text):
    discussed(cast)
    Membership.objects.filter(user=cast.ann).delete()
    client = browse("ann")
    assert "No notices yet" in text(client.get(at("notices")))
    assert not Notice.objects.filter(user=cast.ann, read_at__isnull=True).exists()


def test_mail_goes_to_who_wants_it_where_there_is_a_mail_server(cast, browse, at, text, settings):
    assert "mail_notices" not in text(browse("ann").get(at("profile")))
    settings.MAIL_ENABLED = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    User.objects.filter(username__in=("ann", "ben")).update(email="x@example.org")
    client = browse("ann")
    assert "mail_notices" in text(client.get(at("profile")))
    assert client.post(at("profile"), {"display_name": "Ann", "email": "x@example.org"}).status_code == 302
    cast.ann.refresh_from_db()
    assert cast.ann.mail_notices is False
    people.import_records(cast.project, 2)
    claims = [people.claim(user, cast.project) for user in (cast.ann, cast.ben)]
    assign.take_back(actor=cast.admin, project=cast.project, assignments=claims)
    assert notices.mail_due() == 1
    (message,) = mail.outbox
    assert "open “Notices”" in message.body and "Project bench" in message.body
    assert callers.Caller(cast.ann).patch("/me/", {"mail_notices": True}).json()["mail_notices"] is True
