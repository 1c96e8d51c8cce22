"""create_token, as an operator uses it for a script."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import ApiToken, AuditEvent
from tests.commands.calling import fails, run
from tests.people import Cast

pytestmark = pytest.mark.once


def test_create_token_prints_the_token_alone_which_then_signs_in_within_its_scope(cast: Cast) -> None:
    said = run("create_token", "ann", "nightly export", "--days", "30")
    secret = said.out.strip()
    assert secret.startswith("tri_") and secret not in said.err and "scope read" in said.err
    row = ApiToken.objects.get()
    assert (row.user, row.name, (row.expires_at - row.created_at).days) == (cast.ann, "nightly export", 30)
    client = Client(headers={"authorization": f"Bearer {secret}"})
    assert client.get("/api/v1/me/").json()["username"] == "ann"
    assert client.patch("/api/v1/me/", {}, content_type="application/json").status_code == 403
    assert AuditEvent.objects.get(verb="token.issue").actor is None


def test_create_token_refuses_an_unknown_or_closed_account_and_a_wrong_end(cast: Cast) -> None:
    cast.ben.is_active = False
    cast.ben.save()
    for name in ("nobody", "ben"):
        assert "no account" in fails("create_token", name, "x").out
    assert "between 1 and 366 days" in fails("create_token", "ann", "x", "--days", "0").out
    assert "name" in fails("create_token", "ann", " ").out
    assert not ApiToken.objects.exists()
