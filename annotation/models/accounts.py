"""People, their personal API tokens and the invitations that bring them in."""

from datetime import tzinfo
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.core.vocabulary import InvitationState, TokenScope


class People(UserManager["User"]):
    """Finds a person by their key, as every request of somebody who is signed in does, by a statement that is
    written once: composing it took longer than all the rest of it."""

    # it changes no table
    use_in_migrations = False

    def get(self, *args: Any, **kwargs: Any) -> "User":
        """One person. Raises User.DoesNotExist."""
        key = kwargs.get("pk")
        # the managers of relations are made of this class, and have conditions of their own
        if type(self) is not People or args or len(kwargs) != 1 or not isinstance(key, int):
            return super().get(*args, **kwargs)
        for person in self.raw(f"SELECT * FROM {self.model._meta.db_table} WHERE id = %s", [key]):
            return person
        raise self.model.DoesNotExist


class User(AbstractUser):
    """A person who can sign in.

    Ours from the first migration, so that it can grow without a swap. `time_zone` is an IANA name, empty for
    the server's own; `theme` is empty when the browser decides. `keymap` holds the workbench keys a person
    has changed: {action: key}; `mail_notices` says whether what they are told on their pages is mailed to
    them too, where there is a mail server. `admin_from_groups`: they administer the site because of groups
    of the organisation, as long as they are in them."""

    class Theme(models.TextChoices):
        SYSTEM = "", _("Follow the system")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    display_name = models.CharField(_("display name"), max_length=120, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)
    language = models.CharField(_("language"), max_length=16, blank=True)
    keymap = models.JSONField(_("keys"), default=dict, blank=True)
    theme = models.CharField(_("theme"), max_length=8, choices=Theme.choices, blank=True, default="")
    mail_notices = models.BooleanField(_("mail me notices"), default=True)
    admin_from_groups = models.BooleanField(default=False, editable=False)

    objects: ClassVar[People] = People()

    class Meta(AbstractUser.Meta):
        pass

    def __str__(self) -> str:
        return self.display_name or self.username

    @property
    def zone(self) -> tzinfo:
        """The time zone in which their days begin: their own, or the server's where this machine knows it
        not."""
        # not by the list of all zones: that reads some six hundred files
        try:
            return ZoneInfo(self.time_zone or settings.TIME_ZONE)
        except (KeyError, ValueError, OSError):
            return timezone.get_default_timezone()


class ApiToken(models.Model):
    """A personal token for the REST API; only its sha256 is stored, the token itself is shown once.

    `scope` says what it may be used for, within what its person may do.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=80)
    prefix = models.CharField(max_length=12, help_text=_("The first characters, to tell tokens apart."))
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    scope = models.CharField(
        max_length=8,
        choices=[(scope.value, scope.value) for scope in TokenScope],
        default=TokenScope.ADMIN.value,
    )

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(scope__in=[scope.value for scope in TokenScope]), name="apitoken_scope_known"
            ),
            models.CheckConstraint(
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
                name="apitoken_expires_after_creation",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class Invitation(models.Model):
    """A one-time link with which its bearer may become a member of a project; only the link's sha256 is
    stored.

    `email` and `name` are what the admin who invites calls the person: nothing looks for an account of
    theirs. An invitation ends when it is accepted, declined or revoked, or with its time.
    """

    project = models.ForeignKey("annotation.Project", on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(_("e-mail address"), blank=True)
    name = models.CharField(_("name"), max_length=120, blank=True)
    is_annotator = models.BooleanField(_("annotator"), default=False)
    is_adjudicator = models.BooleanField(_("adjudicator"), default=False)
    is_admin = models.BooleanField(_("admin"), default=False)
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    declined_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(is_annotator=True) | Q(is_adjudicator=True) | Q(is_admin=True),
                name="invitation_has_a_role",
            ),
        )

    def __str__(self) -> str:
        return f"invitation to {self.project_id}"

    @property
    def state(self) -> InvitationState:
        """The present state of the invitation."""
        answers = (
            (InvitationState.ACCEPTED, self.accepted_at),
            (InvitationState.DECLINED, self.declined_at),
            (InvitationState.WITHDRAWN, self.revoked_at),
            (InvitationState.EXPIRED, self.expires_at <= timezone.now()),
        )
        return next((state for state, so in answers if so), InvitationState.PENDING)
