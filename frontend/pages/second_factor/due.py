"""People who need a second factor and have none."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from annotation.models import User
from annotation.services.sign_in import second_factor
from frontend.pages.second_factor.stage import DUE, through_organisation


def note(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    """Write into a new session that a second factor is due. Whoever comes through the organisation is its
    concern."""
    if not settings.SECOND_FACTOR_ADMINS or through_organisation(request):
        return
    if second_factor.is_required(user) and not second_factor.factors(user):
        request.session[DUE] = True
