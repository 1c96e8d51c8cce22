"""The secrets of second factors, and how they are kept."""

from __future__ import annotations

import base64
import hashlib

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.translation import gettext_lazy as _


def _fernet() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    derived = [hashlib.sha256(f"tristep.second-factor:{key}".encode()).digest() for key in keys]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])


class SecondFactorAdapter(DefaultMFAAdapter):
    """The database and its backups hold secrets only under the server's secret key."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _("This did not fit, or has been used before. Please try again."),
    }

    def encrypt(self, text: str) -> str:
        """Under the secret key."""
        return _fernet().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """As it was; with another secret key, nothing fits it."""
        try:
            return _fernet().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return ""
