"""Who a provider names, and what groups give."""

from __future__ import annotations

import pytest

from annotation.core.organisation.identity import MAX_GROUPS, Refused, identity
from annotation.core.organisation.rules import Organisation, read_roles, safe_address
from annotation.core.vocabulary import Role

CLAIMS = {"iss": "https://sso.example.org", "sub": "1"}


def groups_of(claims: dict, more: dict | None = None, name: str = "groups") -> set[str]:
    return set(identity({**CLAIMS, **claims}, more or {}, groups_claim=name).groups)


def test_groups_are_found_by_name_and_by_the_way_to_them() -> None:
    assert groups_of({"groups": ["a", "b", 3, None]}) == {"a", "b"}
    assert groups_of({"groups": "a"}) == {"a"}
    assert groups_of({"realm_access": {"roles": ["a"]}}, name="realm_access.roles") == {"a"}
    assert groups_of({"https://example.org/groups": ["a"]}, name="https://example.org/groups") == {"a"}
    assert groups_of({}, {"sub": "1", "groups": ["a"]}) == {"a"}
    for other in ({}, {"groups": {"a": 1}}, {"groups": 7}, {"realm_access": ["roles"]}):
        assert groups_of(other) == groups_of(other, name="realm_access.roles") == set()


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(Refused, match="2,000 groups"):
        groups_of({"groups": ["g"] * (MAX_GROUPS + 1)})


@pytest.mark.parametrize(
    ("verified", "email"),
    [(True, "m@example.org"), ("true", "m@example.org"), (False, ""), ("false", ""), (1, "")],
)
def test_address_counts_when_it_is_verified(verified: object, email: str) -> None:
    claims = {**CLAIMS, "email": "m@example.org", "email_verified": verified}
    assert identity(claims, {}, groups_claim="groups").email == email


def test_words_of_the_provider_are_one_line_of_text() -> None:
    claims = {**CLAIMS, "name": " Maya\n\x00 Santos\ud800 ", "preferred_username": ["maya"]}
    person = identity(claims, {}, groups_claim="groups")
    assert (person.name, person.user_name) == ("Maya Santos", "")
    other = identity({**CLAIMS, "iss": "https://other.example.org"}, {}, groups_claim="groups")
    assert len(person.uid) == 64 and person.uid != other.uid


def test_somebody_in_several_groups_has_the_roles_of_all() -> None:
    text = '{"a": ["x:annotator"], "b": ["x:admin", "y:adjudicator"], "c": ["site-admin"]}'
    rules = Organisation(
        issuer="i", client_id="c", client_secret="very-secret", name="", roles=read_roles(text)
    )
    given = rules.grants({"a", "b", "z"})
    assert (
        given.roles == {"x": {Role.ANNOTATOR, Role.ADMIN}, "y": {Role.ADJUDICATOR}} and not given.site_admin
    )
    assert rules.grants({"c"}).site_admin and not rules.grants({"z"})
    assert "very-secret" not in repr(rules)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("labellers", "is not JSON"),
        ('["a"]', "must be an object"),
        ('{"a": "x:annotator"}', "a list"),
        ('{"a": []}', "a list"),
        ('{"a": ["x"]}', "neither site-admin nor PROJECT:ROLE"),
        ('{"a": ["x:owner"]}', "neither site-admin nor PROJECT:ROLE"),
        ('{"a": [":admin"]}', "neither site-admin nor PROJECT:ROLE"),
        ('{"a": [7]}', "neither site-admin nor PROJECT:ROLE"),
    ],
)
def test_mapping_that_cannot_be_read_is_refused_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_roles(text)


def test_secrets_go_over_tls_or_stay_on_this_machine() -> None:
    assert safe_address("https://sso.example.org/realms/x") and safe_address("http://localhost:8080")
    for other in (
        "http://sso.example.org",
        "ftp://localhost",
        "https://u:p@x.example",
        "",
        "sso.example.org",
    ):
        assert not safe_address(other)
