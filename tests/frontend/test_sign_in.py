"""Signing in and out, the lockout, and where people are sent."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from tests.people import PASSWORD

SIGN_IN = "/sign-in/"


def test_sign_in_is_asked_of_strangers_by_every_page_which_brings_them_back(cast, at):
    client = Client()
    for name, args in (
        ("home", ()),
        ("profile", ()),
        ("project", ("bench",)),
        ("workbench", (1,)),
        ("people", ()),
    ):
        response = client.get(at(name, *args))
        assert response.status_code == 302
        assert response.url == f"{SIGN_IN}?next={at(name, *args)}"


def test_sign_in_with_the_right_password_opens_the_page_that_was_asked_for(cast, at):
    client = Client()
    response = client.post(SIGN_IN, {"username": "ann", "password": PASSWORD, "next": at("work", "bench")})
    assert response.status_code == 302
    assert response.url == at("work", "bench")
    assert client.get(at("home")).status_code == 200


def test_sign_in_never_leads_to_another_host(cast, at):
    response = Client().post(
        SIGN_IN, {"username": "ann", "password": PASSWORD, "next": "https://evil.example/"}
    )
    assert response.url == at("home")


def test_sign_in_with_a_wrong_password_says_so_and_names_no_account(cast, text):
    response = Client().post(SIGN_IN, {"username": "ann", "password": "wrong"})
    assert response.status_code == 200
    assert "Please enter a correct username and password" in text(response)


def test_sign_in_failures_lead_to_the_lockout_page_for_that_name_alone(cast, text):
    client = Client()
    for _ in range(settings.AXES_FAILURE_LIMIT):
        response = client.post(SIGN_IN, {"username": "ann", "password": "wrong"})
    assert response.status_code == 429
    assert "Too many attempts" in text(response)
    assert client.post(SIGN_IN, {"username": "ann", "password": PASSWORD}).status_code == 429
    assert client.post(SIGN_IN, {"username": "ben", "password": PASSWORD}).status_code == 302


def test_signing_out_needs_a_post(browse, at):
    client = browse("ann")
    assert client.get(at("sign-out"), follow=True).status_code == 200
    assert client.post(at("sign-out")).url == SIGN_IN
    assert client.get(at("home")).status_code == 302


def test_sign_in_is_closed_to_a_closed_account(cast):
    cast.ann.is_active = False
    cast.ann.save()
    assert Client().post(SIGN_IN, {"username": "ann", "password": PASSWORD}).status_code == 200


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_theme_is_chosen_without_signing_in_and_written_by_the_server(db, at, text, theme):
    client = Client()
    assert client.post(at("theme"), {"theme": theme, "next": SIGN_IN}).url == SIGN_IN
    assert f'data-theme="{theme}"' in text(client.get(SIGN_IN))
    client.post(at("theme"), {"theme": ""})
    assert "data-theme" not in text(client.get(SIGN_IN))


def test_theme_that_is_none_and_a_way_back_that_leads_away_are_ignored(browse, at, text):
    client = browse("ann")
    response = client.post(at("theme"), {"theme": '"><script>', "next": "//evil.example"})
    assert response.url == at("home")
    assert "data-theme" not in text(client.get(at("home")))


def test_theme_of_a_person_follows_them_to_another_browser(browse, cast, at, text):
    browse("ann").post(at("theme"), {"theme": "dark"})
    other = Client()
    other.post(SIGN_IN, {"username": "ann", "password": PASSWORD})
    assert 'data-theme="dark"' in text(other.get(at("home")))


def test_language_is_chosen_without_signing_in_and_stays_for_the_pages_after_it(db, at, text):
    client = Client(headers={"accept-language": "en"})
    page = text(client.get(f"{SIGN_IN}?next=/profile/"))
    assert 'lang="zh-Hans"' in page and "简体中文" in page
    assert client.post(at("language"), {"language": "zh-hans", "next": f"{SIGN_IN}?next=/profile/"}).url == (
        f"{SIGN_IN}?next=/profile/"
    )
    for path in (SIGN_IN, at("password-reset"), "/no/such/page/"):
        assert '<html lang="zh-Hans"' in text(client.get(path)), path
    cookie = client.cookies["django_language"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"


def test_language_that_is_not_offered_and_a_way_back_that_leads_away_are_ignored(browse, at, text):
    client = browse("ann")
    for wanted in ("xx", "", '"><script>'):
        response = client.post(at("language"), {"language": wanted, "next": "https://evil.example/"})
        assert response.url == at("home") and "django_language" not in client.cookies
    assert '<html lang="en"' in text(client.get(at("home")))


def test_language_of_a_person_is_their_profiles_and_follows_them_to_another_browser(browse, cast, at, text):
    client = browse("ann")
    assert 'value="zh-hans"' in text(client.get(at("home")))
    client.post(at("language"), {"language": "zh-hans", "next": at("work", "bench")})
    assert '<html lang="zh-Hans"' in text(client.get(at("home")))
    other = Client()
    other.post(SIGN_IN, {"username": "ann", "password": PASSWORD})
    assert '<html lang="zh-Hans"' in text(other.get(at("home")))
    other.post(at("sign-out"))
    assert '<html lang="zh-Hans"' in text(other.get(SIGN_IN)), "the cookie stays when the person has gone"


def test_language_of_the_browser_is_taken_again_when_the_profile_says_so(browse, at, text):
    client = browse("ann")
    client.post(at("language"), {"language": "zh-hans"})
    profile = {"display_name": "Ann", "email": "", "time_zone": "", "language": "", "theme": ""}
    client.post(at("profile"), profile)
    assert '<html lang="en"' in text(client.get(at("home"), headers={"accept-language": "en"}))


@pytest.mark.parametrize("address", ["/theme/", "/language/"])
@pytest.mark.parametrize("wanted", ["1", "no page", "frontend:nowhere"])
def test_choice_of_theme_or_language_leads_home_from_a_page_that_is_none(db, address, wanted):
    response = Client().post(address, {"next": wanted, "theme": "dark", "language": "en"})
    assert (response.status_code, response["Location"]) == (302, "/")
