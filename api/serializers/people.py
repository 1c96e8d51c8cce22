"""Oneself, tokens, members and invitations."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from annotation.core.vocabulary import Degree, InvitationState, TokenScope
from annotation.models import MAX_YEARS, User
from annotation.services.accounts import MAX_TOKEN_DAYS
from annotation.services.projects.invitations import MAX_NAME

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
    created_at = serializers.DateTimeField()


class MemberChange(Input):
    """The roles from now on."""

    roles = Roles()
    version = Version()


DEGREE_HELP = "The highest one; empty: not noted."
LANGUAGES_HELP = "With commas."


class Qualifications(Output):
    """What admins note of a member; empty or null: nothing."""

    degree = serializers.CharField(help_text=DEGREE_HELP)
    field = StoredText()
    years = serializers.IntegerField(allow_null=True)
    languages = StoredText(help_text=LANGUAGES_HELP)
    version = serializers.CharField(help_text="Names the qualifications as they are.")


class QualificationsChange(Input):
    """What is to be noted; what is left out stays."""

    degree = serializers.ChoiceField(
        choices=words(Degree), required=False, allow_blank=True, help_text=DEGREE_HELP
    )
    field = serializers.CharField(max_length=80, required=False, allow_blank=True)
    years = Whole(min_value=0, max_value=MAX_YEARS, required=False, allow_null=True)
    languages = serializers.CharField(
        max_length=200, required=False, allow_blank=True, help_text=LANGUAGES_HELP
    )
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
