"""The audit log in words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotation.models import AuditEvent

# What services write as `verb`, as people read it. A verb without words is shown as it is.
SENTENCES = {
    "account.change": gettext_lazy("changed a profile"),
    "account.create": gettext_lazy("made an account"),
    "adjudication.decide": gettext_lazy("decided a step"),
    "adjudication.finish": gettext_lazy("finished an adjudication"),
    "adjudication.open": gettext_lazy("took an adjudication"),
    "adjudication.release": gettext_lazy("handed an adjudication back"),
    "assignment.claim": gettext_lazy("claimed a trajectory"),
    "assignment.return": gettext_lazy("returned a trajectory"),
    "assignment.submit": gettext_lazy("submitted a trajectory"),
    "guidelines.write": gettext_lazy("wrote guidelines"),
    "import.create": gettext_lazy("uploaded a file"),
    "import.publish": gettext_lazy("imported a file"),
    "invitation.accept": gettext_lazy("accepted an invitation"),
    "invitation.create": gettext_lazy("made an invitation"),
    "invitation.revoke": gettext_lazy("revoked an invitation"),
    "member.remove": gettext_lazy("removed a member"),
    "member.set": gettext_lazy("set the roles of a member"),
    "project.change": gettext_lazy("changed the settings"),
    "project.create": gettext_lazy("started the project"),
    "release.freeze": gettext_lazy("froze a release"),
    "release.withdraw": gettext_lazy("withdrew a release"),
    "subset.change": gettext_lazy("changed a subset"),
    "subset.create": gettext_lazy("made a subset"),
}


def describe(event: AuditEvent) -> dict[str, Any]:
    """`actor` (a name), `what` (words) and `details` (key, value pairs as text) of one row of the log."""
    return {
        "actor": str(event.actor) if event.actor is not None else gettext("operator"),
        "what": str(SENTENCES.get(event.verb, event.verb)),
        "details": [(key, _text(value)) for key, value in sorted(event.detail.items())],
    }


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return str(value)
