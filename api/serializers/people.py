"""Oneself, tokens, members, invitations and crowd links."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation import models
from annotation.core.vocabulary import CrowdState, Degree, InvitationState, TokenScope
from annotation.models import MAX_YEARS, User
from annotation.models.people.crowd import (
    MAX_CODE,
    MAX_PLACE_MINUTES,
    MAX_PLACE_TRAJECTORIES,
    MAX_PLACES,
)
from annotation.services import projects
from annotation.services.accounts import MAX_TOKEN_DAYS
from annotation.services.projects.invitations import MAX_NAME
from annotation.services.shares.limits import MOST

from .base import Input, Output, Roles, StoredText, Version, Whole, words


class Person(Output):
    """A person as others see them."""

    username = serializers.CharField()
    display_name = serializers.CharField()


class MyMembership(Output):
    """One of one's own memberships."""

    project = serializers.CharField(source="project.slug")
    name = serializers.CharField(source="project.name")
    roles = Roles()


class Me(Output):
    """The signed-in person."""

    username = serializers.CharField()
    display_name = serializers.CharField()
    email = serializers.CharField()
    time_zone = serializers.CharField()
    language = serializers.CharField()
    theme = serializers.CharField()
    mail_notices = serializers.BooleanField()
    is_superuser = serializers.BooleanField()
    memberships = MyMembership(many=True)


class MeChange(Input):
    """One's own settings; what is left out stays."""

    display_name = serializers.CharField(required=False, allow_blank=True, max_length=120)
    email = serializers.EmailField(required=False, allow_blank=True, max_length=254)
    time_zone = serializers.CharField(
        required=False, allow_blank=True, max_length=64, help_text="An IANA name; empty: the server's own."
    )
    language = serializers.CharField(required=False, allow_blank=True, max_length=16)
    theme = serializers.ChoiceField(
        required=False, allow_blank=True, choices=[value for value in User.Theme.values if value]
    )
    mail_notices = serializers.BooleanField(
        required=False, help_text="Whether notices are mailed too, where there is a mail server."
    )


class Token(Output):
    """A personal token; the secret itself is never shown again."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="The first characters, to tell tokens apart.")
    scope = serializers.ChoiceField(choices=words(TokenScope))
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewToken(Input):
    """The purpose of a token, and its days of validity."""

    name = serializers.CharField(max_length=80)
    days = Whole(min_value=1, max_value=MAX_TOKEN_DAYS, required=False, default=90)
    scope = serializers.ChoiceField(
        choices=words(TokenScope),
        required=False,
        default=TokenScope.ADMIN.value,
        help_text="`read`: only reading. `label`: labelling, discussing and deciding cases too. `admin`: "
        "everything that its person may do.",
    )


class IssuedToken(Token):
    """A token just made: the only answer that contains the secret."""

    token = serializers.CharField()


class Member(Output):
    """A person's part in a project."""

    id = serializers.IntegerField()
    user = Person()
    roles = Roles()
    version = serializers.CharField(help_text="Names the roles as they are.")
    tutorial_done_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when the tutorial is behind them; null: it is not."
    )
    tutorial_skipped = serializers.BooleanField(help_text="Whether an admin has let them skip it.")
    created_at = serializers.DateTimeField()


class MemberChange(Input):
    """The roles from now on."""

    roles = Roles()
    version = Version()


DEGREE_HELP = "The highest one; empty: not noted."
LANGUAGES_HELP = "With commas."
PAY_HELP = "Takes the place of the project's `pay_rate`; null: that one holds."


class Qualifications(Output):
    """The notes of admins on a member; empty or null: nothing."""

    degree = serializers.CharField(help_text=DEGREE_HELP)
    field = StoredText()
    years = serializers.IntegerField(allow_null=True)
    languages = StoredText(help_text=LANGUAGES_HELP)
    pay_rate = serializers.DecimalField(max_digits=10, decimal_places=2, allow_null=True, help_text=PAY_HELP)
    version = serializers.CharField(help_text="Names the qualifications as they are.")


class QualificationsChange(Input):
    """Changes to the notes; what is left out stays."""

    degree = serializers.ChoiceField(
        choices=words(Degree), required=False, allow_blank=True, help_text=DEGREE_HELP
    )
    field = serializers.CharField(max_length=80, required=False, allow_blank=True)
    years = Whole(min_value=0, max_value=MAX_YEARS, required=False, allow_null=True)
    languages = serializers.CharField(
        max_length=200, required=False, allow_blank=True, help_text=LANGUAGES_HELP
    )
    pay_rate = serializers.DecimalField(
        max_digits=10, decimal_places=2, min_value=0, required=False, allow_null=True, help_text=PAY_HELP
    )
    version = Version()


class Quota(Output):
    """The most trajectories of a subset that a member may have."""

    subset = serializers.CharField(source="subset.name")
    most = serializers.IntegerField()


class NewQuota(Input):
    """A quota; null: any number."""

    subset = serializers.CharField(max_length=64)
    most = Whole(min_value=0, max_value=MOST, allow_null=True)


class DaysAway(Output):
    """Days on which a member is away, both included."""

    first = serializers.DateField()
    last = serializers.DateField()


class NewDaysAway(Input):
    """Days on which a member is to be away, both included."""

    first = serializers.DateField()
    last = serializers.DateField()


class Limits(Output):
    """The quotas of a member, and their days away."""

    quotas = Quota(many=True)
    days_away = DaysAway(many=True)
    version = serializers.CharField(help_text="Names the quotas and days away as they are.")


class LimitsChange(Input):
    """Changes to the limits; what is left out stays. Days away stand in place of all those so far."""

    quotas = NewQuota(many=True, required=False)
    days_away = NewDaysAway(many=True, required=False)
    version = Version()


class Invitation(Output):
    """A one-time link with which its bearer may become a member. `email` and `name` are the inviter's
    words."""

    id = serializers.IntegerField()
    email = serializers.CharField()
    name = StoredText()
    state = serializers.ChoiceField(choices=words(InvitationState))
    roles = Roles()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    accepted_at = serializers.DateTimeField(allow_null=True)
    declined_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewInvitation(Input):
    """Whom to invite, and as what. Address and name are optional: the link can be handed over in any way. No
    account is looked for."""

    email = serializers.EmailField(required=False, allow_blank=True, default="", max_length=254)
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NAME)
    roles = Roles()


class InvitationAnswer(Input):
    """The last part of an invitation's link, and what one says to it."""

    token = serializers.CharField(max_length=200)
    answer = serializers.ChoiceField(choices=["accept", "decline"])


class IssuedInvitation(Invitation):
    """An invitation just made: the only answer that contains its link."""

    url = serializers.CharField(
        help_text=_("The page on which the invitation is accepted; it is not shown again.")
    )


# ── Crowd links ───────────────────────────
class CrowdLink(Output):
    """A link by which people of a crowd service take places."""

    id = serializers.IntegerField()
    name = StoredText()
    url = serializers.SerializerMethodField(help_text="Of the study; the service adds the id to it.")
    id_parameter = serializers.CharField(help_text="The parameter of the address that holds the id.")
    places = serializers.IntegerField()
    taken = serializers.IntegerField(help_text="Places in use or completed.")
    trajectories = serializers.IntegerField(help_text="So many are to be submitted at each place.")
    minutes = serializers.IntegerField(help_text="The time of each place.")
    completed_code = serializers.CharField()
    screened_code = serializers.CharField()
    return_url = serializers.CharField()
    closed = serializers.SerializerMethodField()
    version = serializers.CharField(help_text="Names the link as it is.")
    created_at = serializers.DateTimeField()

    def get_url(self, link: models.CrowdLink) -> str:
        """The address of the study, without the id."""
        path = reverse("frontend:crowd-arrival", args=[link.token])
        request = self.context.get("request")
        return str(request.build_absolute_uri(path)) if request else path

    def get_closed(self, link: models.CrowdLink) -> bool:
        """Whether nobody new can begin."""
        return link.closed_at is not None


class NewCrowdLink(Input):
    """A link to be made."""

    name = serializers.CharField(max_length=80)
    id_parameter = serializers.CharField(max_length=40, required=False, default="PROLIFIC_PID")
    places = Whole(min_value=1, max_value=MAX_PLACES)
    trajectories = Whole(min_value=1, max_value=MAX_PLACE_TRAJECTORIES)
    minutes = Whole(min_value=1, max_value=MAX_PLACE_MINUTES)
    completed_code = serializers.CharField(max_length=MAX_CODE)
    screened_code = serializers.CharField(max_length=MAX_CODE, help_text="For who is screened out or leaves.")
    return_url = serializers.CharField(
        max_length=500,
        required=False,
        default="",
        allow_blank=True,
        help_text="Of https; {code} stands for the code.",
    )


class CrowdLinkChange(Input):
    """Changes to a link; what is left out stays."""

    name = serializers.CharField(max_length=80, required=False)
    id_parameter = serializers.CharField(max_length=40, required=False)
    places = Whole(min_value=1, max_value=MAX_PLACES, required=False)
    trajectories = Whole(min_value=1, max_value=MAX_PLACE_TRAJECTORIES, required=False)
    minutes = Whole(min_value=1, max_value=MAX_PLACE_MINUTES, required=False)
    completed_code = serializers.CharField(max_length=MAX_CODE, required=False)
    screened_code = serializers.CharField(max_length=MAX_CODE, required=False)
    return_url = serializers.CharField(max_length=500, required=False, allow_blank=True)
    closed = serializers.BooleanField(required=False, help_text="True: nobody new can begin.")
    version = Version()


class CrowdPlace(Output):
    """Somebody's place of a link, for admins."""

    id = serializers.IntegerField()
    participant = serializers.CharField(source="outside_id", help_text="The id of the service.")
    username = serializers.CharField(source="user.username")
    state = serializers.ChoiceField(choices=words(CrowdState))
    submitted = serializers.IntegerField(source="done")
    active_ms = serializers.IntegerField(help_text="Time at work, idle time left out.")
    code = serializers.CharField()
    begun_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class OwnPlace(Output):
    """One's own place; the id stands in no answer."""

    id = serializers.IntegerField(source="place.pk")
    state = serializers.ChoiceField(source="place.state", choices=words(CrowdState))
    submitted = serializers.IntegerField(source="done")
    trajectories = serializers.IntegerField(source="wanted")
    expires_at = serializers.DateTimeField()
    code = serializers.CharField(source="place.code")
    return_url = serializers.SerializerMethodField()

    @extend_schema_field(serializers.CharField())
    def get_return_url(self, progress: object) -> str:
        """The way back to the service, with the code; empty before the place has ended."""
        place: models.CrowdPlace = progress.place  # type: ignore[attr-defined]
        return projects.way_back(place)


class LeavePlace(Input):
    """The way out of one's place."""

    act = serializers.ChoiceField(choices=("finish", "return"))
