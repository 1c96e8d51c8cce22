"""Error pages, each with the right status."""

from __future__ import annotations

import errno

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client, override_settings

from frontend.pages.shared import errors
from tests import people


def test_address_that_is_unknown_is_a_page(browse, text):
    for who in ("ann", "nobody"):
        response = browse(who).get("/no/such/page/")
        assert response.status_code == 404
        assert "Page not found" in text(response)


@pytest.mark.parametrize(
    "address", ["/profile/", "/p/bench/", "/p/bench/work/", "/no/such/page/", "/sign-in/", "/admin/"]
)
def test_private_page_is_kept_by_nobody_on_the_way(browse, address):
    assert "no-store" in browse("root").get(address)["Cache-Control"]


def test_page_of_a_failure_needs_no_collected_static_files(db, tmp_path, text):
    hashed = {"BACKEND": "config.static.HashedStaticFiles"}
    with override_settings(STORAGES={**settings.STORAGES, "staticfiles": hashed}, STATIC_ROOT=tmp_path):
        response = errors.server_error(None)
    assert response.status_code == 500
    assert "Something went wrong on the server" in text(response)
    assert "stylesheet" not in text(response)


def test_form_without_its_token_is_refused_with_advice(cast, text):
    client = Client(enforce_csrf_checks=True)
    response = client.post("/sign-in/", {"username": "ann", "password": "x"})
    assert response.status_code == 403
    assert "Please send the form again" in text(response)


def test_form_whose_session_is_gone_leads_to_sign_in(cast, text):
    client = Client(enforce_csrf_checks=True)
    response = client.post("/p/bench/work/claim/")
    assert response.status_code == 403
    assert "You are signed out" in text(response)
    assert 'href="/sign-in/?next=%2Fp%2Fbench%2Fwork%2F"' in text(response)


@pytest.mark.parametrize(
    ("who", "address", "above"),
    [
        ("ann", "/p/bench/work/claim/", "/p/bench/work/"),
        ("ann", "/profile/tokens/7/revoke/", "/profile/"),
        ("admin", "/p/bench/members/invite/", "/p/bench/members/"),
        ("ann", "/theme/", "/"),
    ],
)
def test_address_of_a_form_leads_to_the_page_above_it_with_a_word(browse, text, who, address, above):
    response = browse(who).get(address, follow=True)
    assert response.status_code == 200
    assert response.redirect_chain[-1][0] == above
    assert "nothing was changed. Please try again on this page." in text(response)


def test_page_that_only_shows_refuses_what_is_sent_with_a_page(browse, text):
    response = browse("ann").post("/p/bench/work/")
    assert response.status_code == 405
    assert "This page cannot be opened this way" in text(response)


def test_body_that_is_too_large_is_refused_before_it_is_read(db, text):
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10):
        response = Client().post(
            "/sign-in/", "username=aaaaaaaaaaaaaaaaaaaaaa", content_type="application/x-www-form-urlencoded"
        )
    assert response.status_code == 413
    assert "The request is too large" in text(response)


def test_fields_that_are_too_many_are_a_bad_request(db, text):
    with override_settings(DATA_UPLOAD_MAX_NUMBER_FIELDS=2):
        response = Client().post("/sign-in/", {"a": "1", "b": "2", "c": "3"})
    assert response.status_code == 400
    assert "could not understand" in text(response)


def test_failure_that_is_unexpected_is_a_calm_page_without_details(browse, at, text, monkeypatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("frontend.pages.cases.home.waiting_for", fail)
    client = browse("ann")
    client.raise_request_exception = False
    response = client.get(at("home"))
    assert response.status_code == 500
    assert "Something went wrong on the server" in text(response)
    assert "secret detail" not in text(response)


@pytest.mark.parametrize(
    ("failure", "said", "seconds"),
    [
        (OperationalError("database is locked: too many are writing"), "Too many people are saving", "2"),
        (OperationalError("connection refused"), "The database is not responding", "30"),
        (OperationalError("database or disk is full"), "disk is full", "30"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk is full", "30"),
    ],
)
def test_failure_of_the_database_or_the_disk_asks_to_try_again(
    browse, cast, at, text, monkeypatch, failure, said, seconds
):
    def fail(*args: object, **kwargs: object) -> None:
        raise failure

    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    monkeypatch.setattr("annotation.services.label.rows.read", fail)
    monkeypatch.setattr("frontend.pages.cases.home.waiting_for", fail)
    client = browse("ann")
    client.raise_request_exception = False
    body = {"op_id": "1", "changes": []}
    answers = [
        client.get(at("home")),
        client.post(f"/api/v1/assignments/{mine.pk}/labels/", body, "application/json"),
    ]
    for answer in answers:
        assert (answer.status_code, answer["Retry-After"]) == (503, seconds)
        assert said in text(answer)


def test_failures_that_are_expected_have_a_status_each():
    from annotation.core import errors as kinds

    assert errors.status_of(kinds.Denied("x")) == 403
    assert errors.status_of(kinds.NotFound("x")) == 404
    assert errors.status_of(kinds.StaleVersion("x")) == 409
    assert errors.status_of(kinds.TooLarge("x")) == 413
    assert errors.status_of(kinds.ImportRefused("x")) == 400
    assert errors.status_of(kinds.TristepError("x")) == 400
