"""Second factors on the pages: setting them up, signing in with them, losing them."""

from __future__ import annotations

import base64
import re
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.conf import settings
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import AuditEvent
from tests.callers import Caller
from tests.people import PASSWORD

SIGN_IN, ASKED = "/sign-in/", "/sign-in/second-factor/"


def code_of(secret: str, *, seconds: float = 0) -> str:
    """The code that an app shows, by a library that the product does not use for it."""
    key = base64.b32decode(secret)
    return TOTP(key, 6, SHA1(), 30, enforce_key_length=False).generate(int(time.time() + seconds)).decode()


@pytest.fixture
def with_app(browse, text) -> Any:
    """`with_app("ann")`: her browser, the secret of the app that she has set up, and her recovery codes."""

    def set_up(who: str) -> tuple[Client, str, list[str]]:
        client = browse(who)
        assert client.get("/profile/second-factor/app/").url.startswith("/profile/second-factor/confirm/")
        client.post("/profile/second-factor/confirm/", {"password": PASSWORD})
        page = text(client.get("/profile/second-factor/app/"))
        secret = re.search(r"<code[^>]*>([A-Z2-7 ]+)</code>", page)[1].replace(" ", "")
        answer = client.post("/profile/second-factor/app/", {"code": code_of(secret)})
        assert answer.url == "/profile/second-factor/codes/"
        cache.clear()  # the code has been used
        codes = re.findall(r"^\D*(\d{8})\b", text(client.get(answer.url)), re.M)
        assert len(codes) == 10
        return client, secret, codes

    return set_up


def by_password(who: str = "ann") -> tuple[Client, Any]:
    client = Client()
    return client, client.post(SIGN_IN, {"username": who, "password": PASSWORD, "next": "/profile/"})


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_password_alone_is_enough_for_who_has_no_second_factor(cast, browse, text):
    client, answer = by_password()
    assert answer.url == "/profile/" and is_in(client)
    assert "with your password alone" in text(client.get("/profile/second-factor/"))
    assert client.get(ASKED).url == "/" and Client().get(ASKED).url == SIGN_IN


def test_app_is_asked_for_and_a_code_works_once(cast, with_app, text):
    _own, secret, _codes = with_app("ann")
    client, answer = by_password()
    assert answer.url == ASKED and not is_in(client)
    assert client.get("/profile/").url == f"{SIGN_IN}?next=/profile/"
    wrong = client.post(ASKED, {"code": "000000"})
    assert wrong.status_code == 400 and "This code is wrong" in text(wrong) and not is_in(client)
    code = code_of(secret)
    assert client.post(ASKED, {"code": code}).url == "/profile/" and is_in(client)
    other, _answer = by_password()
    assert other.post(ASKED, {"code": code}).status_code == 400 and not is_in(other)
    assert other.post(ASKED, {"code": code_of(secret, seconds=-600)}).status_code == 400


def test_recovery_code_works_once_and_new_ones_end_the_old(cast, with_app, text):
    own, _secret, codes = with_app("ann")
    client, _answer = by_password()
    assert client.post(ASKED, {"code": codes[0]}).url == "/profile/"
    again, _answer = by_password()
    assert again.post(ASKED, {"code": codes[0]}).status_code == 400
    assert "9 codes are left" in text(own.get("/profile/second-factor/"))
    own.post("/profile/second-factor/codes/")
    assert again.post(ASKED, {"code": codes[1]}).status_code == 400


def test_codes_of_another_person_do_not_fit(cast, with_app):
    _own, _secret, codes = with_app("ben")
    with_app("ann")
    client, _answer = by_password()
    assert client.post(ASKED, {"code": codes[0]}).status_code == 400 and not is_in(client)


def test_wrong_codes_lead_to_the_lockout_of_that_name(cast, with_app, text):
    _own, secret, _codes = with_app("ann")
    client, _answer = by_password()
    for _again in range(settings.AXES_FAILURE_LIMIT):
        answer = client.post(ASKED, {"code": "000000"})
    assert answer.status_code == 429 and "Too many attempts" in text(answer)
    assert client.post(ASKED, {"code": code_of(secret)}).status_code == 429 and not is_in(client)
    assert by_password()[1].status_code == 429
    assert by_password("ben")[1].status_code == 302


def test_wrong_codes_count_with_wrong_passwords_from_an_address(cast, with_app, settings):
    with_app("ann")
    settings.SIGN_IN_FAILURES_ADDRESS = 2
    client, _answer = by_password()
    for _again in range(2):
        client.post(ASKED, {"code": "000000"})
    assert client.post(ASKED, {"code": "000000"}).status_code == 429


def test_secrets_stand_in_the_database_under_the_secret_key_alone(cast, with_app, settings):
    _own, secret, codes = with_app("ann")
    kept = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in kept and not any(code in kept for code in codes)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another key " * 5
    client = Client()
    client.post(SIGN_IN, {"username": "ann", "password": PASSWORD})
    assert client.post(ASKED, {"code": code_of(secret)}).status_code == 302
    settings.SECRET_KEY_FALLBACKS = []
    client = Client()
    client.post(SIGN_IN, {"username": "ann", "password": PASSWORD})
    assert client.post(ASKED, {"code": code_of(secret)}).status_code == 400


def test_changes_are_asked_for_the_password_and_stand_in_the_audit_log(cast, with_app, browse):
    own, _secret, _codes = with_app("ann")
    row = Authenticator.objects.get(user=cast.ann, type="totp")
    stranger = browse("ben")
    stranger.post("/profile/second-factor/confirm/", {"password": PASSWORD})
    assert stranger.post(f"/profile/second-factor/{row.pk}/remove/").status_code == 404
    later = browse("ann")
    assert "confirm" in later.post(f"/profile/second-factor/{row.pk}/remove/").url
    assert later.post("/profile/second-factor/confirm/", {"password": "wrong"}).status_code == 400
    assert "confirm" in later.get("/profile/second-factor/codes/").url
    assert own.post(f"/profile/second-factor/{row.pk}/remove/").url == "/profile/second-factor/"
    assert not Authenticator.objects.exists(), "recovery codes alone recover nothing"
    rows = AuditEvent.objects.filter(verb__startswith="second_factor").order_by("pk")
    assert [(one.verb, one.detail["kind"]) for one in rows] == [
        ("second_factor.add", "totp"),
        ("second_factor.remove", "totp"),
    ]
    assert by_password()[1].url == "/profile/"


def test_qr_code_is_a_picture_of_its_own_for_who_is_setting_up(cast, browse):
    client = browse("ann")
    client.post("/profile/second-factor/confirm/", {"password": PASSWORD})
    assert client.get("/profile/second-factor/app/code.svg").status_code == 404
    client.get("/profile/second-factor/app/")
    picture = client.get("/profile/second-factor/app/code.svg")
    assert picture["Content-Type"] == "image/svg+xml" and b"<svg" in picture.content
    assert picture["Cache-Control"].count("no-store") and b"style=" not in picture.content


def test_admins_are_led_to_set_one_up_where_the_operator_asks_for_it(cast, with_app, settings, text):
    settings.SECOND_FACTOR_ADMINS = True
    for who in ("admin", "root"):
        client, _answer = by_password(who)
        assert client.get("/").url == "/profile/second-factor/", who
        assert client.get("/p/bench/").url == "/profile/second-factor/"
        assert client.get("/api/v1/me/").status_code == 403
        assert "Admins of this site need a second factor" in text(client.get("/profile/second-factor/"))
        assert client.post("/sign-out/").url == SIGN_IN
    assert by_password("ann")[0].get("/").status_code == 200
    assert Caller(cast.admin).get("/me/").status_code == 200
    own, secret, _codes = with_app("admin")
    assert own.get("/").status_code == 200
    client, _answer = by_password("admin")
    client.post(ASKED, {"code": code_of(secret)})
    assert client.get("/").status_code == 200
    row = Authenticator.objects.get(user=cast.admin, type="totp")
    own.post(f"/profile/second-factor/{row.pk}/remove/")
    assert Authenticator.objects.filter(pk=row.pk).exists(), "the last one stays"


def test_operator_removes_what_somebody_has_lost(cast, with_app):
    with_app("ann")
    call_command("reset_second_factor", "ann")
    assert by_password()[1].url == "/profile/"
    assert AuditEvent.objects.get(verb="second_factor.reset").actor is None
    with pytest.raises(CommandError, match="no second factor"):
        call_command("reset_second_factor", "ann")
    with pytest.raises(CommandError, match="no account"):
        call_command("reset_second_factor", "nobody")


def test_admin_of_django_has_no_door_of_its_own(cast, with_app):
    with_app("root")
    client = Client()
    assert client.get("/admin/").url == "/admin/login/?next=/admin/"
    answer = client.post("/admin/login/?next=/admin/", {"username": "root", "password": PASSWORD})
    assert answer.url == "/sign-in/?next=%2Fadmin%2F" and not is_in(client)


@pytest.mark.parametrize("credential", ["", "[]", "{}", '{"id": "x"}', "null", '"text"'])
def test_passkey_that_is_none_is_refused(cast, browse, credential, text):
    client = browse("ann")
    client.post("/profile/second-factor/confirm/", {"password": PASSWORD})
    client.get("/profile/second-factor/passkey/")
    answer = client.post("/profile/second-factor/passkey/", {"name": "Key", "credential": credential})
    assert answer.status_code == 400 and not Authenticator.objects.exists()
