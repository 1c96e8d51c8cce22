"""Members and invitations."""

from annotation.models import Invitation, Membership
from tests.people import Cast, make_user

from .conftest import Callers
from .shape import ok, refused

MEMBERS = "/projects/bench/members/"
INVITATIONS = "/projects/bench/invitations/"


def test_admins_see_all_members_and_everybody_else_only_themselves(by: Callers) -> None:
    assert ok(by.admin.get(MEMBERS))["count"] == 5
    for caller, name in ((by.ann, "ann"), (by.judith, "judith")):
        seen = ok(caller.get(MEMBERS))
        assert seen["count"] == 1 and seen["results"][0]["user"]["username"] == name


def test_admin_adds_somebody_by_user_name(by: Callers) -> None:
    made = ok(by.admin.post(MEMBERS, {"username": "oscar", "roles": ["annotator", "adjudicator"]}), 201)
    assert made["roles"] == ["annotator", "adjudicator"]
    assert ok(by.oscar.get("/projects/bench/"))["slug"] == "bench"
    error = refused(by.admin.post(MEMBERS, {"username": "nemo", "roles": ["annotator"]}), 400)
    assert "username" in error["fields"]


def test_roles_are_a_list_of_known_words(by: Callers) -> None:
    for roles in ([], ["king"], "admin", None, [1], [["admin"]], {"admin": True}):
        assert (
            "roles" in refused(by.admin.post(MEMBERS, {"username": "oscar", "roles": roles}), 400)["fields"]
        )


def test_admin_changes_and_removes_members_but_never_the_last_admin(by: Callers, cast: Cast) -> None:
    ann = Membership.objects.get(user=cast.ann)
    assert ok(by.admin.patch(f"{MEMBERS}{ann.pk}/", {"roles": ["adjudicator"]}))["roles"] == ["adjudicator"]
    ok(by.admin.delete(f"{MEMBERS}{ann.pk}/"), 204)
    refused(by.ann.get("/projects/bench/"), 404)
    admin = Membership.objects.get(user=cast.admin)
    refused(by.admin.patch(f"{MEMBERS}{admin.pk}/", {"roles": ["annotator"]}), 409, "last_admin")
    refused(by.admin.delete(f"{MEMBERS}{admin.pk}/"), 409, "last_admin")


def test_members_are_neither_added_nor_changed_nor_removed_by_others(by: Callers, cast: Cast) -> None:
    ann = Membership.objects.get(user=cast.ann)
    for caller in (by.ben, by.judith):
        refused(caller.post(MEMBERS, {"username": "oscar", "roles": ["admin"]}), 403)
        refused(caller.patch(f"{MEMBERS}{ann.pk}/", {"roles": ["admin"]}), 404)
        refused(caller.delete(f"{MEMBERS}{ann.pk}/"), 404)
    refused(by.ann.patch(f"{MEMBERS}{ann.pk}/", {"roles": ["admin"]}), 403)


def test_members_are_told_whether_an_account_exists_only_if_they_may_add_it(by: Callers) -> None:
    make_user("hidden")
    for name in ("hidden", "nemo"):
        refused(by.ann.post(MEMBERS, {"username": name, "roles": ["annotator"]}), 403, "denied")


def test_invitation_shows_its_link_once(by: Callers) -> None:
    answer = by.admin.post(INVITATIONS, {"email": "new@example.org", "roles": ["annotator"]})
    link = ok(answer, 201)["url"]
    assert link.startswith("http://testserver/invitations/")
    secret = link.rstrip("/").rsplit("/", 1)[1]
    listed = by.admin.get(INVITATIONS)
    assert ok(listed)["count"] == 1 and secret not in listed.content.decode()


def test_invitation_is_revoked_by_an_admin(by: Callers) -> None:
    made = ok(by.admin.post(INVITATIONS, {"roles": ["annotator"]}), 201)
    refused(by.ann.delete(f"{INVITATIONS}{made['id']}/"), 404)
    for _time in range(2):
        ok(by.admin.delete(f"{INVITATIONS}{made['id']}/"), 204)
    assert Invitation.objects.get().revoked_at is not None


def test_invitations_are_for_admins(by: Callers) -> None:
    for caller in (by.ann, by.judith):
        refused(caller.get(INVITATIONS), 403)
        refused(caller.post(INVITATIONS, {"roles": ["admin"]}), 403)
    refused(by.admin.post(INVITATIONS, {"email": "not an address", "roles": ["annotator"]}), 400)
