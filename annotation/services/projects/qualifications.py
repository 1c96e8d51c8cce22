"""The qualifications and pay of a project's members, for its admins."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.releases.qualifications import languages_of
from annotation.core.text import escape
from annotation.core.vocabulary import Degree
from annotation.models import MAX_YEARS, Membership, Qualification
from annotation.policies import Actor, require

from .. import audit
from ..transitions import require_version

MAX_FIELD = 80
MAX_LANGUAGES = 200


@transaction.atomic
def set_qualifications(
    *, actor: Actor, membership: Membership, values: Mapping[str, Any], version: str | None = None
) -> Qualification:
    """Note the `degree` of a member (`Degree`), its `field`, `years` of work in it, and `languages`, a list
    with commas; and the `pay_rate` that takes the place of the project's. What is not among the values stays.

    The audit log says which of them changed, and no value. Raises Invalid with the fields that are wrong,
    StaleVersion when they are no longer at the `version` that the actor began from.
    """
    require(actor, "members.change", membership)
    values = _checked(values)
    Membership.objects.select_for_update(no_key=True).get(pk=membership.pk)
    row = Qualification.objects.filter(membership=membership).first() or Qualification(membership=membership)
    require_version(row, version, values)
    changed = sorted(name for name, value in values.items() if getattr(row, name) != value)
    if not changed:
        return row
    for name, value in values.items():
        setattr(row, name, value)
    row.save()
    audit.record(
        actor=actor,
        verb="member.qualifications",
        project=membership.project,
        obj=membership,
        username=membership.user.username,
        fields=changed,
    )
    return row


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they are stored."""
    checked = dict(values)
    fields = dict.fromkeys(set(values) - set(Qualification.EDITED), translatable("Unknown setting."))
    if "field" in values:
        checked["field"] = escape(" ".join(values["field"].split()))
    if "languages" in values:
        checked["languages"] = escape(", ".join(languages_of(values["languages"])))
    if values.get("degree", "") not in ("", *Degree):
        fields["degree"] = translatable("Choose a degree from the list.")
    for name, most in (("field", MAX_FIELD), ("languages", MAX_LANGUAGES)):
        if len(checked.get(name, "")) > most:
            fields[name] = translatable("Keep this under {characters} characters.", characters=most)
    years = values.get("years")
    if years is not None and not 0 <= years <= MAX_YEARS:
        fields["years"] = translatable("Choose between 0 and {most_years} years.", most_years=MAX_YEARS)
    pay = values.get("pay_rate")
    if pay is not None and pay < 0:
        fields["pay_rate"] = translatable("Choose no less than 0.")
    if fields:
        raise Invalid(translatable("The qualifications could not be saved; check the fields."), fields=fields)
    return checked
