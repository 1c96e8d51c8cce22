"""Describe entries of a history in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from annotation.core.kinds import Feature, ProjectKind
from annotation.core.text import unescape
from annotation.core.vocabulary import REASON_CODES_BY_CODE, ConsensusKind, ExpiryReason, LabelSource
from annotation.reports.cases.history_entries import HistoryEntry

from .audit_text import AUDIT_SENTENCES as AUDIT
from .transcript import escape_control_chars

HISTORY_SENTENCES: Final = {
    "save": gettext_lazy("labelled"),
    "root": gettext_lazy("changed where the error began"),
    "orphan": gettext_lazy("lost a filled label: its error was taken back"),
    "import": gettext_lazy("labels came from a file"),
    "mark": gettext_lazy("marked the whole trajectory"),
    "feedback": gettext_lazy("was given feedback"),
    "reveal": gettext_lazy("asked for judges’ suggestions"),
    "comment": gettext_lazy("commented"),
    "retracted": gettext_lazy("wrote a comment, taken back since"),
    "revision": gettext_lazy("changed their label in a discussion"),
    "corrected": gettext_lazy("corrected the consensus in an audit"),
    "decision": pgettext_lazy("history", "decided"),
    "withdrawal": gettext_lazy("took the decision back"),
    "erasure": gettext_lazy("removed the consensus, to decide anew"),
    "resolved": gettext_lazy("became the consensus"),
    "seen.label": gettext_lazy("saw others’ labels"),
    "seen.consensus": gettext_lazy("saw the consensus"),
    "seen.suggestion": gettext_lazy("saw judges’ suggestions"),
}
CONFIRMED: Final = gettext_lazy("confirmed the proposal")
REMOVED: Final = gettext_lazy("has no label")
ORIGINS: Final = {
    ConsensusKind.UNANIMOUS: gettext_lazy("unanimous"),
    ConsensusKind.DISCUSSED: gettext_lazy("discussed"),
    ConsensusKind.MAJORITY: pgettext_lazy("origin", "majority"),
    ConsensusKind.ADJUDICATED: gettext_lazy("adjudicated"),
    ConsensusKind.ONE_PERSON: gettext_lazy("one person beside judges"),
    ConsensusKind.JUDGED: gettext_lazy("judged"),
}
REASONS: Final = {
    ExpiryReason.LEFT: gettext_lazy("left the project"),
    ExpiryReason.TAKEN_BACK: gettext_lazy("taken back by an admin"),
    ExpiryReason.UNUSED: gettext_lazy("not used for too long"),
    ExpiryReason.REPLACED: gettext_lazy("replaced by other content"),
}
MARKS: Final = {
    "needs_discussion": gettext_lazy("needs discussion"),
    "broken": gettext_lazy("broken trajectory"),
}


def sentence(entry: HistoryEntry) -> str:
    """The event in words, without who and when."""
    if entry.kind == "save" and entry.value is None:
        return str(REMOVED)
    if entry.kind == "save" and entry.detail.get("source") == LabelSource.PROPAGATED:
        return str(CONFIRMED)
    return str(HISTORY_SENTENCES.get(entry.kind) or AUDIT.get(entry.kind) or entry.kind)


def details(entry: HistoryEntry, kind: ProjectKind) -> list[str]:
    """Details of the event, each in a few words; where an error began only where errors carry on."""
    carries_on = kind.has(Feature.PROPAGATION)
    return list(_details({name: it for name, it in entry.detail.items() if carries_on or name != "root"}))


def _details(detail: dict[str, Any]) -> Iterator[str]:
    if (origin := detail.get("origin")) in list(ConsensusKind):
        yield str(ORIGINS[ConsensusKind(origin)])
    if (root := detail.get("root")) is not None:
        yield gettext("began at #%(index)s") % {"index": root}
    if reason := detail.get("reason"):
        reason_code = REASON_CODES_BY_CODE.get(reason)
        yield gettext(reason_code.title) if reason_code else escape_control_chars(unescape(str(reason)))
    if (because := detail.get("because")) in list(ExpiryReason):
        yield str(REASONS[ExpiryReason(because)])
    if version := detail.get("version"):
        yield gettext("release %(version)s") % {"version": version}
    for name, words in MARKS.items():
        if detail.get(name):
            yield str(words)
    for name in ("whose", "username"):
        if whose := detail.get(name):
            yield escape_control_chars(str(whose))
