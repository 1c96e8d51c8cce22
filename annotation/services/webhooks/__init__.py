"""Webhooks: note events where they happen, deliver them in the background, set up where they go."""

from .delivering import deliver, send_again, sweep
from .events import note, note_each
from .setting_up import (
    change_webhook,
    create_webhook,
    delete_webhook,
    new_secret,
    pause_webhook,
    resume_webhook,
    send_test,
)

__all__ = [
    "change_webhook",
    "create_webhook",
    "delete_webhook",
    "deliver",
    "new_secret",
    "note",
    "note_each",
    "pause_webhook",
    "resume_webhook",
    "send_again",
    "send_test",
    "sweep",
]
