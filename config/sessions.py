"""Sessions in the database, as Django keeps them, read by a statement that is written once."""

from __future__ import annotations

from typing import Final

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.utils import timezone

READ: Final = "SELECT session_key, session_data, expire_date FROM django_session WHERE session_key = %s"


class SessionStore(DatabaseStore):
    """Every request of somebody who is signed in reads one; composing the query takes longer than asking."""

    def _get_session_from_db(self) -> Session | None:
        for session in Session.objects.raw(READ, [self.session_key]):
            if session.expire_date > timezone.now():
                return session
        self._session_key = None
        return None
