"""Describe entries of the audit log in words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotation.models import AuditEvent

# What services write as `verb`, as people read it. A verb without words is shown as it is.
SENTENCES = {
    "account.change": gettext_lazy("changed a profile"),
    "account.create": gettext_lazy("made an account"),
    "account.first_admin": gettext_lazy("made the first admin"),
    "account.password_link": gettext_lazy("made a password link"),
    "account.password_replaced": gettext_lazy("replaced a password"),
    "account.close": gettext_lazy("closed an account"),
    "account.open": gettext_lazy("opened an account again"),
    "assignment.expire": gettext_lazy("ended a claim"),
    "assignment.reopen": gettext_lazy("opened a submission again"),
    "assignment.resume": gettext_lazy("took up a trajectory again"),
    "assignment.return": gettext_lazy("returned a trajectory"),
    "assignment.submit": gettext_lazy("submitted a trajectory"),
    "case.close": gettext_lazy("decided a case"),
    "case.open": gettext_lazy("took a case"),
    "case.release": gettext_lazy("handed a case back"),
    "case.reopen": gettext_lazy("opened a case again"),
    "case.reveal": gettext_lazy("looked at judges’ suggestions in a case"),
    "experiment.start": gettext_lazy("randomised when annotators see suggestions"),
    "experiment.stop": gettext_lazy("ended the experiment before it began"),
    "guidelines.write": gettext_lazy("wrote guidelines"),
    "import.abandon": gettext_lazy("stopped an import"),
    "import.publish": gettext_lazy("imported a file"),
    "import.receive": gettext_lazy("uploaded a file"),
    "invitation.accept": gettext_lazy("accepted an invitation"),
    "invitation.create": gettext_lazy("made an invitation"),
    "invitation.revoke": gettext_lazy("revoked an invitation"),
    "judge.change": gettext_lazy("changed a judge"),
    "judge.create": gettext_lazy("made a judge"),
    "judge.train": gettext_lazy("trained a baseline"),
    "judge.restore": gettext_lazy("took a judge into use again"),
    "judge.retire": gettext_lazy("took a judge out of use"),
    "labels.import": gettext_lazy("imported finished labels"),
    "member.remove": gettext_lazy("removed a member"),
    "member.set": gettext_lazy("set the roles of a member"),
    "project.change": gettext_lazy("changed the settings"),
    "project.create": gettext_lazy("started the project"),
    "queue.restore": gettext_lazy("brought the queue back into the order of import"),
    "queue.triage": gettext_lazy("put contested trajectories first"),
    "release.export": gettext_lazy("exported a release"),
    "release.freeze": gettext_lazy("froze a release"),
    "release.withdraw": gettext_lazy("withdrew a release"),
    "release_key.rotate": gettext_lazy("replaced the key that signs releases"),
    "release_key.trust": gettext_lazy("trusted another key of releases"),
    "subset.change": gettext_lazy("changed a subset"),
    "subset.create": gettext_lazy("made a subset"),
    "suggestions.cancel": gettext_lazy("cancelled a run of a judge"),
    "suggestions.end": gettext_lazy("started a run of a judge that has ended"),
    "suggestions.import": gettext_lazy("imported suggestions"),
    "suggestions.pause": gettext_lazy("paused a run of a judge"),
    "suggestions.resume": gettext_lazy("took up a run of a judge again"),
    "suggestions.retry": gettext_lazy("asked a judge again about what had failed"),
    "suggestions.start": gettext_lazy("started a run of a judge"),
    "token.issue": gettext_lazy("made an API token"),
    "token.revoke": gettext_lazy("revoked an API token"),
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
