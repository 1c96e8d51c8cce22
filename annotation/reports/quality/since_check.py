"""Submissions since gold last showed that somebody labels as in the key, to be looked at again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.i18n import translatable
from annotation.core.rechecks import sampling
from annotation.core.vocabulary import RESOLVED, LookReason, TrajectoryState
from annotation.models import Assignment, Membership, Recheck, RelabelRequest, User
from annotation.policies import require

from ..training.gold import last_good
from . import look_again

WIDEST: Final = 20
"""At most so many submissions, the last good gold among them, stand at the beginning."""
GONE = translatable("They are no annotator of this project any more, so nothing can be asked of them.")
NOTHING = translatable("They have submitted nothing since then.")
QUEUED = translatable("All of it that can be looked at again is queued already, or was looked at.")
NONE_LEFT = translatable("Nothing that they have submitted since then can be looked at again.")


@dataclass(frozen=True, slots=True)
class SinceCheck:
    """The submissions of a member since their last good gold, from `since` on; both None: since they began.

    `preview` has what can be queued, and how much cannot; `refusal` why nothing can, else it is empty.
    """

    membership: Membership
    last_good: datetime | None
    since: datetime | None
    preview: look_again.RelabelPreview
    refusal: str

    @property
    def hidden(self) -> int:
        """The gold and rechecks among what can be queued: no consensus hangs on these."""
        return sum(row.recheck_id is not None for row in self.preview.ready)

    @property
    def _states(self) -> Counter[str]:
        return Counter(row.trajectory.state for row in self.preview.ready if row.recheck_id is None)

    @property
    def resolved(self) -> int:
        """The trajectories among it that have a consensus."""
        return sum(self._states[state] for state in RESOLVED)

    @property
    def disputed(self) -> int:
        """Those that are disputed."""
        return self._states[TrajectoryState.DISPUTED]

    @property
    def all_resolved(self) -> bool:
        """Whether no trajectory among it is disputed or still being labelled."""
        return 0 < self.resolved == len(self.preview.ready) - self.hidden


def since_check(*, actor: User, membership: Membership) -> SinceCheck:
    """The submissions of a member since their last good gold. For admins; `membership` comes with its project
    and user.

    It begins up to `WIDEST` submissions before that gold, by chance: where it began would tell which that
    was. What was queued for this since then is not queued twice.
    """
    require(actor, "members.change", membership)
    good = last_good(membership)
    good_at = good.answered_at if good is not None else None
    own = look_again.submitted(membership.project).filter(annotator=membership.user_id, imported=False)
    asked = RelabelRequest.objects.filter(
        project=membership.project_id, assignment__annotator=membership.user_id, because=LookReason.CHECK
    )
    if good_at is not None:
        asked = asked.filter(asked_at__gte=good_at)
    since = _beginning(membership, own, good, drawn=asked.exists())
    rows = own.filter(submitted_at__gte=since) if since is not None else own
    again = Exists(asked.filter(assignment=OuterRef("pk"), begun_at__isnull=False))
    looked = rows.filter(again).count()
    preview = look_again.sorted_out(look_again.marked(rows.filter(~again)), looked=looked)
    refusal = ""
    if not membership.is_annotator:
        refusal = GONE
    elif not preview.ready:
        left = preview.left_out
        refusal = NOTHING if not left else QUEUED if "queued" in left or "looked" in left else NONE_LEFT
    return SinceCheck(membership, good_at, since, preview, refusal)


def _beginning(
    membership: Membership, own: QuerySet[Assignment], good: Recheck | None, *, drawn: bool
) -> datetime | None:
    """The time at which the first of it was submitted; None: all of it counts. Once some of it has been
    queued (`drawn`), nothing that came before is."""
    if good is None or good.answered_at is None:
        return None
    if drawn:
        return good.answered_at
    project = membership.project
    width = min(WIDEST, round(sampling.PERCENT / project.gold_percent)) if project.gold_percent else WIDEST
    back = int(sampling.fraction(project.recheck_seed, "since", good.pk) * width)
    before = own.filter(submitted_at__lte=good.answered_at).order_by("-submitted_at", "-pk")
    at = list(before.values_list("submitted_at", flat=True)[: back + 1])
    return at[-1] if at else good.answered_at
