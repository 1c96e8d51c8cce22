"""The secrets that sign what webhooks get. None is stored.

A secret is derived from the instance's secret key and the webhook's seed, as `salted_hmac` does: a copy of
the database signs nothing. While earlier secret keys are listed (TRISTEP_OLD_SECRET_KEYS), what they give
signs too, so that a change of the key breaks no receiver at once.
"""

import base64
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.crypto import salted_hmac

from annotation.models import Webhook

SALT = "annotation.services.webhooks"
PREFIX = "whsec_"
OVERLAP = timedelta(hours=24)
"""So long the secret before signs beside a new one."""


def new_seed() -> str:
    """A seed that no webhook has."""
    return secrets.token_hex(16)


def secret_of(seed: str, key: str | None = None) -> str:
    """The secret of a seed, as its receiver is given it: 256 bits, by HMAC-SHA256."""
    digest = salted_hmac(SALT, seed, secret=key, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(digest).decode()


def valid_secrets(webhook: Webhook, now: datetime) -> list[str]:
    """The secrets that sign at a moment, the newest first."""
    seeds = [webhook.seed]
    if webhook.old_until is not None and now < webhook.old_until:
        seeds.append(webhook.old_seed)
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [secret_of(seed, key) for seed in seeds for key in keys]
