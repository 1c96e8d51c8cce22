"""The cursors of a project's members in its queue (docs/decisions/0008-claiming-by-cursor.md)."""

from collections.abc import Collection

from django.db.models import Q

from annotation.models import Membership
from annotation.models.prepared import Prepared


def lower_cursors(*, project_id: int, position: int, leaving: Collection[int] = ()) -> None:
    """Lower all claim cursors beyond `position`, where something to claim was freed or added.

    The rows are locked in one order, so that two people who give something back at once cannot deadlock:
    those of people who are `leaving` too, because their memberships are changed later in the transaction.
    """
    pks = _beyond(project=project_id, position=position, leaving=leaving)
    if pks:
        Membership.objects.filter(pk__in=pks, claim_cursor__gt=position).update(claim_cursor=position)


_beyond = Prepared(
    lambda project, position, leaving: (
        Membership.objects.filter(Q(claim_cursor__gt=position) | Q(user__in=leaving), project_id=project)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk", flat=True)
    ),
    *("project", "position", "leaving"),
)
