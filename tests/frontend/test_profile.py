"""The profile: settings, time zone, language, and API tokens shown once."""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils import timezone
from django.utils.formats import date_format

from annotation.models import ApiToken, User

FORM = {"display_name": "Ann A.", "email": "", "time_zone": "Asia/Shanghai", "language": "", "theme": "dark"}


def test_settings_are_saved_and_used(browse, cast, at, text):
    client = browse("ann")
    assert client.post(at("profile"), FORM).status_code == 302
    user = User.objects.get(pk=cast.ann.pk)
    assert (user.display_name, user.time_zone, user.theme) == ("Ann A.", "Asia/Shanghai", "dark")
    page = text(client.get(at("profile")))
    assert 'data-theme="dark"' in page
    assert "Ann A." in page


def test_time_zone_of_times_is_ones_own(browse, cast, at, text):
    from datetime import UTC, datetime

    from annotation.models import AuditEvent
    from tests.databases import lifted

    with lifted():
        AuditEvent.objects.update(created_at=datetime(2026, 3, 1, 20, 30, tzinfo=UTC))
    client = browse("admin")
    assert "1 Mar 2026, 20:30" in text(client.get(at("audit", "bench")))
    client.post(at("profile"), {**FORM, "time_zone": "Asia/Shanghai"})
    assert "2 Mar 2026, 04:30" in text(client.get(at("audit", "bench")))


def test_time_zone_that_this_machine_does_not_know_is_the_servers(browse, cast, at):
    for zone in ("Mars/Base", "America", "../etc/passwd", ""):
        User.objects.filter(pk=cast.ann.pk).update(time_zone=zone)
        assert browse("ann").get(at("home")).status_code in (200, 302)


def test_profile_refuses_wrong_values_field_by_field(browse, cast, at):
    response = browse("ann").post(at("profile"), {**FORM, "time_zone": "Mars/Base", "email": "no"})
    assert response.status_code == 400
    assert set(response.context["form"].errors) == {"time_zone", "email"}
    assert User.objects.get(pk=cast.ann.pk).time_zone == ""


def test_token_is_shown_once_and_stored_hashed(browse, cast, at, text):
    client = browse("ann")
    made = client.post(at("token-create"), {"name": "script", "days": "30", "scope": "label"})
    assert "no-store" in made["Cache-Control"]
    secret = re.search(r'value="(tri_[^"]+)"', text(made))[1]
    page = text(client.get(at("profile")))
    assert secret not in page and "may read, label, discuss and decide cases" in " ".join(page.split())
    assert f"365 days, until {date_format(timezone.localtime() + timedelta(365))}" in page
    assert ApiToken.objects.get().digest != secret
    api = client.get("/api/v1/me/", headers={"Authorization": f"Bearer {secret}"})
    assert api.status_code == 200


def test_token_ends_when_it_is_revoked_and_only_by_its_owner(browse, at):
    client = browse("ann")
    client.post(at("token-create"), {"name": "script", "days": "30", "scope": "label"})
    token = ApiToken.objects.get()
    assert browse("root").post(at("token-revoke", token.pk)).status_code == 404
    assert browse("ben").post(at("token-revoke", token.pk)).status_code == 404
    assert client.post(at("token-revoke", token.pk)).status_code == 302
    assert ApiToken.objects.get().revoked_at is not None


def test_keys_are_changed_refused_and_taken_back(browse, cast, at) -> None:
    ann = browse("ann")
    assert ann.post(at("profile-keys"), {"flag": "y", "undo": "Z"}).status_code == 302
    cast.ann.refresh_from_db()
    assert cast.ann.keymap == {"flag": "y", "undo": "z"}

    refused = ann.post(at("profile-keys"), {"flag": "q", "unsure": "q"})
    assert refused.status_code == 400
    assert "Another action has this key." in refused.content.decode()
    cast.ann.refresh_from_db()
    assert cast.ann.keymap == {"flag": "y", "undo": "z"}

    ann.post(at("profile-keys"), {"flag": "y", "plus": "1", "zero": "0", "minus": "-", "numbers": "1"})
    cast.ann.refresh_from_db()
    assert cast.ann.keymap == {"flag": "y", "zero": "2", "minus": "3"}

    ann.post(at("profile-keys"), {"flag": "y", "usual": "1"})
    cast.ann.refresh_from_db()
    assert cast.ann.keymap == {}


def test_profile_tells_of_a_key_that_gave_way_to_ones_own(browse, cast, at, text) -> None:
    # as it was stored before the reasons got this key
    type(cast.ann).objects.filter(pk=cast.ann.pk).update(keymap={"flag": "w"})
    page = text(browse("ann").get(at("profile")))
    assert page.count("You use its usual key, “w”, for “Flag") == 1
    assert re.search(r'id="key-reason"\s+name="reason"\s+value="f"', page)
