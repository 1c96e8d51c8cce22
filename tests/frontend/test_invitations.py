"""Inviting by link and by mail, and joining."""

from __future__ import annotations

import re
from datetime import timedelta

from django.core import mail
from django.test import Client
from django.utils import timezone

from annotation.models import Invitation, Membership, User
from tests.people import PASSWORD

JOIN = {"username": "dora", "display_name": "Dora", "password": PASSWORD, "password_again": PASSWORD}


def invite(client: Client, at, **form: str) -> str:
    response = client.post(at("invite", "bench"), form or {"is_annotator": "on"})
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    return re.search(r"http://testserver(/invitations/[^\"/]+/)", response.content.decode())[1]


def test_invitation_makes_an_account_and_a_member_and_works_once(browse, cast, at, text):
    link = invite(browse("admin"), at)
    guest = Client()
    assert "You are invited to Project bench" in text(guest.get(link))
    assert guest.post(link, JOIN).url == at("project", "bench")
    assert guest.get(at("work", "bench")).status_code == 200
    member = Membership.objects.get(user__username="dora")
    assert (member.is_annotator, member.is_adjudicator, member.is_admin) == (True, False, False)
    assert Client().post(link, {**JOIN, "username": "eve"}).status_code == 404
    assert not User.objects.filter(username="eve").exists()


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
    assert "not the same" in text(guest.post(link, {**JOIN, "password_again": "other"}))
    taken = guest.post(link, {**JOIN, "username": "ann"})
    assert taken.status_code == 400
    weak = guest.post(link, {**JOIN, "password": "12345678", "password_again": "12345678"})
    assert weak.status_code == 400
    assert guest.post(link, JOIN).status_code == 302


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


def test_invitations_are_made_revoked_and_seen_by_admins_only(browse, cast, at):
    invite(browse("admin"), at)
    row = Invitation.objects.get()
    for who, status in (("ann", 403), ("judith", 403), ("oscar", 404)):
        client = browse(who)
        assert client.get(at("members", "bench")).status_code == status
        assert client.post(at("invite", "bench"), {"is_admin": "on"}).status_code == status
        assert client.post(at("invitation-revoke", "bench", row.pk)).status_code == status
    assert Invitation.objects.get().revoked_at is None
