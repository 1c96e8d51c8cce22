"""Django's own admin: accounts can be changed there; everything else is there to be looked at.

What changes anything else goes through services, which ask permission and write the audit log. Rows come
through policies.visible here too, so that a superuser who labels a trajectory stays blind to it in this place
as well.
"""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from annotation import models
from annotation.policies import visible


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
    """Rows to look at: none can be added, changed or deleted here."""

    show_full_result_count = False
    list_per_page = 50

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


@admin.register(models.Membership)
class MembershipAdmin(LookOnly):
    list_display = ("project", "user", "is_annotator", "is_adjudicator", "is_admin")
    list_select_related = ("project", "user")


@admin.register(models.ImportFile)
class ImportFileAdmin(LookOnly):
    list_display = ("filename", "project", "subset", "state", "created_count", "error_count", "created_at")
    list_select_related = ("project", "subset")


@admin.register(models.Assignment)
class AssignmentAdmin(LookOnly):
    list_display = ("id", "project", "trajectory", "annotator", "slot", "state", "claimed_at", "submitted_at")
    list_select_related = ("project", "trajectory", "annotator")


@admin.register(models.Label)
class LabelAdmin(LookOnly):
    list_display = ("id", "assignment", "step", "value", "source", "version", "updated_at")
    list_select_related = ("assignment", "step")


@admin.register(models.OutcomeLabel)
class OutcomeLabelAdmin(LookOnly):
    list_display = ("id", "assignment", "value", "version", "updated_at")
    list_select_related = ("assignment",)


@admin.register(models.Consensus)
class ConsensusAdmin(LookOnly):
    list_display = ("id", "trajectory", "step", "value", "kind", "created_at")
    list_select_related = ("trajectory", "step")


@admin.register(models.Adjudication)
class AdjudicationAdmin(LookOnly):
    list_display = ("id", "project", "trajectory", "adjudicator", "state", "opened_at", "decided_at")
    list_select_related = ("project", "trajectory", "adjudicator")


@admin.register(models.Release)
class ReleaseAdmin(LookOnly):
    list_display = ("version", "project", "record_count", "label_count", "digest", "created_at")
    list_select_related = ("project",)


@admin.register(models.AuditEvent)
class AuditEventAdmin(LookOnly):
    list_display = ("created_at", "actor", "project", "verb", "object_type", "object_id")
    list_select_related = ("actor", "project")
    list_filter = ("verb",)
