"""Describe entries of the audit log in words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotation.models import AuditEvent

# What services write as `verb`, as people read it. A verb without words is shown as it is.
AUDIT_SENTENCES = {
    "account.change": gettext_lazy("changed a profile"),
    "account.create": gettext_lazy("created an account"),
    "account.first_admin": gettext_lazy("created the first admin"),
    "account.password_link": gettext_lazy("created a password link"),
    "account.password_replaced": gettext_lazy("replaced a password"),
    "account.close": gettext_lazy("closed an account"),
    "account.open": gettext_lazy("reopened an account"),
    "trajectory.assign": gettext_lazy("assigned a trajectory"),
    "trajectory.unassign": gettext_lazy("withdrew a trajectory from somebody"),
    "reservation.end": gettext_lazy("ended what was assigned"),
    "assignment.expire": gettext_lazy("ended a claim"),
    "assignment.look_again": gettext_lazy("looked again after the guidelines changed"),
    "assignment.reopen": gettext_lazy("reopened a submission"),
    "assignment.resume": gettext_lazy("resumed a trajectory"),
    "assignment.return": gettext_lazy("returned a trajectory"),
    "assignment.submit": gettext_lazy("submitted a trajectory"),
    "case.assign": gettext_lazy("assigned a case"),
    "case.close": gettext_lazy("decided a case"),
    "case.open": gettext_lazy("claimed a case"),
    "case.release": gettext_lazy("returned a case to the queue"),
    "case.reopen": gettext_lazy("reopened a case"),
    "case.reveal": gettext_lazy("viewed judges’ suggestions in a case"),
    "correction.propose": gettext_lazy("stored what a judge proposes for first errors"),
    "correction.restore": gettext_lazy("took a correction up again"),
    "correction.reveal": gettext_lazy("viewed what judges propose for a first error"),
    "correction.save": gettext_lazy("saved a correction"),
    "correction.take": gettext_lazy("took a first error to correct it"),
    "correction.withdraw": gettext_lazy("withdrew a correction"),
    "remark.close": gettext_lazy("closed a remark to admins"),
    "remark.write": gettext_lazy("wrote a remark to admins"),
    "discussion.open": gettext_lazy("opened a discussion"),
    "example.mark": gettext_lazy("made a case an example"),
    "example.unmark": gettext_lazy("removed an example"),
    "experiment.start": gettext_lazy("randomised when annotators see suggestions"),
    "experiment.stop": gettext_lazy("ended the experiment before it began"),
    "label_audit.begin": gettext_lazy("began an audit of the labels"),
    "label_audit.add": gettext_lazy("added draws to the audit of the labels"),
    "label_audit.end": gettext_lazy("ended the audit of the labels"),
    "label_audit.take": gettext_lazy("took a case of an audit"),
    "label_audit.decide": gettext_lazy("decided a case of an audit"),
    "guidelines.look_again": gettext_lazy("asked annotators to look again"),
    "guidelines.look_again_undo": gettext_lazy("took back requests to look again"),
    "guidelines.write": gettext_lazy("wrote guidelines"),
    "prompts.export": gettext_lazy("downloaded prompts of a release"),
    "prompts.make": gettext_lazy("asked for prompts of a release"),
    "freeze.cancel": gettext_lazy("stopped the freezing of a release"),
    "freeze.start": gettext_lazy("asked for a release to be frozen"),
    "import.abandon": gettext_lazy("stopped an import"),
    "import.publish": gettext_lazy("imported a file"),
    "import.receive": gettext_lazy("uploaded a file"),
    "import.start": gettext_lazy("started an import after its preview"),
    "invitation.accept": gettext_lazy("accepted an invitation"),
    "invitation.create": gettext_lazy("created an invitation"),
    "invitation.renew": gettext_lazy("made a new link for an invitation"),
    "invitation.revoke": gettext_lazy("revoked an invitation"),
    "item.replace": gettext_lazy("replaced an item by one with other options"),
    "judge.change": gettext_lazy("changed a judge"),
    "judge.create": gettext_lazy("created a judge"),
    "judge.train": gettext_lazy("trained a baseline"),
    "judge.recalibrate": gettext_lazy("switched the recalibration of a judge"),
    "workshop.draw": gettext_lazy("drew a sample for the prompt workshop"),
    "judge.restore": gettext_lazy("reactivated a judge"),
    "judge.retire": gettext_lazy("retired a judge"),
    "second_person.fit": gettext_lazy("made the rule for a second person"),
    "judges_first.settle": gettext_lazy("settled what judges agree on"),
    "judges_first.send_back": gettext_lazy("sent what judges had settled to people"),
    "labels.import": gettext_lazy("imported finished labels"),
    "member.qualifications": gettext_lazy("changed the qualifications of a member"),
    "member.remove": gettext_lazy("removed a member"),
    "member.set": gettext_lazy("set the roles of a member"),
    "predictions.delete": gettext_lazy("deleted the predictions of a model"),
    "predictions.import": gettext_lazy("imported the predictions of a model"),
    "predictions.outside": gettext_lazy("set numbers of models that come from elsewhere"),
    "project.change": gettext_lazy("changed the settings"),
    "project.close_checklist": gettext_lazy("closed the list of first steps"),
    "project.create": gettext_lazy("created the project"),
    "queue.restore": gettext_lazy("shuffled the queue again"),
    "queue.triage": gettext_lazy("put contested trajectories first"),
    "release.export": gettext_lazy("exported a release"),
    "release.freeze": gettext_lazy("froze a release"),
    "release.publish": gettext_lazy("changed the public address of a release"),
    "release.unpublish": gettext_lazy("switched the public address of a release off"),
    "release.withdraw": gettext_lazy("withdrew a release"),
    "release_key.rotate": gettext_lazy("replaced the key that signs releases"),
    "release_key.trust": gettext_lazy("trusted another release key"),
    "subset.change": gettext_lazy("changed a subset"),
    "subset.create": gettext_lazy("created a subset"),
    "suggestions.cancel": gettext_lazy("cancelled a run of a judge"),
    "suggestions.end": gettext_lazy("restarted a run of a judge that had ended"),
    "suggestions.import": gettext_lazy("imported suggestions"),
    "suggestions.pause": gettext_lazy("paused a run of a judge"),
    "suggestions.resume": gettext_lazy("resumed a run of a judge"),
    "suggestions.retry": gettext_lazy("retried the failed trajectories of a run of a judge"),
    "suggestions.start": gettext_lazy("started a run of a judge"),
    "view.change": gettext_lazy("changed a saved view"),
    "view.delete": gettext_lazy("deleted a saved view"),
    "view.save": gettext_lazy("saved a view of a list"),
    "tag.delete": gettext_lazy("deleted a tag"),
    "tag.rename": gettext_lazy("renamed or merged a tag"),
    "trajectory.tag": gettext_lazy("put a tag on a trajectory"),
    "trajectory.untag": gettext_lazy("took a tag off a trajectory"),
    "token.issue": gettext_lazy("created an API token"),
    "token.revoke": gettext_lazy("revoked an API token"),
}


def describe(event: AuditEvent) -> dict[str, Any]:
    """`actor` (a name), `what` (words) and `details` (key, value pairs as text) of one row of the log."""
    return {
        "actor": str(event.actor) if event.actor is not None else gettext("operator"),
        "what": str(AUDIT_SENTENCES.get(event.verb, event.verb)),
        "details": [(key, _text(value)) for key, value in sorted(event.detail.items())],
    }


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return str(value)
