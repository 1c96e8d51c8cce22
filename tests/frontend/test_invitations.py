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
SIGN_IN = "/sign-in/"
JOIN = {"display_name": "Dora", "password": PASSWORD, "password_again": PASSWORD}


def links_of(response) -> list[str]:
    """The links that an answer shows, in their order."""
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    return re.findall(r'value="http://testserver(/invitations/[^"/]+/)"', response.content.decode())


def invite(client: Client, at, people: str = "", **roles: str) -> str:
    (link,) = links_of(
        client.post(at("invite", "bench"), {"people": people, **(roles or {"is_annotator": "on"})})
    )
    return link


def joining(name: str = "dora", **changes: str) -> dict[str, str]:
    """The form of a new person."""
    return {**JOIN, "username": name, **changes}


def test_invitation_makes_an_account_and_a_member_and_works_once(browse, cast, at, text):
    link = invite(browse("admin"), at)
    guest = Client()
    assert "You are invited to Project bench" in text(guest.get(link))
    answer = guest.post(link, joining("Dora of the lab"))
    assert answer.url == at("project", "bench")
    assert "You sign in as Dora-of-the-lab." in text(guest.get(answer.url))
    assert guest.get(at("work", "bench")).status_code == 200
    member = Membership.objects.get(user__username="Dora-of-the-lab")
    assert (member.is_annotator, member.is_adjudicator, member.is_admin) == (True, False, False)
    assert Client().post(link, joining("eve")).status_code == 404
    assert not User.objects.filter(username__startswith="eve").exists()


def test_invitation_lets_a_signed_in_person_join_with_the_account_they_have(browse, cast, at):
    link = invite(browse("admin"), at, is_adjudicator="on")
    client = browse("oscar")
    assert client.post(link).url == at("project", "bench")
    assert Membership.objects.get(user=cast.oscar).is_adjudicator


def test_invitation_stays_good_after_bad_forms_which_make_nothing(browse, cast, at, text):
    link = invite(browse("admin"), at)
    guest = Client()
    other = text(guest.post(link, joining(password_again="other words")))
    assert "not the same" in other
    # nothing that was typed is lost
    assert all(f'value="{typed}"' in other for typed in ("dora", PASSWORD, "other words"))
    weak = guest.post(link, joining(password="12345678", password_again="12345678"))
    assert weak.status_code == 400
    assert guest.post(link, joining(" ")).status_code == 400
    assert not User.objects.filter(username="dora").exists()
    assert guest.post(link, joining()).status_code == 302


def test_name_that_is_taken_gets_digits_and_each_account_signs_in_by_its_own(browse, cast, at, text):
    def name_after(wish: str) -> str:
        guest = Client()
        answer = guest.post(invite(browse("admin"), at), joining(wish))
        return re.search(r"You sign in as (\S+)\.", text(guest.get(answer.url)))[1]

    names = [name_after(wish) for wish in ("eve@example.org", "Ann", "Dora of the lab")]
    assert names[0] == "eve@example.org" and names[2] == "Dora-of-the-lab"
    assert re.fullmatch(r"Ann-\d{5}", names[1]), "ann is there already"
    # as it was typed, too
    for name in (*names, "Dora of the lab"):
        assert Client().post(SIGN_IN, {"username": name, "password": PASSWORD}).status_code == 302
    shown = [User.objects.get(username=name).display_name for name in names]
    assert shown == ["Dora"] * 3


def test_people_are_invited_at_once_from_a_pasted_list_or_not_at_all(browse, cast, at, text):
    client = browse("admin")
    # the last line as mail programs copy addresses
    pasted = (
        "Dora\n\n eve@example.org, \nEmil of the lab <emil@example.org>\n"
        "fay@example.org, Gil <gil@example.org>; Hal\n"
    )
    links = links_of(client.post(at("invite", "bench"), {"people": pasted, "is_annotator": "on"}))
    rows = [projects.invitation_of(secret=link.split("/")[2]) for link in links]
    assert [(row.name, row.email) for row in rows] == [
        ("Dora", ""),
        ("", "eve@example.org"),
        ("Emil of the lab", "emil@example.org"),
        ("", "fay@example.org"),
        ("Gil", "gil@example.org"),
        ("Hal", ""),
    ]
    bad = "Dora\nnobody@\nx@y@z\neve@example.org; nobody at all@"
    wrong = client.post(at("invite", "bench"), {"people": bad, "is_annotator": "on"})
    assert wrong.status_code == 400
    assert "No e-mail address, in line 2, 3, 4." in text(wrong) and "nobody@\nx@y@z" in text(wrong)
    many = client.post(at("invite", "bench"), {"people": "x\n" * 201, "is_annotator": "on"})
    assert "at most 200" in text(many)
    assert Invitation.objects.count() == 6


def test_invitation_is_declined_signed_in_or_not(browse, cast, at, text):
    for client in (Client(), browse("oscar")):
        link = invite(browse("admin"), at, "Dora of the lab")
        assert "Decline" in text(client.get(link))
        assert client.post(link, {"answer": "decline"}).url == at("home")
        assert client.get(link).status_code == 404
    page = text(browse("admin").get(at("members", "bench")))
    assert page.count("Dora of the lab") == 2 and page.count("declined") == 2 and "Oscar" not in page
    assert not Membership.objects.filter(user=cast.oscar).exists()


def test_invitation_proposes_a_name_and_says_the_same_whoever_has_an_account(browse, cast, at, text):
    pages = []
    for name in ("Ann", "Eve"):
        for people, proposed in ((name, name), (f"{name} <{name}@example.org>", f"{name}@example.org")):
            page = text(Client().get(invite(browse("admin"), at, people)))
            assert f'value="{proposed}"' in page
            pages.append(WITHOUT.sub("", page))
    assert len(set(pages)) == 1


def test_role_is_needed(browse, at, text):
    response = browse("admin").post(at("invite", "bench"), {"people": "x@example.org"})
    assert response.status_code == 400
    assert "Choose at least one role" in text(response)


def test_invitation_is_sent_too_with_a_mail_server(browse, at, settings):
    settings.MAIL_ENABLED = True
    link = invite(browse("admin"), at, "dora@example.org")
    assert link in mail.outbox[0].body
    assert mail.outbox[0].to == ["dora@example.org"]


def test_invitation_shows_what_became_of_it(browse, cast, at, text):
    client = browse("admin")
    links = [invite(client, at, name) for name in ("Ada", "Bea", "Cyd", "Dee", "Eve")]
    Client().post(links[0], joining("ada"))
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
    client, form = browse("admin"), {"people": "dora@example.org", "is_annotator": "on"}
    assert "this server has no mail server" in text(client.post(at("invite", "bench"), form))
    by_hand = text(client.post(at("invite", "bench"), {"is_annotator": "on"}))
    assert "mail server" not in by_hand
    settings.MAIL_ENABLED = True

    def fail(*_args: object, **_options: object) -> None:
        raise OSError

    monkeypatch.setattr("frontend.mail.send_mail", fail)
    assert "The mail could not be sent." in text(client.post(at("invite", "bench"), form))
