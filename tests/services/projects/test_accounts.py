"""Accounts, profiles and personal tokens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import Denied, Invalid
from annotation.models import ApiToken, AuditEvent, User
from annotation.policies import OPERATOR
from annotation.services import accounts
from tests import people
from tests.people import PASSWORD, Cast
from tests.services.together import together


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "a\x00"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": "ann"}, "username"),
        ({"username": "new", "email": "nonsense"}, "email"),
        ({"username": "new", "password": "12345678"}, "password"),
        ({"username": "new-person", "password": "new-person"}, "password"),
        ({"username": "new", "display_name": "x" * 121}, "display_name"),
    ],
)
def test_account_that_cannot_be_is_refused_by_its_field(
    cast: Cast, values: dict[str, str], field: str
) -> None:
    before = User.objects.count()

    with pytest.raises(Invalid) as refusal:
        accounts.create_user(actor=OPERATOR, **values)  # type: ignore[arg-type]

    assert field in refusal.value.fields
    assert User.objects.count() == before


def test_account_without_a_password_cannot_be_signed_in_to(db: None) -> None:
    user = accounts.create_user(actor=OPERATOR, username="judge")

    assert not user.has_usable_password()
    assert not user.is_superuser


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_account_name_is_given_once_even_at_once_and_the_first_admin_is_made_once() -> None:
    results = together(*[lambda: accounts.create_user(actor=OPERATOR, username="same")] * 4)

    assert sum(isinstance(result, User) for result in results) == 1
    assert all(isinstance(result, User | Invalid) for result in results), results
    made = accounts.ensure_first_admin(actor=OPERATOR)
    assert made is not None and made[0].check_password(made[1])
    assert accounts.ensure_first_admin(actor=OPERATOR) is None


def test_password_replaced_by_the_operator_is_random_and_on_record(cast: Cast) -> None:
    secret = accounts.replace_password(actor=cast.root, user=cast.ann)

    cast.ann.refresh_from_db()
    assert cast.ann.check_password(secret) and not cast.ann.check_password(PASSWORD)
    assert secret not in str(list(AuditEvent.objects.values()))
    with pytest.raises(Denied):
        accounts.replace_password(actor=cast.admin, user=cast.ann)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"theme": "pink"}, "theme"),
        ({"email": "nonsense"}, "email"),
        ({"is_superuser": True}, "is_superuser"),
        ({"username": "root2"}, "username"),
    ],
)
def test_profile_holds_only_what_it_may(cast: Cast, values: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        accounts.update_profile(actor=cast.ann, user=cast.ann, values=values)

    assert field in refusal.value.fields


# ── Tokens ────────────────────────────────
def test_token_is_shown_once_stored_hashed_and_opens_its_owners_account(cast: Cast) -> None:
    token, secret = accounts.issue_token(actor=cast.ann, user=cast.ann, name="laptop")

    assert secret.startswith(token.prefix)
    assert secret not in str(list(ApiToken.objects.values()))
    found = accounts.user_of_token(secret=secret)
    assert found is not None and found[0] == cast.ann


def test_token_ends_when_it_is_revoked_expired_or_its_owner_has_left(cast: Cast) -> None:
    now = timezone.now()
    revoked, first = accounts.issue_token(actor=cast.ann, user=cast.ann, name="a")
    _, second = accounts.issue_token(actor=cast.ann, user=cast.ann, name="b", days=1, now=now)
    _, third = accounts.issue_token(actor=cast.ben, user=cast.ben, name="c", days=None)

    accounts.revoke_token(actor=cast.ann, token=revoked)
    User.objects.filter(pk=cast.ben.pk).update(is_active=False)

    assert accounts.user_of_token(secret=first) is None
    assert accounts.user_of_token(secret=second, now=now + timedelta(days=1)) is None
    assert accounts.user_of_token(secret=second, now=now + timedelta(hours=23)) is not None
    assert accounts.user_of_token(secret=third) is None
    for wrong in ("", "tri_", "tri_x" * 100, "\x00"):
        assert accounts.user_of_token(secret=wrong) is None


def test_token_use_is_noted_at_most_once_a_minute(cast: Cast) -> None:
    now = timezone.now()
    token, secret = accounts.issue_token(actor=cast.ann, user=cast.ann, name="a", now=now)

    for seconds in (1, 30, 59):
        accounts.user_of_token(secret=secret, now=now + timedelta(seconds=seconds))
    token.refresh_from_db()
    assert token.last_used_at == now + timedelta(seconds=1)
    accounts.user_of_token(secret=secret, now=now + timedelta(seconds=90))
    token.refresh_from_db()
    assert token.last_used_at == now + timedelta(seconds=90)


@pytest.mark.parametrize(("name", "days"), [("", 5), ("  ", 5), ("a", 0), ("a", -1), ("a", 400)])
def test_token_needs_a_name_and_a_sensible_time(cast: Cast, name: str, days: int) -> None:
    with pytest.raises(Invalid):
        accounts.issue_token(actor=cast.ann, user=cast.ann, name=name, days=days)


def test_token_of_another_is_made_and_ended_by_nobody(cast: Cast) -> None:
    token, _ = accounts.issue_token(actor=cast.ann, user=cast.ann, name="a")

    with pytest.raises(Denied):
        accounts.issue_token(actor=cast.admin, user=cast.ann, name="b")
    with pytest.raises(Denied):
        accounts.revoke_token(actor=cast.ben, token=token)
    people.make_member(cast.project, cast.ben, "admin")
    with pytest.raises(Denied):
        accounts.revoke_token(actor=cast.ben, token=token)
