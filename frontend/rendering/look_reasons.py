"""Reasons, as annotators read them, why they are asked to look again at what they have submitted."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from annotation.core.vocabulary import LookReason

TOLD: Final = {
    LookReason.GUIDELINES: gettext_lazy("The guidelines have changed since you submitted these."),
    LookReason.CHECK: gettext_lazy(
        "An admin asks you to look at these once more: read the guidelines, then go through your labels."
    ),
}
"""The sentence above the list of what they are asked."""
