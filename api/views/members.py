"""Members, invitations and links for people of a crowd service."""

from __future__ import annotations

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import CrowdLink, CrowdPlace, Invitation, Membership, Qualification, Subset
from annotation.policies import require, visible
from annotation.reports.work.crowd import crowd_links, crowd_places, progress_of
from annotation.services import projects, training
from annotation.services.shares.limits import noted, set_limits

from ..serializers import people as shapes
from .base import ProjectView, View, fetch, only_row


class Members(ProjectView):
    """`/projects/<slug>/members/`"""

    noun = "members"

    @extend_schema(summary="List members", responses=shapes.Member(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The members of a project, for its admins; everybody else finds only themselves."""
        rows = Membership.objects.filter(project=self.project()).select_related("user")
        return self.page(visible(self.user, rows).order_by("user__username"), shapes.Member)


class Member(ProjectView):
    """`/projects/<slug>/members/<id>/`"""

    noun = "members"

    def _found(self, pk: int) -> Membership:
        rows = Membership.objects.filter(project=self.project()).select_related("user", "project")
        return fetch(self.user, rows, pk=pk)

    @extend_schema(summary="Look at a member", responses=shapes.Member)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One member."""
        return Response(shapes.Member(self._found(pk)).data)

    @extend_schema(summary="Change a member's roles", request=shapes.MemberChange, responses=shapes.Member)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Set the roles. For admins. The last admin cannot lose the role (409)."""
        member = self._found(pk)
        changed = projects.set_roles(actor=self.user, membership=member, **self.parsed(shapes.MemberChange))
        return Response(shapes.Member(changed).data)

    @extend_schema(summary="Remove a member", request=None, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """End a membership; what the person labelled stays. For admins. The last admin cannot go (409)."""
        projects.remove_member(actor=self.user, membership=self._found(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Qualifications(ProjectView):
    """`/projects/<slug>/members/<id>/qualifications/`"""

    noun = "members"

    def _found(self, pk: int) -> Membership:
        project = self.project()
        require(self.user, "members.change", project)
        rows = Membership.objects.filter(project=project).select_related("user", "project", "qualification")
        return fetch(self.user, rows, pk=pk)

    @extend_schema(summary="Look at a member's qualifications", responses=shapes.Qualifications)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Degree, its field, years of work in it, and languages, as admins noted them. For admins."""
        member = self._found(pk)
        noted = getattr(member, "qualification", None) or Qualification(membership=member)
        return Response(shapes.Qualifications(noted).data)

    @extend_schema(
        summary="Note a member's qualifications",
        request=shapes.QualificationsChange,
        responses=shapes.Qualifications,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change them; what is left out stays. A release counts them among its annotators, and names nobody.
        For admins."""
        values = self.parsed(shapes.QualificationsChange)
        version = values.pop("version", None)
        noted = projects.set_qualifications(
            actor=self.user, membership=self._found(pk), values=values, version=version
        )
        return Response(shapes.Qualifications(noted).data)


class Limits(ProjectView):
    """`/projects/<slug>/members/<id>/limits/`"""

    noun = "members"

    def _found(self, pk: int) -> Membership:
        project = self.project()
        require(self.user, "members.change", project)
        rows = Membership.objects.filter(project=project).select_related("user", "project")
        return fetch(self.user, rows, pk=pk)

    def _said(self, member: Membership) -> Response:
        rows = {
            "quotas": member.quotas.select_related("subset"),
            "days_away": member.days_away.all(),
            "version": noted(member).version,
        }
        return Response(shapes.Limits(rows).data)

    @extend_schema(summary="Look at a member's quotas and days away", responses=shapes.Limits)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The quotas of a member in each subset, and their days away. For admins."""
        return self._said(self._found(pk))

    @extend_schema(
        summary="Set a member's quotas and days away", request=shapes.LimitsChange, responses=shapes.Limits
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Set quotas (`most` null: any number; other subsets stay as they are) and all days away. For
        admins."""
        member = self._found(pk)
        values = self.parsed(shapes.LimitsChange)
        subsets = visible(self.user, Subset.objects.filter(project=member.project))
        away = values.get("days_away")
        set_limits(
            actor=self.user,
            membership=member,
            quotas={
                only_row(subsets.filter(name=one["subset"])): one["most"] for one in values.get("quotas", ())
            },
            days_away=None if away is None else [(one["first"], one["last"]) for one in away],
            version=values.get("version"),
        )
        return self._said(member)


class SkipTutorial(ProjectView):
    """`/projects/<slug>/members/<id>/skip-tutorial/`"""

    noun = "members"

    @extend_schema(summary="Let a member skip the tutorial", request=None, responses=shapes.Member)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The queue opens to them without it. For admins; it is audited, and repeating it changes nothing.
        409 for somebody who does not annotate."""
        rows = Membership.objects.filter(project=self.project()).select_related("user", "project")
        member = fetch(self.user, rows, pk=pk)
        training.skip_tutorial(actor=self.user, membership=member)
        member.refresh_from_db()
        return Response(shapes.Member(member).data)


class Invitations(ProjectView):
    """`/projects/<slug>/invitations/`"""

    noun = "invitations"

    @extend_schema(summary="List invitations", responses=shapes.Invitation(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """All invitations of a project, answered and revoked ones included. For admins."""
        project = self.project()
        require(self.user, "members.change", project)
        rows = Invitation.objects.filter(project=project).order_by("-created_at", "-pk")
        return self.page(visible(self.user, rows), shapes.Invitation)

    @extend_schema(
        summary="Invite somebody", request=shapes.NewInvitation, responses={201: shapes.IssuedInvitation}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make a one-time link: whoever holds it accepts or declines (`/me/invitations/`, or the page). The
        answer is the only place where the link is ever shown, and the same whoever has an account. For
        admins.
        """
        project = self.project()
        invitation, secret = projects.invite(
            actor=self.user, project=project, **self.parsed(shapes.NewInvitation)
        )
        return _issued(request, invitation, secret)


def _issued(request: Request, invitation: Invitation, secret: str) -> Response:
    url = request.build_absolute_uri(reverse("frontend:invitation", args=[secret]))
    data = {**shapes.Invitation(invitation).data, "url": url}
    return Response(data, status=status.HTTP_201_CREATED)


class OneInvitation(ProjectView):
    """`/projects/<slug>/invitations/<id>/`"""

    noun = "invitations"

    @extend_schema(summary="Revoke an invitation", request=None, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Make an unused link invalid; repeating it changes nothing. For admins."""
        rows = Invitation.objects.filter(project=self.project()).select_related("project")
        projects.revoke_invitation(actor=self.user, invitation=fetch(self.user, rows, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class NewLink(ProjectView):
    """`/projects/<slug>/invitations/<id>/link/`"""

    noun = "invitations"

    @extend_schema(summary="Make a new link", request=None, responses={201: shapes.IssuedInvitation})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Make a new link for an invitation that is pending or expired; the old one ends. For admins.
        409 when it has been answered or revoked."""
        rows = Invitation.objects.filter(project=self.project()).select_related("project")
        invitation = fetch(self.user, rows, pk=pk)
        return _issued(request, *projects.renew_invitation(actor=self.user, invitation=invitation))


# ── Crowd links ───────────────────────────
class CrowdLinks(ProjectView):
    """`/projects/<slug>/crowd-links/`"""

    noun = "crowd links"

    @extend_schema(summary="List crowd links", responses=shapes.CrowdLink(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The links of a project, the newest first. For admins."""
        rows = crowd_links(actor=self.user, project=self.project())
        return self.page(rows, shapes.CrowdLink)

    @extend_schema(
        summary="Make a crowd link", request=shapes.NewCrowdLink, responses={201: shapes.CrowdLink}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make a link by which people of Prolific or a like service take places. For admins."""
        values = self.parsed(shapes.NewCrowdLink)
        link = projects.create_crowd_link(actor=self.user, project=self.project(), values=values)
        answer = shapes.CrowdLink(link, context={"request": request})
        return Response(answer.data, status=status.HTTP_201_CREATED)


class OneCrowdLink(ProjectView):
    """`/projects/<slug>/crowd-links/<id>/`"""

    noun = "crowd links"

    def _found(self, pk: int) -> CrowdLink:
        project = self.project()
        require(self.user, "members.change", project)
        return fetch(self.user, CrowdLink.objects.filter(project=project).select_related("project"), pk=pk)

    @extend_schema(summary="Look at a crowd link", responses=shapes.CrowdLink)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One link. For admins."""
        return Response(shapes.CrowdLink(self._found(pk), context={"request": request}).data)

    @extend_schema(summary="Change a crowd link", request=shapes.CrowdLinkChange, responses=shapes.CrowdLink)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change a link, or close it to whoever has no place yet. Places in use keep their time. For
        admins."""
        link, values = self._found(pk), self.parsed(shapes.CrowdLinkChange)
        closed, version = values.pop("closed", None), values.pop("version", None)
        if values:
            link = projects.change_crowd_link(actor=self.user, link=link, values=values, version=version)
        if closed is not None:
            link = projects.close_crowd_link(actor=self.user, link=link, closed=closed)
        return Response(shapes.CrowdLink(link, context={"request": request}).data)


class CrowdPlaces(OneCrowdLink):
    """`/projects/<slug>/crowd-links/<id>/places/`"""

    http_method_names = ["get", "head", "options"]

    @extend_schema(summary="List the places of a crowd link", responses=shapes.CrowdPlace(many=True))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The people who have come, with the ids of the service, what they submitted and their codes. For
        admins."""
        rows = crowd_places(actor=self.user, link=self._found(pk))
        return self.page(rows.order_by("-begun_at", "-pk"), shapes.CrowdPlace)


class OwnCrowdPlace(View):
    """`/crowd-places/<id>/`"""

    noun = "crowd links"

    def _found(self, pk: int) -> CrowdPlace:
        rows = CrowdPlace.objects.filter(user=self.user).select_related("link__project", "user")
        return fetch(self.user, rows, pk=pk)

    @extend_schema(summary="Look at my place of a crowd link", responses=shapes.OwnPlace)
    def get(self, request: Request, pk: int) -> Response:
        """One's own progress; when it has ended, the code and the way back to the service."""
        return Response(shapes.OwnPlace(progress_of(self._found(pk))).data)

    @extend_schema(summary="Leave my place", request=shapes.LeavePlace, responses=shapes.OwnPlace)
    def post(self, request: Request, pk: int) -> Response:
        """Finish it, or return it to others. 409 `not_enough` when too little is submitted."""
        leave = projects.finish_place
        if self.parsed(shapes.LeavePlace)["act"] == "return":
            leave = projects.return_place
        place = leave(actor=self.user, place=self._found(pk))
        return Response(shapes.OwnPlace(progress_of(place)).data)
