"""Mail that pages send, when there is a mail server."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from annotation.models import Invitation

log = logging.getLogger(__name__)


def send_invitation(invitation: Invitation, link: str) -> bool:
    """Send the link of an invitation; False when it could not be sent (the page then shows the link)."""
    if not (settings.MAIL_ENABLED and invitation.email):
        return False
    body = render_to_string("frontend/mail/invitation.txt", {"invitation": invitation, "link": link})
    subject = _("Invitation to %(project)s on Tristep") % {"project": invitation.project.name}
    try:
        send_mail(" ".join(subject.split()), body, None, [invitation.email])
    except (SMTPException, OSError):
        log.warning("an invitation could not be mailed", exc_info=True)
        return False
    return True
