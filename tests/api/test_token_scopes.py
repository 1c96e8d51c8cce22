"""What a token may be used for: to read, to label, or for all that its person may do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.core.vocabulary import TokenScope
from annotation.models import ApiToken, AuditEvent, Project
from annotation.services import accounts
from api.views.base import View
from tests import people


def views() -> Iterator[type[View]]:
    """The views of the API."""

    def below(patterns: list[Any]) -> Iterator[type[View]]:
        for one in patterns:
            if isinstance(one, URLResolver):
                yield from below(one.url_patterns)
            elif isinstance(one, URLPattern) and hasattr(one.callback, "cls"):
                yield one.callback.cls

    yield from below(get_resolver("api.urls").url_patterns)


def test_writing_takes_the_largest_scope_unless_a_view_says_otherwise() -> None:
    less = {
        view.__module__.rpartition(".")[2] for view in views() if getattr(view, "writes", None) != "admin"
    }
    work = {
        "assignments",
        "reveals",
        "discussions",
        "adjudications",
        "label_audits",
        "remarks",
        "corrections",
        "proficiency",
    }
    assert less <= work | {"index", "schema"}
    assert View.writes is TokenScope.ADMIN
    assert [one for one in TokenScope if TokenScope.LABEL.covers(one)] == [TokenScope.READ, TokenScope.LABEL]


@pytest.mark.parametrize(
    ("scope", "reads", "claims", "changes"),
    [("read", 200, 403, 403), ("label", 200, 201, 403), ("admin", 200, 201, 200)],
)
def test_token_does_what_its_scope_covers(cast, scope, reads, claims, changes):
    people.import_records(cast.project, 2)
    people.make_member(cast.project, cast.root, "annotator", "admin")
    _token, secret = accounts.issue_token(actor=cast.root, user=cast.root, name="t", scope=TokenScope(scope))
    client = Client(headers={"authorization": f"Bearer {secret}"})

    def send(method: str, address: str, body: Any = None) -> Any:
        return client.generic(method, f"/api/v1{address}", body or "", content_type="application/json")

    assert send("GET", "/projects/bench/").status_code == reads
    claim = send("POST", "/projects/bench/claim/")
    change = send("PATCH", "/projects/bench/", '{"name": "New"}')
    another = send("POST", "/me/tokens/", '{"name": "more", "scope": "admin"}')
    assert (claim.status_code, change.status_code) == (claims, changes)
    assert another.status_code == (201 if scope == "admin" else 403)
    if changes == 403:
        assert change.json()["error"]["code"] == "token_scope"
        assert f"has the scope “{scope}”; this needs “admin”" in change.json()["error"]["message"]
        assert Project.objects.get().name != "New"


def test_token_of_before_does_everything_and_a_scope_is_one_of_three(cast, by):
    made = by.ann.post("/me/tokens/", {"name": "t", "scope": "read", "days": 1})
    assert made.status_code == 201 and made.json()["scope"] == "read"
    assert AuditEvent.objects.get(verb="token.issue", detail__scope="read").detail["name"] == "t"
    assert by.ann.post("/me/tokens/", {"name": "t", "scope": "all"}).status_code == 400
    assert ApiToken._meta.get_field("scope").default == "admin"
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.update(scope="all")
