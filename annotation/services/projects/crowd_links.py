"""Links for people of a crowd service: making, changing and closing them (docs/crowd.md)."""

import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.models import CrowdLink, Project
from annotation.models.people.crowd import (
    MAX_CODE,
    MAX_PLACE_MINUTES,
    MAX_PLACE_TRAJECTORIES,
    MAX_PLACES,
)
from annotation.policies import Actor, recorded, require

from .. import audit
from ..transitions import require_version

CODE = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_CODE}}}")
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
CODE_MARK = "{code}"
_RANGES = {"places": MAX_PLACES, "minutes": MAX_PLACE_MINUTES, "trajectories": MAX_PLACE_TRAJECTORIES}


@transaction.atomic
def create_crowd_link(
    *, actor: Actor, project: Project, values: Mapping[str, Any], now: datetime | None = None
) -> CrowdLink:
    """Make a link with `CrowdLink.EDITED`. Raises Invalid with the fields that are wrong."""
    require(actor, "members.change", project)
    link = CrowdLink.objects.create(
        project=project,
        token=secrets.token_urlsafe(24),
        created_by=recorded(actor),
        created_at=now or timezone.now(),
        **_checked(values, taken=0),
    )
    audit.record(actor=actor, verb="crowd_link.create", project=project, obj=link, name=link.name)
    return link


@transaction.atomic
def change_crowd_link(
    *, actor: Actor, link: CrowdLink, values: Mapping[str, Any], version: str | None = None
) -> CrowdLink:
    """Change a link; places that are in use keep their time, and all get the codes as they are when they end.

    Raises Invalid with the fields that are wrong, StaleVersion when it is no longer at the `version` that
    the actor began from.
    """
    require(actor, "members.change", link)
    row = CrowdLink.objects.select_for_update(no_key=True).get(pk=link.pk)
    checked = _checked({**row.edited(), **values}, taken=row.taken)
    require_version(row, version, checked)
    changed = sorted(name for name, value in checked.items() if getattr(row, name) != value)
    if changed:
        CrowdLink.objects.filter(pk=row.pk).update(**checked)
        audit.record(actor=actor, verb="crowd_link.change", project=row.project, obj=row, fields=changed)
    row.refresh_from_db()
    return row


@transaction.atomic
def close_crowd_link(*, actor: Actor, link: CrowdLink, closed: bool = True) -> CrowdLink:
    """Close a link to whoever has no place yet, or open it again; repeating it changes nothing."""
    require(actor, "members.change", link)
    rows = CrowdLink.objects.filter(pk=link.pk, closed_at__isnull=closed)
    if rows.update(closed_at=timezone.now() if closed else None):
        verb = "crowd_link.close" if closed else "crowd_link.open"
        audit.record(actor=actor, verb=verb, project=link.project, obj=link, name=link.name)
    link.refresh_from_db()
    return link


def _checked(values: Mapping[str, Any], *, taken: int) -> dict[str, Any]:
    """The values as they are stored."""
    fields: dict[str, str] = dict.fromkeys(
        set(values) - set(CrowdLink.EDITED), translatable("Unknown setting.")
    )
    checked = {name: values.get(name, "") for name in CrowdLink.EDITED}
    for name in ("name", "id_parameter", "completed_code", "screened_code", "return_url"):
        checked[name] = str(checked[name]).strip()
    checked["name"] = escape(checked["name"])
    if not 1 <= len(checked["name"]) <= 80:
        fields["name"] = translatable("Enter a name of at most {name} characters.", name=80)
    if not PARAMETER.fullmatch(checked["id_parameter"]):
        fields["id_parameter"] = translatable("Use letters, digits, - and _, and a letter first.")
    for name, most in _RANGES.items():
        if type(checked[name]) is not int or not 1 <= checked[name] <= most:
            fields[name] = translatable("Enter a number from 1 to {most_here}.", most_here=f"{most:,}")
    if "places" not in fields and checked["places"] < taken:
        fields["places"] = translatable(
            "{taken} places are taken already; keep at least as many.", taken=taken
        )
    for name in ("completed_code", "screened_code"):
        if not CODE.fullmatch(checked[name]):
            fields[name] = translatable("Use letters, digits, - and _, at most {code}.", code=MAX_CODE)
    if checked["completed_code"] == checked["screened_code"] and "screened_code" not in fields:
        fields["screened_code"] = translatable("The two codes have to differ.")
    if checked["return_url"] and not _is_safe(checked["return_url"]):
        fields["return_url"] = translatable("Enter an address that begins with https:// and has no password.")
    if fields:
        raise Invalid(translatable("The link could not be saved; check the fields."), fields=fields)
    return checked


def _is_safe(address: str) -> bool:
    """Whether people may be sent to this address: of https, with a host, without a name, a password, spaces
    or anything invisible."""
    if len(address) > 500 or not re.fullmatch(r"[!-~]+", address) or "\\" in address:
        return False
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return False
    named = parts.username is not None or parts.password is not None
    return parts.scheme == "https" and bool(host) and not named and CODE_MARK not in parts.netloc
