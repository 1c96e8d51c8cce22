"""Django's own admin: accounts can be changed there; projects, memberships, jobs and the audit log are there
to be looked at.

Nothing that anybody or any judge has said of a trajectory is here at all: neither labels, outcomes, decisions
and notes, nor suggestions, raw answers, consensus and releases. Our own pages show those to whoever may see
them, and note it (services/noted_reads.py). What changes anything but accounts goes through services, which
ask permission and write the audit log; rows come through policies.visible here too.
"""

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from annotation import models
from annotation.policies import visible

# Whoever changed a row of allauth here could sign in as anybody.
for _app in ("account", "socialaccount", "mfa"):
    for _model in apps.get_app_config(_app).get_models():
        if admin.site.is_registered(_model):
            admin.site.unregister(_model)


@admin.register(models.User)
class PeopleAdmin(UserAdmin):
    """Accounts; they are closed, not deleted, for their labels stay theirs. Closing one ends its open work,
    so the people page does it and not this one."""

    list_display = ("username", "display_name", "email", "is_superuser", "is_active", "last_login")
    list_filter = ("is_superuser", "is_active")
    readonly_fields = ("is_active",)
    fieldsets = (
        *(UserAdmin.fieldsets or ()),
        ("Tristep", {"fields": ("display_name", "time_zone", "language", "theme")}),
    )

    def has_delete_permission(self, request: HttpRequest, obj: models.User | None = None) -> bool:
        return False


class LookOnly(admin.ModelAdmin):
    """Rows to look at: none can be added, changed or deleted here. Each class names the fields it shows, so
    that a new field is not shown by itself."""

    show_full_result_count = False
    list_per_page = 50

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Filter by what is listed as a filter, and by nothing that a relation leads to."""
        return lookup.split("__")[0] in self.list_filter

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        rows = super().get_queryset(request)
        return visible(request.user, rows)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(models.Project)
class ProjectAdmin(LookOnly):
    list_display = ("slug", "name", "annotators_per_trajectory", "suggestion_policy", "created_at")
    fields = (*list_display, "description", "created_by")


@admin.register(models.Membership)
class MembershipAdmin(LookOnly):
    list_display = ("project", "user", "is_annotator", "is_adjudicator", "is_admin")
    list_select_related = ("project", "user")
    fields = (*list_display, "created_at")


@admin.register(models.ImportFile)
class ImportFileAdmin(LookOnly):
    list_display = ("filename", "project", "subset", "state", "created_count", "error_count", "created_at")
    list_select_related = ("project", "subset")
    fields = list_display


@admin.register(models.Freeze)
class FreezeAdmin(LookOnly):
    list_display = ("version", "project", "state", "progress_done", "progress_total", "created_at")
    list_select_related = ("project",)
    fields = (*list_display, "attempt", "error", "finished_at")


@admin.register(models.PromptSet)
class PromptSetAdmin(LookOnly):
    list_display = ("name", "release", "state", "progress_done", "progress_total", "created_at")
    list_select_related = ("release",)
    fields = (*list_display, "options", "counts", "digest", "attempt", "error", "finished_at")


@admin.register(models.SuggestionRun)
class SuggestionRunAdmin(LookOnly):
    list_display = ("id", "project", "judge", "state", "progress_done", "progress_failed", "created_at")
    list_select_related = ("project", "judge")
    fields = (*list_display, "progress_total", "calls", "cost", "started_at", "finished_at")


@admin.register(models.AuditEvent)
class AuditEventAdmin(LookOnly):
    list_display = ("created_at", "actor", "project", "verb", "object_type", "object_id")
    list_select_related = ("actor", "project")
    list_filter = ("verb",)
    fields = (*list_display, "detail")
