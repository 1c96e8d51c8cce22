"""Checks common to a decision and a change of mind: the step, the root and the reason code of an error, a
note; each refused in one sentence."""

from annotation.core import text
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import REASON_CODES_BY_CODE, is_value
from annotation.models import Step

MAX_NOTE = 20_000


def step_at(trajectory: int, message_index: int | None) -> Step | None:
    """The step at a message; None for None, which is the outcome. Raises Invalid for no step."""
    if message_index is None:
        return None
    step = Step.objects.filter(trajectory=trajectory, message_index=message_index).first()
    if step is None:
        raise Invalid(
            translatable("Message {message_index} is not a step.", message_index=message_index),
            fields={"message_index": translatable("Not a step.")},
        )
    return step


def checked_value(value: int) -> int:
    """A label. Raises Invalid for anything else."""
    if not is_value(value):
        message = translatable("A label is −1, 0 or 1.")
        raise Invalid(message, fields={"value": message})
    return value


def root_at(trajectory: int, *, step: Step | None, value: int, root: int | None) -> Step | None:
    """The step at which an error began, by its message: only a −1 of a step has one, and it is this step or
    an earlier one. Raises Invalid."""
    if root is None:
        return None
    origin = Step.objects.filter(trajectory=trajectory, message_index=root).first()
    if step is None or value != -1 or origin is None or origin.message_index > step.message_index:
        message = translatable("The root of an error is this step or an earlier one.")
        raise Invalid(message, fields={"root": message})
    return origin


def checked_reason(reason: str, value: int) -> str:
    """A reason code of the scheme that fits the value, or none. Raises Invalid."""
    code = REASON_CODES_BY_CODE.get(reason)
    if reason and (code is None or code.value != value):
        message = translatable("reason: a code of the scheme that fits the label, or empty.")
        raise Invalid(message, fields={"reason": message})
    return reason


def checked_note(note: str) -> str:
    """A note, escaped as it is stored. Raises Invalid when it is too long."""
    if len(note) > MAX_NOTE:
        message = translatable("Keep the note under {note} characters.", note=f"{MAX_NOTE:,}")
        raise Invalid(message, fields={"note": message})
    return text.escape(note)
