"""Oneself, and the people of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .nouns import Items, Noun, Pages, Part

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Token(Noun):
    """One token of one's own."""

    def delete(self) -> None:
        """Revoke a token."""
        self._delete()


class Tokens(Items[Token]):
    """One's own tokens."""

    _item = Token

    def list(self) -> Pages[m.Token]:
        """List my tokens."""
        return self._list()

    def create(self, **fields: Unpack[m.NewTokenRequest]) -> m.IssuedToken:
        """Create token."""
        return self._post("", fields)


class Me(Noun):
    """Oneself."""

    tokens = Part(Tokens, "tokens/")

    def get(self) -> m.Me:
        """Who am I?."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedMeChangeRequest]) -> m.Me:
        """Change my settings."""
        return self._patch("", fields)

    def answer_invitation(self, **fields: Unpack[m.InvitationAnswerRequest]) -> m.MyMembership | None:
        """Answer an invitation."""
        return self._post("invitations/", fields)

    def discussions(self) -> Pages[m.MyDiscussion]:
        """List my discussions."""
        return self._list("discussions/")

    def notices(self) -> Pages[m.Notice]:
        """List my notices."""
        return self._list("notices/")

    def see_notices(self, **fields: Unpack[m.SeenRequest]) -> m.SeenCount:
        """Mark notices as seen."""
        return self._post("notices/", fields)


class Member(Noun):
    """One member of a project."""

    def get(self) -> m.Member:
        """Look at a member."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedMemberChangeRequest]) -> m.Member:
        """Change a member's roles."""
        return self._patch("", fields)

    def delete(self) -> None:
        """Remove a member."""
        self._delete()

    def limits(self) -> m.Limits:
        """Look at a member's quotas and days away."""
        return self._get("limits/")

    def set_limits(self, **fields: Unpack[m.PatchedLimitsChangeRequest]) -> m.Limits:
        """Set a member's quotas and days away."""
        return self._patch("limits/", fields)

    def qualifications(self) -> m.Qualifications:
        """Look at a member's qualifications."""
        return self._get("qualifications/")

    def set_qualifications(self, **fields: Unpack[m.PatchedQualificationsChangeRequest]) -> m.Qualifications:
        """Note a member's qualifications."""
        return self._patch("qualifications/", fields)

    def pause(self) -> None:
        """Pause a member."""
        self._post("pause/")

    def resume(self) -> None:
        """Resume a member."""
        self._delete("pause/")

    def since_check(self) -> m.SinceCheck:
        """Preview what was labelled since the last good gold."""
        return self._get("look-again/")

    def look_again(self, **fields: Unpack[m.ExpectedRequest]) -> m.Queued:
        """Queue what was labelled since the last good gold."""
        return self._post("look-again/", fields)

    def skip_tutorial(self) -> m.Member:
        """Let a member skip the tutorial."""
        return self._post("skip-tutorial/")


class Members(Items[Member]):
    """The members of a project."""

    _item = Member

    def list(self) -> Pages[m.Member]:
        """List members."""
        return self._list()


class Invitation(Noun):
    """One invitation to a project."""

    def withdraw(self) -> None:
        """Revoke an invitation."""
        self._delete()

    def new_link(self) -> m.IssuedInvitation:
        """Make a new link."""
        return self._post("link/")


class Invitations(Items[Invitation]):
    """The invitations to a project."""

    _item = Invitation

    def list(self) -> Pages[m.Invitation]:
        """List invitations."""
        return self._list()

    def create(self, **fields: Unpack[m.NewInvitationRequest]) -> m.IssuedInvitation:
        """Invite somebody."""
        return self._post("", fields)


class CrowdLink(Noun):
    """One link for people of a crowd service."""

    def get(self) -> m.CrowdLink:
        """Look at a crowd link."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedCrowdLinkChangeRequest]) -> m.CrowdLink:
        """Change a crowd link."""
        return self._patch("", fields)

    def places(self) -> Pages[m.CrowdPlace]:
        """List the places of a crowd link."""
        return self._list("places/")


class CrowdLinks(Items[CrowdLink]):
    """The links for people of a crowd service."""

    _item = CrowdLink

    def list(self) -> Pages[m.CrowdLink]:
        """List crowd links."""
        return self._list()

    def create(self, **fields: Unpack[m.NewCrowdLinkRequest]) -> m.CrowdLink:
        """Make a crowd link."""
        return self._post("", fields)


class CrowdPlace(Noun):
    """The place that one has by a crowd link."""

    def get(self) -> m.OwnPlace:
        """Look at my place of a crowd link."""
        return self._get()

    def leave(self, **fields: Unpack[m.LeavePlaceRequest]) -> m.OwnPlace:
        """Leave my place."""
        return self._post("", fields)


class CrowdPlaces(Items[CrowdPlace]):
    """Places of crowd links, by id."""

    _item = CrowdPlace
