"""Links by which people of a crowd service take places in a project (docs/crowd.md)."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.core.vocabulary import CrowdState

from ..projects import Project
from ..versioned import Versioned

MAX_PLACES = 10_000
MAX_PLACE_MINUTES = 30 * 24 * 60
MAX_PLACE_TRAJECTORIES = 1_000
MAX_OUTSIDE_ID = 100
MAX_CODE = 40


class CrowdLink(Versioned, models.Model):
    """A link for people of a crowd service: whoever opens it with an id gets one of its `places`.

    `taken` counts the places that are in use or completed, and is never more than there are: services take
    one by a guarded UPDATE. `id_parameter` is the name under which the service hands over the id;
    `trajectories` so many have to be submitted within `minutes`. Who has done so gets `completed_code`, who
    leaves or is screened out `screened_code`, and both a way back to `return_url`, in which {code} stands for
    the code. The token is stored as it is, since the service shows it to everybody.
    """

    EDITED = (
        *("name", "id_parameter", "places", "minutes", "trajectories"),
        *("completed_code", "screened_code", "return_url"),
    )

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="crowd_links")
    name = models.CharField(_("name"), max_length=80)
    token = models.CharField(max_length=64, unique=True)
    id_parameter = models.CharField(_("parameter of the id"), max_length=40, default="PROLIFIC_PID")
    places = models.PositiveIntegerField(_("places"))
    taken = models.PositiveIntegerField(default=0)
    minutes = models.PositiveIntegerField(_("minutes for each place"))
    trajectories = models.PositiveIntegerField(_("trajectories to submit"))
    completed_code = models.CharField(_("code for completed work"), max_length=MAX_CODE)
    screened_code = models.CharField(_("code for who is screened out or leaves"), max_length=MAX_CODE)
    return_url = models.CharField(_("address to go back to"), max_length=500, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(places__gte=1, places__lte=MAX_PLACES, taken__gte=0, taken__lte=F("places")),
                name="crowd_link_places_suffice",
            ),
            models.CheckConstraint(
                condition=Q(minutes__gte=1, minutes__lte=MAX_PLACE_MINUTES)
                & Q(trajectories__gte=1, trajectories__lte=MAX_PLACE_TRAJECTORIES),
                name="crowd_link_work_in_range",
            ),
            models.CheckConstraint(
                condition=~Q(completed_code="")
                & ~Q(screened_code="")
                & ~Q(completed_code=F("screened_code")),
                name="crowd_link_codes_differ",
            ),
        )

    def __str__(self) -> str:
        return self.name


class CrowdPlace(models.Model):
    """One person's place of a link, under the id of the service, which admins alone see.

    `code` is the one that they were given when it ended. A place that is active or completed counts in
    `CrowdLink.taken`; any other has gone back.
    """

    link = models.ForeignKey(CrowdLink, on_delete=models.CASCADE, related_name="taken_places", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="crowd_places")
    outside_id = models.CharField(max_length=MAX_OUTSIDE_ID)
    state = models.CharField(max_length=12, default=CrowdState.ACTIVE.value)
    code = models.CharField(max_length=MAX_CODE, blank=True)
    begun_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-begun_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("link", "outside_id"), name="crowd_place_once_an_id"),
            models.UniqueConstraint(fields=("link", "user"), name="crowd_place_once_a_person"),
            models.UniqueConstraint(
                fields=("user",), condition=Q(state=CrowdState.ACTIVE.value), name="crowd_place_active_once"
            ),
            models.CheckConstraint(
                condition=Q(state=CrowdState.ACTIVE.value, ended_at__isnull=True)
                | Q(
                    state__in=[state.value for state in CrowdState if state != CrowdState.ACTIVE],
                    ended_at__isnull=False,
                ),
                name="crowd_place_state_known",
            ),
        )
        indexes = (
            models.Index(
                fields=("expires_at",),
                condition=Q(state=CrowdState.ACTIVE.value),
                name="crowd_place_expires",
            ),
        )

    def __str__(self) -> str:
        return f"place {self.pk} of link {self.link_id}"

    @property
    def project_id(self) -> int:
        """The project of its link."""
        return self.link.project_id
