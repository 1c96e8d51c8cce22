"""Changing a password, and setting a new one with or without a mail server."""

from __future__ import annotations

import io
import re

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client

from annotation.models import AuditEvent, User
from annotation.services import accounts
from tests.callers import Caller
from tests.people import PASSWORD

NEW = "another-believable-horse-7"


def test_password_is_changed_by_whoever_knows_the_old_one(browse, cast, at):
    client = browse("ann")
    form = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert client.post(at("password-change"), form).url == at("profile")
    assert User.objects.get(pk=cast.ann.pk).check_password(NEW)
    assert client.get(at("profile")).status_code == 200


@pytest.mark.parametrize("way", ["page", "link", "command", "services"])
def test_password_change_ends_the_tokens_whichever_way_it_is_made(browse, cast, at, way, monkeypatch):
    caller, other = Caller(cast.ann), Caller(cast.ben)
    assert caller.get("/me/").status_code == 200
    if way == "page":
        form = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
        browse("ann").post(at("password-change"), form)
    elif way == "link":
        uid, token = accounts.make_password_link(actor=cast.root, user=cast.ann)
        set_password(Client(), at("password-reset-confirm", uid, token))
    elif way == "command":
        monkeypatch.setattr("getpass.getpass", lambda prompt: NEW)
        call_command("changepassword", "ann", stdout=io.StringIO())
    else:
        accounts.replace_password(actor=cast.root, user=cast.ann)
    assert not User.objects.get(pk=cast.ann.pk).check_password(PASSWORD)
    assert caller.get("/me/").status_code == 401
    assert other.get("/me/").status_code == 200
    assert AuditEvent.objects.filter(verb="token.revoke", actor=cast.ann).count() == 1


def test_password_hash_that_is_renewed_leaves_the_tokens(cast, settings):
    caller = Caller(cast.ann)
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    assert Client().post("/sign-in/", {"username": "ann", "password": PASSWORD}).status_code == 302
    assert User.objects.get(pk=cast.ann.pk).password.startswith("pbkdf2")
    assert caller.get("/me/").status_code == 200


def test_password_stays_when_the_old_one_is_wrong(browse, cast, at, text):
    form = {"old_password": "no", "new_password1": NEW, "new_password2": NEW}
    response = browse("ann").post(at("password-change"), form)
    assert "was entered incorrectly" in text(response)
    assert User.objects.get(pk=cast.ann.pk).check_password(PASSWORD)


def test_password_reset_without_a_mail_server_says_whom_to_ask(db, at, text):
    response = Client().get(at("password-reset"))
    assert "no mail server" in text(response)
    Client().post(at("password-reset"), {"email": "a@example.org"})
    assert mail.outbox == []


def set_password(client: Client, link: str) -> None:
    form = client.get(link, follow=True)
    assert "Set a new password" in form.content.decode()
    done = client.post(form.redirect_chain[-1][0], {"new_password1": NEW, "new_password2": NEW})
    assert done.url == "/sign-in/"


def test_password_reset_with_a_mail_server_sends_a_link_that_works_once(cast, at, settings):
    settings.MAIL_ENABLED = True
    cast.ann.email = "ann@example.org"
    cast.ann.save()
    Client().post(at("password-reset"), {"email": "ann@example.org"})
    assert len(mail.outbox) == 1
    link = re.search(r"http://testserver(\S+)", mail.outbox[0].body)[1]
    set_password(Client(), link)
    assert User.objects.get(pk=cast.ann.pk).check_password(NEW)
    assert b"no longer valid" in Client().get(link, follow=True).content


def test_password_reset_of_an_unknown_address_gets_the_same_answer(cast, at, settings, text):
    settings.MAIL_ENABLED = True
    response = Client().post(at("password-reset"), {"email": "nobody@example.org"}, follow=True)
    assert "If an account has this address" in text(response)
    assert mail.outbox == []


def test_password_link_of_a_site_admin_sets_a_password_once(browse, cast, at, text):
    page = browse("root").post(at("password-link", cast.ann.pk))
    assert "no-store" in page["Cache-Control"]
    link = re.search(r'value="http://testserver(/password/reset/[^"]+)"', text(page))[1]
    set_password(Client(), link)
    assert User.objects.get(pk=cast.ann.pk).check_password(NEW)
    assert b"no longer valid" in Client().get(link, follow=True).content


def test_account_is_made_by_a_site_admin_and_a_taken_name_is_refused(browse, at, text):
    client = browse("root")
    assert client.post(at("people"), {"username": "newcomer"}).status_code == 302
    again = client.post(at("people"), {"username": "newcomer"})
    assert again.status_code == 400
    assert "with that username already exists" in text(again) or "is taken" in text(again)
    assert not User.objects.get(username="newcomer").has_usable_password()


@pytest.mark.parametrize(
    "password", ["aaaaaaaaaaaa", "abcabcabcabc", "Tristep-Tristep-", "ababababABAB", "1a1a1a1a1a1a"]
)
def test_password_that_repeats_itself_is_none(browse, at, text, password):
    form = {"old_password": PASSWORD, "new_password1": password, "new_password2": password}
    answer = browse("ann").post(at("password-change"), form)
    assert answer.status_code == 200 and "repeats itself" in text(answer)
