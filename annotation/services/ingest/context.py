"""Context of the importers on this server: the folder for bytes laid aside, and its limits."""

from collections.abc import Mapping

from django.conf import settings

from annotation.importers import ReadContext


def read_context(
    filename: str, policy_models: Mapping[int, str], *, gather_bytes: int | None = None
) -> ReadContext:
    """The context in which a file is read or looked at."""
    return ReadContext(
        filename,
        policy_models,
        max_record_bytes=settings.MAX_RECORD_BYTES,
        scratch=str(settings.UPLOAD_DIR),
        gather_bytes=gather_bytes,
        limits=settings.TRAJECTORY_LIMITS,
    )
