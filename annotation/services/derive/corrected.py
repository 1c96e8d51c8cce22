"""The corrections of a release's first errors, as deriving reads them."""

from __future__ import annotations

from annotation.core.decisions.corrections import Corrected, CorrectionAnswer, CorrectionOrigin
from annotation.core.decisions.derive import Address
from annotation.core.decisions.record import Option, OptionOrigin
from annotation.core.text import unescape
from annotation.core.vocabulary import CorrectionState
from annotation.models import Correction, Release

ORIGINS = {
    CorrectionOrigin.SIBLING: OptionOrigin.STEP,
    CorrectionOrigin.EDITED: OptionOrigin.WRITTEN,
    CorrectionOrigin.WRITTEN: OptionOrigin.WRITTEN,
    CorrectionOrigin.JUDGE: OptionOrigin.JUDGE,
}


def corrections_of(release: Release) -> dict[Address, Corrected]:
    """Corrections so far of the first errors of a release's project. One query."""
    rows = Correction.objects.filter(
        project=release.project_id, state=CorrectionState.SAVED, trajectory__live=True
    ).select_related("step", "trajectory__subset", "sibling__trajectory__subset")
    return {
        (
            unescape(row.trajectory.subset.name),
            unescape(row.trajectory.record_id),
            row.step.message_index,
        ): Corrected(CorrectionAnswer(row.answer), _option(row))
        for row in rows.order_by("pk")
    }


def _option(row: Correction) -> Option | None:
    if (message := row.action) is None:
        return None
    source = {
        "correction": row.pk,
        "version": row.version,
        "error_class": row.error_class,
        "proposals_seen": row.proposals_seen_at is not None,
    }
    if row.sibling is not None:
        run = row.sibling.trajectory
        source["steps"] = [
            {
                "subset": unescape(run.subset.name),
                "record_id": unescape(run.record_id),
                "step": row.sibling.message_index,
                "policy_model": unescape(run.policy_model),
            }
        ]
    return Option(message, 1, ORIGINS[CorrectionOrigin(row.origin)], source, unescape(row.reason))
