"""Inviting by link and by mail, joining and declining."""

from __future__ import annotations

import re
from datetime import timedelta

from django.core import mail
from django.test import Client
from django.utils import timezone

from annotation.models import Invitation, Membership, User
from annotation.services import projects
from tests.people import PASSWORD

# what differs from link to link, and what was typed
WITHOUT = re.compile(r'value="[^"]*"|/invitations/[^/"]+/')
JOIN = {"display_name": "Dora", "password": PASSWORD, "password_again": PASSWORD}


def invite(client: Client, at, **form: str) -> str:
    response = client.post(at("invite", "bench"), form or {"is_annotator": "on"})
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    return re.search(r"http://testserver(/invitations/[^\"/]+/)", response.content.decode())[1]


def joining(link: str, name: str = "dora", **changes: str) -> dict[str, str]:
    """The form of a new person, their user name with the ending of the link."""
    secret = link.rstrip("/").rsplit("/", 1)[1]
    return {**JOIN, "username": name + projects.user_name_ending(secret=secret), **changes}


def test_invitation_makes_an_account_and_a_member_and_works_once(browse, cast, at, text):
    link = invite(browse("admin"), at)
    guest = Client()
    assert "You are invited to Project bench" in text(guest.get(link))
    answer = guest.post(link, joining(link))
    assert answer.url == at("project", "bench")
    name = joining(link)["username"]
    assert f"You sign in as {name}." in text(guest.get(answer.url))
    assert guest.get(at("work", "bench")).status_code == 200
    member = Membership.objects.get(user__username=name)
    assert (member.is_annotator, member.is_adjudicator, member.is_admin) == (True, False, False)
    assert Client().post(link, joining(link, "eve")).status_code == 404
    assert not User.objects.filter(username__startswith="eve").exists()


def test_invitation_lets_a_signed_in_person_join_with_the_account_they_have(browse, cast, at):
    link = invite(browse("admin"), at, is_adjudicator="on")
    client = browse("oscar")
    assert client.post(link).url == at("project", "bench")
    assert Membership.objects.get(user=cast.oscar).is_adjudicator


def test_roles_are_added_to_those_a_member_holds(browse, cast, at):
    browse("ann").post(invite(browse("admin"), at, is_adjudicator="on"))
    member = Membership.objects.get(user=cast.ann)
    assert member.is_annotator
    assert member.is_adjudicator


def test_invitation_stays_good_after_bad_forms_which_make_nothing(browse, cast, at, text):
    link = invite(browse("admin"), at)
    guest = Client()
    assert "not the same" in text(guest.post(link, joining(link, password_again="other")))
    taken, free = (guest.post(link, joining(link, username=name)) for name in ("ann", "eve"))
    assert taken.status_code == free.status_code == 400
    assert WITHOUT.sub("", text(taken)) == WITHOUT.sub("", text(free))
    weak = guest.post(link, joining(link, password="12345678", password_again="12345678"))
    assert weak.status_code == 400
    assert guest.post(link, joining(link)).status_code == 302


def test_invitation_is_declined_signed_in_or_not(browse, cast, at, text):
    for client in (Client(), browse("oscar")):
        link = invite(browse("admin"), at, name="Dora of the lab", is_annotator="on")
        assert "Decline" in text(client.get(link))
        assert client.post(link, {"answer": "decline"}).url == at("home")
        assert client.get(link).status_code == 404
    page = text(browse("admin").get(at("members", "bench")))
    assert page.count("Dora of the lab") == 2 and page.count("declined") == 2 and "Oscar" not in page
    assert not Membership.objects.filter(user=cast.oscar).exists()


def test_invitation_proposes_a_user_name_and_says_the_same_whoever_has_an_account(browse, cast, at, text):
    pages = []
    for name in ("Ann", "Eve"):
        link = invite(browse("admin"), at, name=name, email=f"{name}@example.org", is_annotator="on")
        page = text(Client().get(link))
        wanted = joining(link, name.lower())["username"]
        assert f'value="{wanted}"' in page
        pages.append(WITHOUT.sub("", page).replace(wanted.removeprefix(name.lower()), ""))
    assert pages[0] == pages[1]


def test_invitation_that_is_old_revoked_or_made_up_is_not_found(browse, cast, at):
    link = invite(browse("admin"), at)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert Client().get(link).status_code == 404
    Invitation.objects.update(expires_at=timezone.now() + timedelta(days=1))
    assert Client().get(link).status_code == 200
    row = Invitation.objects.get()
    browse("admin").post(at("invitation-revoke", "bench", row.pk))
    assert Client().get(link).status_code == 404
    assert Client().get(at("invitation", "made-up")).status_code == 404


def test_role_is_needed(browse, at, text):
    response = browse("admin").post(at("invite", "bench"), {"email": "x@example.org"})
    assert response.status_code == 400
    assert "Choose at least one role" in text(response)


def test_invitation_is_sent_too_with_a_mail_server(browse, at, settings):
    settings.MAIL_ENABLED = True
    link = invite(browse("admin"), at, email="dora@example.org", is_annotator="on")
    assert link in mail.outbox[0].body
    assert mail.outbox[0].to == ["dora@example.org"]


def test_invitation_shows_what_became_of_it(browse, cast, at, text):
    client = browse("admin")
    links = [invite(client, at, name=name, is_annotator="on") for name in ("Ada", "Bea", "Cyd", "Dee", "Eve")]
    Client().post(links[0], joining(links[0], "ada"))
    Client().post(links[1], {"answer": "decline"})
    rows = list(Invitation.objects.order_by("pk"))
    client.post(at("invitation-revoke", "bench", rows[2].pk))
    Invitation.objects.filter(pk=rows[3].pk).update(expires_at=timezone.now() - timedelta(days=1))
    page = text(client.get(at("members", "bench"))).partition('id="open"')[2]
    shown = [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in page.split("<li id=")[1:6]]
    # what waits comes first, then the newest
    words = [(row.split(">")[1].split()[0], row.split()[2]) for row in shown]
    assert words == [
        ("Eve", "pending"),
        ("Dee", "expired"),
        ("Cyd", "withdrawn"),
        ("Bea", "declined"),
        ("Ada", "accepted"),
    ]


def test_invitation_gets_a_new_link_that_ends_the_old_one(browse, cast, at, text):
    old = invite(browse("admin"), at)
    row = Invitation.objects.get()
    Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))
    response = browse("admin").post(at("invitation-renew", "bench", row.pk))
    new = re.search(r"http://testserver(/invitations/[^\"/]+/)", text(response))[1]
    assert new != old
    assert "no-store" in response["Cache-Control"]
    assert Client().get(old).status_code == 404
    assert Client().get(new).status_code == 200
    Client().post(new, {"answer": "decline"})
    assert browse("admin").post(at("invitation-renew", "bench", row.pk)).status_code == 409


def test_invitation_says_when_no_mail_was_sent(browse, cast, at, text, settings, monkeypatch):
    client, form = browse("admin"), {"email": "dora@example.org", "is_annotator": "on"}
    assert "this server has no mail server" in text(client.post(at("invite", "bench"), form))
    by_hand = text(client.post(at("invite", "bench"), {"is_annotator": "on"}))
    assert "mail server" not in by_hand.partition("</strong>")[0]
    settings.MAIL_ENABLED = True

    def fail(*_args: object, **_options: object) -> None:
        raise OSError

    monkeypatch.setattr("frontend.mail.send_mail", fail)
    assert "The mail could not be sent." in text(client.post(at("invite", "bench"), form))
