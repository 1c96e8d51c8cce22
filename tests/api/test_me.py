"""Oneself and one's tokens."""

from annotation.models import ApiToken
from tests.callers import signed_in
from tests.people import Cast

from .conftest import Callers
from .shape import ok, refused


def test_me_is_myself_and_my_roles(by: Callers) -> None:
    me = ok(by.ann.get("/me/"))
    assert me["username"] == "ann"
    assert me["memberships"] == [{"project": "bench", "name": "Project bench", "roles": ["annotator"]}]


def test_me_changes_my_settings_and_nothing_else(by: Callers) -> None:
    assert (
        ok(by.ann.patch("/me/", {"display_name": "Ann É", "time_zone": "Asia/Shanghai"}))["display_name"]
        == "Ann É"
    )
    refused(by.ann.patch("/me/", {"time_zone": "Mars/Olympus"}), 400)
    error = refused(by.ann.patch("/me/", {"is_superuser": True}), 400)
    assert "is_superuser" in error["fields"]


def test_token_that_is_missing_is_401_and_says_what_is_wanted(by: Callers) -> None:
    answer = by.nobody.get("/me/")
    refused(answer, 401, "not_authenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_token_that_is_wrong_is_401(by: Callers) -> None:
    for secret in ("tri_wrong", "x", "", "tri_" + "a" * 5000, "tri_é"):
        answer = by.nobody.get("/me/", headers={"Authorization": f"Bearer {secret}"})
        refused(answer, 401, "invalid_token")
        assert answer["WWW-Authenticate"].startswith("Bearer")


def test_token_that_is_new_is_shown_once_and_works(by: Callers) -> None:
    made = by.ann.post("/me/tokens/", {"name": "laptop", "days": 7})
    secret = ok(made, 201)["token"]
    assert made["Cache-Control"] == "no-store"
    assert ok(by.nobody.get("/me/", headers={"Authorization": f"Bearer {secret}"}))["username"] == "ann"
    listed = by.ann.get("/me/tokens/")
    assert secret not in listed.content.decode()
    assert ok(listed)["results"][0]["name"] == "laptop"


def test_token_that_is_revoked_ends_at_once_and_revoking_again_is_harmless(by: Callers) -> None:
    made = ok(by.ann.post("/me/tokens/", {"name": "laptop"}), 201)
    for _time in range(2):
        ok(by.ann.delete(f"/me/tokens/{made['id']}/"), 204)
    refused(by.nobody.get("/me/", headers={"Authorization": f"Bearer {made['token']}"}), 401)


def test_token_of_somebody_else_is_seen_and_ended_by_nobody_not_even_a_superuser(
    by: Callers, cast: Cast
) -> None:
    token = ApiToken.objects.get(user=cast.ann)
    for caller in (by.ben, by.admin, by.root):
        assert token.pk not in [row["id"] for row in ok(caller.get("/me/tokens/"))["results"]]
        refused(caller.delete(f"/me/tokens/{token.pk}/"), 404)


def test_token_needs_a_name_and_a_sensible_life(by: Callers) -> None:
    for body in (
        {},
        {"name": " "},
        {"name": "x", "days": 0},
        {"name": "x", "days": 10**30},
        {"name": "x", "days": "7"},
    ):
        refused(by.ann.post("/me/tokens/", body), 400)


def test_session_of_a_browser_works_and_needs_the_csrf_token_to_write(cast: Cast) -> None:
    browser = signed_in(cast.ann)
    assert ok(browser.get("/api/v1/me/"))["username"] == "ann"
    strict_browser = type(browser)(enforce_csrf_checks=True)
    strict_browser.cookies = browser.cookies
    answer = strict_browser.patch("/api/v1/me/", "{}", content_type="application/json")
    refused(answer, 403, "csrf_failed")
