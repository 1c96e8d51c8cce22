"""Members and invitations."""

from annotation.models import AuditEvent, Invitation, Membership
from tests.people import Cast, import_records, make_user

from .conftest import Callers
from .shape import ok, refused

MEMBERS = "/projects/bench/members/"
INVITATIONS = "/projects/bench/invitations/"
ANSWER = "/me/invitations/"


def test_admins_see_all_members_and_everybody_else_only_themselves(by: Callers) -> None:
    assert ok(by.admin.get(MEMBERS))["count"] == 5
    for caller, name in ((by.ann, "ann"), (by.judith, "judith")):
        seen = ok(caller.get(MEMBERS))
        assert seen["count"] == 1 and seen["results"][0]["user"]["username"] == name


def test_members_are_never_added_unasked(by: Callers) -> None:
    for caller in (by.admin, by.root, by.ann):
        refused(caller.post(MEMBERS, {"username": "oscar", "roles": ["annotator"]}), 405)


def test_roles_are_a_list_of_known_words(by: Callers) -> None:
    for roles in ([], ["king"], "admin", None, [1], [["admin"]], {"admin": True}):
        assert "roles" in refused(by.admin.post(INVITATIONS, {"roles": roles}), 400)["fields"]
    refused(by.admin.post(INVITATIONS, {"email": "not an address", "roles": ["annotator"]}), 400)


def test_admin_changes_and_removes_members_but_never_the_last_admin(by: Callers, cast: Cast) -> None:
    ann = Membership.objects.get(user=cast.ann)
    assert ok(by.admin.patch(f"{MEMBERS}{ann.pk}/", {"roles": ["adjudicator"]}))["roles"] == ["adjudicator"]
    ok(by.admin.delete(f"{MEMBERS}{ann.pk}/"), 204)
    refused(by.ann.get("/projects/bench/"), 404)
    admin = Membership.objects.get(user=cast.admin)
    refused(by.admin.patch(f"{MEMBERS}{admin.pk}/", {"roles": ["annotator"]}), 409, "last_admin")
    refused(by.admin.delete(f"{MEMBERS}{admin.pk}/"), 409, "last_admin")


def test_invitation_says_the_same_whoever_has_an_account(by: Callers) -> None:
    make_user("hidden", email="hidden@example.org")
    asked = [{"email": f"{name}@example.org", "name": name} for name in ("hidden", "nobody")]
    said = [ok(by.admin.post(INVITATIONS, {**one, "roles": ["admin"]}), 201) for one in asked]
    for one in said:
        for changing in ("id", "email", "name", "url", "created_at", "expires_at"):
            one.pop(changing)
    assert said[0] == said[1]


def test_invitation_is_accepted_or_declined_by_whoever_holds_it(by: Callers, cast: Cast) -> None:
    def made(**values: object) -> str:
        url = ok(by.admin.post(INVITATIONS, {"roles": ["annotator"], **values}), 201)["url"]
        return str(url).rstrip("/").rsplit("/", 1)[1]

    refused(by.oscar.get("/projects/bench/"), 404)
    token = made(name="Oscar")
    refused(by.nobody.post(ANSWER, {"token": token, "answer": "accept"}), 401)
    refused(by.oscar.post(ANSWER, {"token": token, "answer": "perhaps"}), 400)
    joined = ok(by.oscar.post(ANSWER, {"token": token, "answer": "accept"}))
    assert joined == {"project": "bench", "name": "Project bench", "roles": ["annotator"]}
    for answer in ("accept", "decline"):
        refused(by.ben.post(ANSWER, {"token": token, "answer": answer}), 404, "invitation_gone")
    token = made(roles=["admin"])
    ok(by.ben.post(ANSWER, {"token": token, "answer": "decline"}), 204)
    refused(by.ben.post(ANSWER, {"token": token, "answer": "accept"}), 404, "invitation_gone")
    assert not Membership.objects.get(user=cast.ben).is_admin
    declined = ok(by.admin.get(INVITATIONS))["results"][0]
    assert declined["declined_at"] and declined["accepted_at"] is None
    assert not AuditEvent.objects.filter(actor=cast.ben).exclude(verb="token.issue").exists()


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


def test_quotas_and_days_away_of_a_member(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 1)
    url = f"/projects/bench/members/{cast.project.memberships.get(user=cast.ann).pk}/limits/"
    began = ok(by.admin.get(url))
    assert {**began, "version": ""} == {"quotas": [], "days_away": [], "version": ""}
    days = [{"first": "2126-12-20", "last": "2127-01-03"}]
    sent = {"quotas": [{"subset": "tiny", "most": 3}], "days_away": days}
    changed = ok(by.admin.patch(url, {**sent, "version": began["version"]}))
    assert changed == {**sent, "version": changed["version"]}
    assert ok(by.admin.patch(url, {**sent, "version": began["version"]})) == changed
    refused(by.admin.patch(url, {"days_away": [], "version": began["version"]}), 409, "stale_version")
    assert ok(by.admin.patch(url, {"days_away": [], "version": changed["version"]}))["days_away"] == []
    assert ok(by.admin.patch(url, {"quotas": [{"subset": "tiny", "most": None}]}))["quotas"] == []
    refused(by.admin.patch(url, {"quotas": [{"subset": "none", "most": 1}]}), 404)
    refused(by.admin.patch(url, {"days_away": [{"first": "2126-12-20", "last": "2126-12-19"}]}), 400)
    refused(by.ann.get(url), 403)
