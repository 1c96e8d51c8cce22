"""Forms: parsing and shape of input; permission and rules are the services'."""

from django import forms

from annotation.core.errors import Invalid
from annotation.language import joined, translated


def add_errors(form: forms.Form | forms.BaseForm, error: Invalid) -> None:
    """Put a service's refusal on the fields of the same names, or above the form."""
    placed = False
    fields = {name: translated(why) for name, why in error.fields.items()}
    for field, why in fields.items():
        if field in form.fields:
            form.add_error(field, why)
            placed = True
    if not placed:
        form.add_error(None, joined(translated(error.message), *fields.values()))
