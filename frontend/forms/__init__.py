"""Forms: parsing and shape of input; permission and rules are the services'."""

from collections.abc import Mapping

from django import forms

from annotation.core.errors import Invalid
from annotation.language import translated


def add_errors(
    form: forms.Form | forms.BaseForm, error: Invalid, names: Mapping[str, str] | None = None
) -> None:
    """Put a service's refusal on its fields, or above the form. `names` maps its field names to ours."""
    placed = False
    fields = {name: translated(why) for name, why in error.fields.items()}
    for name, why in fields.items():
        field = (names or {}).get(name, name)
        if field in form.fields:
            form.add_error(field, why)
            placed = True
    if not placed:
        form.add_error(None, " ".join([translated(error.message), *fields.values()]))
