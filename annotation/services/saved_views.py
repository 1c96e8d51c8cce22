"""Saved views: keep what a list was asked for under a name, for oneself or for all admins of a project."""

from typing import Final

from django.db import IntegrityError, transaction

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.i18n import translatable
from annotation.core.names import one_line
from annotation.models import Project, SavedView, User
from annotation.models.saved_views import MAX_VIEW_NAME
from annotation.policies import require

from . import audit

LISTS: Final = {"trajectories": "trajectory.list", "audit": "audit.view"}
"""The lists that have views, and the verb that opens each."""
MAX_VIEWS = 50
MAX_QUERY = 5_000


@transaction.atomic
def save_view(
    *, actor: User, project: Project, list_name: str, name: str, query: str, shared: bool = False
) -> SavedView:
    """Keep a query string of a list, which the list has checked, under a new name.

    `shared`: for all admins of the project. Raises Invalid for a name that is empty, too long or taken, for
    an empty query and for a view more than MAX_VIEWS of one owner.
    """
    require(actor, LISTS[list_name], project)
    if shared:
        require(actor, "project.change", project)
    owner = None if shared else actor
    if SavedView.objects.filter(project=project, list=list_name, owner=owner).count() >= MAX_VIEWS:
        raise Invalid(translatable("There are {n} views already. Delete one first.", n=MAX_VIEWS))
    view = SavedView(project=project, list=list_name, owner=owner)
    return _store(actor, view, "view.save", name, query)


@transaction.atomic
def change_view(
    *, actor: User, view: SavedView, name: str | None = None, query: str | None = None
) -> SavedView:
    """Rename a view, or replace its query string. Raises what `save_view` raises, and Conflict for a view
    that somebody has deleted meanwhile."""
    _require_own(actor, view)
    current = SavedView.objects.select_for_update().filter(pk=view.pk).first()
    if current is None:
        raise Conflict(translatable("Somebody has deleted this view."), code="deleted")
    kept_name, kept_query = (current.name if name is None else name), (query or current.query)
    return _store(actor, current, "view.change", kept_name, kept_query)


@transaction.atomic
def delete_view(*, actor: User, view: SavedView) -> None:
    """Delete a view. Nothing else goes with it; one that is gone already stays gone."""
    _require_own(actor, view)
    audit.record(actor=actor, verb="view.delete", project=view.project, obj=view, name=view.name)
    view.delete()


def _require_own(actor: User, view: SavedView) -> None:
    require(actor, LISTS[view.list], view.project)
    if view.owner_id is None:
        require(actor, "project.change", view.project)
    elif view.owner_id != actor.pk:
        raise Denied(translatable("You are not allowed to do this."))


def _store(actor: User, view: SavedView, verb: str, name: str, query: str) -> SavedView:
    view.name, view.query = one_line(name, MAX_VIEW_NAME), query
    if not query:
        raise Invalid(translatable("Filter or sort the list first."))
    if len(query) > MAX_QUERY:
        raise Invalid(translatable("This filter is too long to be kept."))
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError as error:
        message = translatable("There is a view “{name}” already.", name=view.name)
        raise Invalid(message, fields={"name": message}) from error
    audit.record(
        actor=actor,
        verb=verb,
        project=view.project,
        obj=view,
        name=view.name,
        shared=view.owner_id is None,
    )
    return view
