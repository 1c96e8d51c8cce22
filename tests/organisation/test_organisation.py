"""Signing in through an organisation: a certified provider, and one that is wrong in every way."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.db import connection
from django.test import Client
from rest_framework.throttling import SimpleRateThrottle

from annotation.core.organisation.identity import Identity
from annotation.core.organisation.rules import Organisation
from annotation.models import Assignment, AuditEvent, Membership, User
from annotation.policies import OPERATOR
from annotation.services import accounts, projects
from annotation.services.sign_in import organisation as services
from annotation.services.sign_in import second_factor
from tests import people
from tests.organisation.conftest import way_back

pytestmark = pytest.mark.django_db
# two parts of it: how the first begins stands in a CSRF token by chance
JSON_WEB_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+")
MAYA = {
    "name": "Maya Santos",
    "preferred_username": "maya.santos",
    "email": "maya@example.org",
    "email_verified": True,
}


def whose(browser: Client) -> User | None:
    pk = browser.session.get("_auth_user_id")
    return None if pk is None else User.objects.get(pk=pk)


def roles(user: User) -> dict[str, list[str]]:
    return {one.project.slug: [*one.roles] for one in user.memberships.select_related("project")}


def in_groups(*groups: str, **more: object) -> dict[str, object]:
    return {**MAYA, "groups": [*groups], **more}


def verbs(*wanted: str) -> list[tuple[str, str]]:
    """What the log says of these, with the actor ("" for the operator)."""
    rows = AuditEvent.objects.filter(verb__in=wanted).order_by("pk").select_related("actor")
    return [(row.verb, row.actor.username if row.actor else "") for row in rows]


# ── The right provider ────────────────────
def test_first_sign_in_makes_an_account_with_the_roles_of_its_groups(cast, providers, organisation, arrive):
    organisation()
    providers.knows(maya=in_groups("leads", "choir"))
    browser = Client()
    answer = arrive(browser=browser)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    user = whose(browser)
    assert (user.username, user.display_name, user.email) == (
        "maya.santos",
        "Maya Santos",
        "maya@example.org",
    )
    assert not user.has_usable_password() and not user.is_superuser
    assert roles(user) == {"bench": ["annotator", "adjudicator"]}
    assert verbs("account.create", "account.link")[-2:] == [
        ("account.create", "maya.santos"),
        ("account.link", "maya.santos"),
    ]
    last = AuditEvent.objects.get(verb="member.set", detail__username="maya.santos")
    assert last.actor is None and last.detail == {
        "username": "maya.santos",
        "roles": ["annotator", "adjudicator"],
        "because": "groups",
    }
    assert browser.get("/").status_code == 200


def test_what_the_provider_said_is_kept_nowhere(cast, providers, organisation, arrive, caplog):
    organisation()
    providers.knows(maya=in_groups("labellers", secret_claim="a-canary"))
    browser = Client()
    with caplog.at_level(logging.DEBUG):
        arrive(browser=browser)
    assert SocialAccount.objects.get().extra_data == {} and not SocialToken.objects.exists()
    kept = f"{dict(browser.session)} {list(AuditEvent.objects.values())} {caplog.text}"
    for secret in ("a-canary", providers.secret, "access_token"):
        assert secret not in kept
    assert not JSON_WEB_TOKEN.search(kept)


def test_next_sign_in_follows_the_groups_and_frees_what_was_claimed(cast, providers, organisation, arrive):
    people.import_records(cast.project)
    organisation()
    providers.knows(maya=in_groups("labellers", "it"))
    arrive()
    maya = User.objects.get(username="maya.santos")
    assert roles(maya) == {"bench": ["annotator"]} and maya.is_superuser and maya.is_staff
    claim = people.claim(maya, cast.project)
    providers.knows(maya=in_groups("leads"))
    arrive()
    maya.refresh_from_db()
    assert roles(maya) == {"bench": ["annotator", "adjudicator"]} and not maya.is_superuser
    assert Assignment.stored.get(pk=claim.pk).state == "open"
    providers.knows(maya=in_groups())
    arrive()
    assert roles(maya) == {}
    assert Assignment.stored.get(pk=claim.pk).state == "expired"
    assert User.objects.filter(username__startswith="maya").count() == 1
    assert verbs("account.site_admin", "account.site_admin_ended", "member.remove", "assignment.expire") == [
        ("account.site_admin", ""),
        ("account.site_admin_ended", ""),
        ("assignment.expire", ""),
        ("member.remove", ""),
    ]


def test_memberships_made_by_hand_stay_as_they_are(cast, providers, organisation, arrive):
    organisation()
    providers.knows(maya=in_groups("labellers"))
    arrive()
    maya = User.objects.get(username="maya.santos")
    membership = Membership.objects.get(user=maya)
    projects.set_roles(actor=cast.admin, membership=membership, is_adjudicator=True)
    arrive()
    assert roles(maya) == {"bench": ["adjudicator"]}
    providers.knows(maya=in_groups())
    arrive()
    assert roles(maya) == {"bench": ["adjudicator"]}


def test_last_admin_of_a_project_stays_one(cast, providers, organisation, arrive):
    organisation()
    providers.knows(maya=in_groups("managers"))
    arrive()
    maya = User.objects.get(username="maya.santos")
    others = Membership.objects.filter(project=cast.project, is_admin=True).exclude(user=maya)
    others.update(is_admin=False, is_annotator=True)
    providers.knows(maya=in_groups("labellers"))
    arrive()
    assert roles(maya) == {"bench": ["annotator", "admin"]}
    providers.knows(maya=in_groups("elsewhere"))
    arrive()
    assert roles(maya) == {"bench": ["annotator", "admin"]}


def test_taken_user_name_gets_digits_and_no_account_is_taken_over(cast, providers, organisation, arrive):
    organisation()
    providers.knows(maya=in_groups("labellers", preferred_username="root", email="root@example.org"))
    User.objects.filter(username="root").update(email="other@example.org")
    browser = Client()
    arrive(browser=browser)
    assert whose(browser).username.startswith("root-") and not whose(browser).is_superuser


def test_local_account_with_the_address_is_linked_by_hand_alone(cast, providers, organisation, arrive, text):
    organisation()
    User.objects.filter(pk=cast.oscar.pk).update(email="Maya@Example.org")
    providers.knows(maya=in_groups("labellers"))
    browser = Client()
    answer = arrive(browser=browser)
    assert answer.status_code == 409 and whose(browser) is None
    assert "already has your e-mail address" in text(answer)
    assert not SocialAccount.objects.exists()
    # by the account's password
    browser.post("/sign-in/", {"username": "oscar", "password": people.PASSWORD})
    assert browser.post("/profile/organisation/", {"password": "wrong"}).status_code == 400
    assert browser.get("/sign-in/organisation/")["Location"] == "/", "nothing was asked for"
    page = browser.post("/profile/organisation/", {"password": people.PASSWORD})
    assert page.status_code == 200 and "/sign-in/organisation/" in text(page)
    assert arrive(browser=browser)["Location"] == "/profile/"
    assert roles(cast.oscar) == {"bench": ["annotator"]}
    other = Client()
    arrive(browser=other)
    assert whose(other) == cast.oscar
    assert other.post("/profile/organisation/unlink/").status_code == 302
    assert not SocialAccount.objects.exists()


def test_unverified_address_is_worth_nothing(cast, providers, organisation, arrive):
    organisation()
    User.objects.filter(pk=cast.oscar.pk).update(email="maya@example.org")
    projects.invite(actor=cast.admin, project=cast.project, email="maya@example.org", is_admin=True)
    providers.knows(maya={**MAYA, "email_verified": False})
    browser = Client()
    assert arrive(browser=browser).status_code == 403
    providers.knows(maya=in_groups("labellers", email_verified=False))
    arrive(browser=browser)
    assert whose(browser).username == "maya.santos" and whose(browser).email == ""


def test_account_of_an_invitation_to_the_address_is_linked(cast, providers, organisation, arrive):
    organisation()
    _row, secret = projects.invite(
        actor=cast.admin, project=cast.project, email="maya@example.org", is_annotator=True
    )
    local, _ = projects.accept_invitation(secret=secret, username="maya", password=people.PASSWORD)
    providers.knows(maya=in_groups("leads"))
    browser = Client()
    arrive(browser=browser)
    assert whose(browser) == local
    assert roles(local) == {"bench": ["annotator"]}, "an invitation is by hand"


def test_invited_person_comes_in_and_accepts_the_invitation_themselves(cast, providers, organisation, arrive):
    organisation(roles={})
    providers.knows(maya=MAYA)
    browser = Client()
    assert (
        arrive(browser=browser).status_code == 403 and not User.objects.filter(email=MAYA["email"]).exists()
    )
    _row, secret = projects.invite(
        actor=cast.admin, project=cast.project, email="Maya@example.org", is_annotator=True
    )
    page = f"/invitations/{secret}/"
    assert arrive(browser=browser, begin=f"/sign-in/organisation/?next={page}")["Location"] == page
    assert roles(whose(browser)) == {}
    browser.post(page, {"answer": "accept"})
    assert roles(whose(browser)) == {"bench": ["annotator"]}


def test_anybody_comes_in_where_the_operator_says_so(cast, providers, organisation, arrive):
    organisation(anybody=True, roles={})
    providers.knows(maya={})
    browser = Client()
    arrive(browser=browser)
    assert whose(browser).username == "person" and roles(whose(browser)) == {}


def test_closed_account_stays_closed(cast, providers, organisation, arrive, text):
    organisation()
    providers.knows(maya=in_groups("labellers"))
    arrive()
    accounts.close_account(actor=OPERATOR, user=User.objects.get(username="maya.santos"))
    browser = Client()
    answer = arrive(browser=browser)
    assert answer.status_code == 403 and "is closed" in text(answer) and whose(browser) is None


def test_second_factor_of_this_site_is_asked_for_too_and_no_token_waits_in_the_session(
    cast, providers, organisation, arrive
):
    organisation()
    providers.knows(maya=in_groups("labellers"))
    arrive()
    maya = User.objects.get(username="maya.santos")
    second_factor.turn_on_app(actor=maya, secret="JBSWY3DPEHPK3PXP")
    browser = Client()
    answer = arrive(browser=browser, begin="/sign-in/organisation/?next=/profile/")
    assert answer["Location"] == "/sign-in/second-factor/" and whose(browser) is None
    waiting = str(dict(browser.session))
    assert "account_login" in waiting and "token" not in waiting
    assert not JSON_WEB_TOKEN.search(waiting)
    code = second_factor.factors(maya).codes[0]
    assert browser.post("/sign-in/second-factor/", {"code": code})["Location"] == "/profile/"
    assert whose(browser) == maya


def test_admins_who_come_through_the_organisation_are_its_concern(
    cast, providers, organisation, arrive, settings
):
    settings.SECOND_FACTOR_ADMINS = True
    organisation()
    providers.knows(maya=in_groups("it"))
    browser = Client()
    arrive(browser=browser)
    assert browser.get("/").status_code == 200


def test_request_asks_for_a_code_with_pkce_state_and_nonce(cast, providers, organisation):
    organisation()
    asked = parse_qs(urlsplit(Client().get("/sign-in/organisation/")["Location"]).query)
    assert asked["response_type"] == ["code"] and asked["code_challenge_method"] == ["S256"]
    assert len(asked["nonce"][0]) == 64 and asked["state"][0]
    assert set(asked["scope"][0].split()) == {"openid", "profile", "email"}


def test_answer_counts_once_in_the_browser_that_asked(cast, providers, organisation, text):
    organisation()
    providers.knows(maya=in_groups("labellers"))
    browser, stranger = Client(), Client()
    back = way_back(browser.get("/sign-in/organisation/")["Location"], "maya")
    refused = stranger.get(back)
    assert refused.status_code == 400 and "in another browser" in text(refused)
    assert whose(stranger) is None
    assert browser.get(back).status_code == 302
    browser.post("/sign-out/")
    assert browser.get(back).status_code == 400 and whose(browser) is None


def test_who_cancels_is_told_so(cast, providers, organisation, arrive, text):
    organisation()
    assert "You have cancelled the sign-in" in text(arrive(who=""))


def test_linking_is_for_the_account_that_began(cast, providers, organisation, arrive, text):
    organisation()
    providers.knows(maya=in_groups("labellers"))
    browser = Client()
    browser.post("/sign-in/", {"username": "oscar", "password": people.PASSWORD})
    browser.post("/profile/organisation/", {"password": people.PASSWORD})
    back = way_back(browser.get("/sign-in/organisation/")["Location"], "maya")
    states = browser.session["socialaccount_states"]
    browser.force_login(cast.ann)
    kept = browser.session
    kept["socialaccount_states"] = states
    kept.save()
    assert "with another account" in text(browser.get(back))
    assert not SocialAccount.objects.exists()


# ── The wrong one ─────────────────────────
WRONG = {
    "wrong-issuer": "does not come from your organisation",
    "wrong-audience": "meant for another site",
    "two-audiences": "meant for another site",
    "other-party": "meant for another site",
    "wrong-nonce": "does not belong to this sign-in",
    "no-nonce": "does not belong to this sign-in",
    "expired": "has expired",
    "no-expiry": "cannot be read",
    "from-the-future": "cannot be read",
    "unsigned": "not signed in a way that this site accepts",
    "other-key": "signature of the answer is not",
    "unknown-key": "signature of the answer is not",
    "public-key-as-secret": "not signed in a way that this site accepts",
    "client-secret": "not signed in a way that this site accepts",
    "no-claims": "cannot be read",
    "no-token": "cannot be read",
    "garbage": "cannot be read",
    "huge": "has more than 1 MB",
    "redirecting": "redirects to another address",
    "broken": "server answered 500",
    "not-json": "cannot be read",
    "refusing": "did not accept the sign-in",
    "listing": "cannot be read",
    "other-name": "calls itself by another name",
    "unsafe": "not safe to send anything to",
    "two-people": "speak of two different people",
    "mixed-up": "does not come from your organisation",
    "slow": "did not answer in full within 0.2 seconds",
}


@pytest.mark.parametrize("how", WRONG)
def test_answer_that_is_wrong_is_refused_in_a_sentence(
    cast, providers, organisation, arrive, text, how, monkeypatch, caplog
):
    monkeypatch.setattr("frontend.pages.organisation.transport.SECONDS", 0.2 if how == "slow" else 10.0)
    organisation(f"{providers.wrong}/{how}")
    providers.knows(maya=in_groups("managers", "it"))
    before = list(User.objects.values_list("pk", "is_superuser"))
    browser = Client()
    answer = arrive(browser=browser)
    assert answer.status_code == 400 and WRONG[how] in text(answer), text(answer)
    assert whose(browser) is None
    assert (
        list(User.objects.values_list("pk", "is_superuser")) == before and not SocialAccount.objects.exists()
    )
    [line] = [record for record in caplog.records if record.name == "frontend.pages.organisation.adapter"]
    assert line.levelname == "WARNING" and line.code
    told = caplog.text + text(answer)
    assert providers.secret not in told and "an-access-token" not in told
    assert not JSON_WEB_TOKEN.search(told)


def test_wrong_ways_are_all_tried_and_a_right_answer_of_that_server_is_taken(
    cast, providers, organisation, arrive
):
    assert set(providers.tokens) <= WRONG.keys()
    organisation(f"{providers.wrong}/none")
    providers.knows(maya=in_groups("labellers"))
    browser = Client()
    arrive(browser=browser)
    assert roles(whose(browser)) == {"bench": ["annotator"]}


def test_groups_left_out_for_their_number_end_no_role(cast, providers, organisation, arrive, text):
    organisation(f"{providers.wrong}/none")
    providers.knows(maya=in_groups("labellers"))
    arrive()
    providers.knows(maya={**MAYA, "_claim_names": {"groups": "src1"}})
    assert "because they are too many" in text(arrive())
    assert roles(User.objects.get(username="maya.santos")) == {"bench": ["annotator"]}


def test_server_that_is_away_is_named_in_a_sentence(cast, organisation, text):
    organisation("http://127.0.0.1:9")
    answer = Client().get("/sign-in/organisation/")
    assert answer.status_code == 400 and "could not be reached" in text(answer)


# ── The site ──────────────────────────────
def test_site_without_an_organisation_has_neither_button_nor_addresses(cast, browse, text):
    assert "organisation" not in text(Client().get("/sign-in/"))
    assert "organisation" not in text(browse("ann").get("/profile/"))
    for address in ("/sign-in/organisation/", "/sign-in/organisation/callback/"):
        assert Client().get(address).status_code == 404
    assert browse("ann").get("/profile/organisation/").status_code == 404
    assert browse("ann").post("/profile/organisation/unlink/").status_code == 404


def test_passwords_are_closed_but_for_named_accounts(cast, organisation, text):
    organisation(only=True, local_accounts=frozenset({"root"}))
    browser = Client()
    browser.post("/sign-in/", {"username": "ann", "password": people.PASSWORD})
    assert whose(browser) is None
    browser.post("/sign-in/", {"username": "Root", "password": people.PASSWORD})
    assert whose(browser) is None
    browser.post("/sign-in/", {"username": "root", "password": people.PASSWORD})
    assert whose(browser) == cast.root


def test_who_is_signed_in_confirms_by_password_even_where_those_are_closed(cast, organisation, browse):
    organisation(only=True)
    answer = browse("ann").post("/profile/second-factor/confirm/", {"password": people.PASSWORD})
    assert answer.status_code == 302


def test_invitation_asks_for_no_password_where_those_are_closed(cast, organisation, text):
    _row, secret = projects.invite(actor=cast.admin, project=cast.project, is_annotator=True)
    organisation(only=True)
    page = text(Client().get(f"/invitations/{secret}/"))
    assert "Sign in with Example Corp" in page and 'type="password"' not in page
    answer = Client().post(f"/invitations/{secret}/", {"answer": "accept", "username": "x", "password": "y"})
    assert answer.status_code == 200 and not User.objects.filter(username="x").exists()


def test_sign_ins_are_counted_by_address(cast, organisation, monkeypatch):
    monkeypatch.setitem(SimpleRateThrottle.THROTTLE_RATES, "sign_in", "2/min")
    organisation()
    browser = Client()
    assert [browser.get("/sign-in/organisation/").status_code for _ in range(3)] == [302, 302, 429]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_first_sign_in_in_two_windows_makes_one_account(cast, monkeypatch):
    """Both have seen that there is no account, where the database lets two write at once."""
    rules = Organisation(issuer="i", client_id="c", client_secret="s", name="", anybody=True)
    person = Identity(issuer="i", subject="1", user_name="maya")
    both = threading.Barrier(2)
    newcomer = services._newcomer

    def together(*args: object) -> User:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(1 if connection.vendor == "postgresql" else 0.01)
        return newcomer(*args)

    monkeypatch.setattr(services, "_newcomer", together)
    found: list[User] = []

    def sign_in() -> None:
        try:
            found.append(services.sign_in(identity=person, organisation=rules))
        finally:
            connection.close()

    windows = [threading.Thread(target=sign_in) for _ in range(2)]
    for window in windows:
        window.start()
    for window in windows:
        window.join(60)
    assert len({user.pk for user in found}) == 1 and len(found) == 2
    assert (
        SocialAccount.objects.count() == 1 and User.objects.filter(username__startswith="maya").count() == 1
    )
