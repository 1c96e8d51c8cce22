"""Oneself, and one's personal tokens."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import ApiToken, Membership, User
from annotation.policies import visible
from annotation.services import accounts, projects

from ..serializers import people as shapes
from .base import View, fetch


class Me(View):
    """`/me/`"""

    noun = "me"

    def _person(self, user: User) -> Response:
        memberships = visible(user, Membership.objects.filter(user=user)).select_related("project")
        row = {**{name: getattr(user, name) for name in ("is_superuser", "username")}}
        row |= {name: getattr(user, name) for name in accounts.PROFILE_FIELDS}
        return Response(shapes.Me({**row, "memberships": memberships.order_by("project__name")}).data)

    @extend_schema(summary="Who am I?", responses=shapes.Me)
    def get(self, request: Request) -> Response:
        """The signed-in person, with the projects they are a member of."""
        return self._person(self.user)

    @extend_schema(summary="Change my settings", request=shapes.MeChange, responses=shapes.Me)
    def patch(self, request: Request) -> Response:
        """Change one's own settings; what is left out stays."""
        return self._person(
            accounts.update_profile(actor=self.user, user=self.user, values=self.parsed(shapes.MeChange))
        )


class Tokens(View):
    """`/me/tokens/`"""

    noun = "me"

    @extend_schema(summary="List my tokens", responses=shapes.Token(many=True))
    def get(self, request: Request) -> Response:
        """One's personal tokens, revoked ones included, the newest first. Nobody sees anybody else's."""
        return self.page(visible(self.user, ApiToken.objects.order_by("-created_at", "-pk")), shapes.Token)

    @extend_schema(summary="Create token", request=shapes.NewToken, responses={201: shapes.IssuedToken})
    def post(self, request: Request) -> Response:
        """Make a personal token. The answer is the only place where the secret is ever shown."""
        token, secret = accounts.issue_token(actor=self.user, user=self.user, **self.parsed(shapes.NewToken))
        token_ = {**shapes.Token(token).data, "token": secret}
        return Response(token_, status=status.HTTP_201_CREATED)


class Token(View):
    """`/me/tokens/<id>/`"""

    noun = "me"

    @extend_schema(summary="Revoke a token", request=None, responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """End a token at once; repeating it changes nothing."""
        token: Any = fetch(self.user, ApiToken.objects.select_related("user"), pk=pk)
        accounts.revoke_token(actor=self.user, token=token)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MyInvitations(View):
    """`/me/invitations/`"""

    noun = "me"

    @extend_schema(
        summary="Answer an invitation",
        request=shapes.InvitationAnswer,
        responses={200: shapes.MyMembership, 204: None},
    )
    def post(self, request: Request) -> Response:
        """Accept an invitation, whose roles are added to those one holds, or decline it (204). The link ends
        with the answer; who declines is told to nobody."""
        body = self.parsed(shapes.InvitationAnswer)
        if body["answer"] == "decline":
            projects.decline_invitation(secret=body["token"])
            return Response(status=status.HTTP_204_NO_CONTENT)
        _user, membership = projects.accept_invitation(secret=body["token"], user=self.user)
        return Response(shapes.MyMembership(membership).data)
