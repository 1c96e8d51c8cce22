"""Saved views above a list: its query strings under names, which any list page can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl

from django.contrib import messages
from django.utils.translation import gettext as _

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.language import translated
from annotation.models import SavedView
from annotation.models.saved_views import MAX_VIEW_NAME
from annotation.services import saved_views as service
from frontend.pages.shared.common import ProjectPage


@dataclass
class SavedViews:
    """The saved views of one list of a project, and which of them is open (`view` in the query string).

    problem: why the last act was refused, with what was typed as `typed`.
    """

    opened: ProjectPage
    list_name: str
    problem: str = ""
    longest = MAX_VIEW_NAME

    @cached_property
    def rows(self) -> Sequence[SavedView]:
        """The views that this person may open, by name. One query."""
        rows = SavedView.objects.filter(project=self.opened.project, list=self.list_name)
        return list(policies.visible(self.opened.user, rows))

    @cached_property
    def current(self) -> SavedView | None:
        """The view that is open."""
        key = self.opened.request.GET.get("view", "")
        return next((row for row in self.rows if str(row.pk) == key), None)

    @property
    def may_share(self) -> bool:
        """Whether this person may save views for all admins of the project."""
        return self.opened.may("project.change")

    @property
    def may_change(self) -> bool:
        """Whether the open view is this person's to change."""
        return self.current is not None and (self.current.owner_id is not None or self.may_share)

    @property
    def typed(self) -> str:
        """The name that stands in the form."""
        present = self.current.name if self.current else ""
        return self.opened.request.POST.get("name", present)

    def gone(self, names: set[str]) -> list[str]:
        """Sentences about what the open view asks for and the list has no field of (`names` are its own)."""
        kept = parse_qsl(self.current.query) if self.current else []
        sentence = _("This list has no filter “%(name)s” any more. It is left out of the view.")
        return [sentence % {"name": name} for name, _value in kept if name not in names]

    def act(self, query: str) -> str | None:
        """Do what the form says with the list's present query string. The query string to go on with, or None
        when it was refused (`problem`)."""
        form, user = self.opened.request.POST, self.opened.user
        act, name = form.get("act"), form.get("name", "")
        try:
            if act == "save":
                view = service.save_view(
                    actor=user,
                    project=self.opened.project,
                    list_name=self.list_name,
                    name=name,
                    query=query,
                    shared="shared" in form,
                )
                text = _("The view “%(name)s” is saved.")
            elif self.current is None:
                raise Conflict(_("This view is not there any more."))
            elif act == "delete":
                service.delete_view(actor=user, view=self.current)
                messages.success(
                    self.opened.request, _("The view “%(name)s” is deleted.") % {"name": self.current.name}
                )
                return query
            elif act == "replace":
                view = service.change_view(actor=user, view=self.current, query=query)
                text = _("The view “%(name)s” now shows what you see.")
            else:
                view = service.change_view(actor=user, view=self.current, name=name)
                text = _("The view is called “%(name)s” now.")
        except (Invalid, Conflict) as error:
            self.problem = translated(error.message)
            return None
        messages.success(self.opened.request, text % {"name": view.name})
        return f"{query}&view={view.pk}"
