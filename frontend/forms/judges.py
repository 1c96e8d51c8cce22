"""Setting up a judge, and bringing in a file of suggestions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from annotation.core.judging import settings
from annotation.core.judging.kinds import JudgeKind
from annotation.core.judging.prompts import versions_of
from annotation.core.judging.setting_kinds import PRICE_DIGITS, PRICE_PLACES, Setting, SettingKind
from annotation.core.judging.settings import NAME, NUMBER_ERRORS
from annotation.core.kinds import ProjectKind
from annotation.core.label_files import MAX_FILE
from annotation.language import translated, translated_lazy
from annotation.models import Judge, Project, Subset
from annotation.models.data import with_trajectories
from annotation.services.suggest import operator


class ObjectField(forms.JSONField):
    """A JSON object within the bounds of a setting; empty for none."""

    def __init__(self, setting: Setting, **kwargs: Any) -> None:
        attributes = {"rows": 2, "class": "mono", "placeholder": '{"reasoning_effort": "low"}'}
        super().__init__(widget=forms.Textarea(attributes), **kwargs)
        self.setting = setting

    def to_python(self, value: Any) -> Any:
        """The mapping."""
        try:
            cleaned = super().to_python(value)
        except (ValueError, RecursionError, forms.ValidationError):
            cleaned = value
        if cleaned is not None and (problem := self.setting.problem(cleaned)):
            raise forms.ValidationError(translated(problem))
        return cleaned

    def prepare_value(self, value: Any) -> Any:
        """The text of the object."""
        return super().prepare_value(value) if value else ""


def form_field(setting: Setting) -> forms.Field:
    """A setting as a field; what is wrong with a value is told by its rule."""
    given: dict[str, Any] = {
        "label": translated_lazy(setting.title),
        "help_text": translated_lazy(setting.help),
        "initial": setting.initial,
        "required": setting.required,
    }
    number: dict[str, Any] = {
        "min_value": setting.minimum,
        "max_value": setting.maximum,
        "error_messages": dict.fromkeys(NUMBER_ERRORS, translated_lazy(setting.rule)),
        **given,
    }
    match setting.kind:
        case SettingKind.CHOICE:
            return forms.ChoiceField(
                choices=[(value, translated_lazy(title)) for value, title in setting.choices], **given
            )
        case SettingKind.ADDRESS:
            return forms.ChoiceField(**given)
        case SettingKind.FLAG:
            return forms.BooleanField(**given)
        case SettingKind.WHOLE:
            return forms.IntegerField(**number)
        case SettingKind.NUMBER:
            return forms.FloatField(**number)
        case SettingKind.PRICE:
            return forms.DecimalField(max_digits=PRICE_DIGITS, decimal_places=PRICE_PLACES, **number)
        case SettingKind.OBJECT:
            return ObjectField(setting, **given)
    if setting.secret:
        given["help_text"] = format_lazy("{} {}", given["help_text"], readable_keys())
    return forms.CharField(max_length=setting.max_length, **given)


class NameForm(forms.Form):
    """A judge that needs nothing but its name, in a project of a kind."""

    def __init__(self, *args: Any, of_kind: ProjectKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.of_kind = of_kind
        self.fields["name"] = form_field(NAME)

    @staticmethod
    def of(judge: Judge) -> dict[str, Any]:
        """A judge as the form shows it."""
        return {"name": judge.name, **judge.setting_values()}

    def lock(self) -> None:
        """Let nothing be changed that the judge's answers depend on."""
        for one in settings.SETTINGS:
            if one.defining and one.name in self.fields:
                self.fields[one.name].disabled = True

    def values(self) -> dict[str, Any]:
        """The values for the service."""
        return self.cleaned_data


class FileJudgeForm(NameForm):
    """A judge whose suggestions come from a file."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        model = self.fields["model"] = form_field(settings.named("model"))
        model.required, model.help_text = False, _("The program that produced the file, for reference.")


class ServerForm(NameForm):
    """A judge behind a chat-completions server: a field for each setting, and one for the address' path."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= {one.name: form_field(one) for one in settings.SETTINGS}
        self.fields["path"] = forms.CharField(
            label=_("Path on this server"),
            required=False,
            max_length=200,
            help_text=_("Usually empty. /chat/completions is added automatically."),
        )
        self._offer("base_url", operator().addresses)
        self._offer("prompt_version", reversed(versions_of(self.of_kind)))

    def _offer(self, name: str, allowed: Iterable[str]) -> None:
        """Let a setting be chosen from `allowed`. What it is at present and may be no longer is shown as it
        is, and refused by the service."""
        offered = list(allowed)
        present = self.initial.get(name)
        if present and present not in offered:
            offered.append(present)
        field = self.fields[name]
        field.choices = [(one, one) for one in offered]  # type: ignore[attr-defined]
        if name == "prompt_version":
            field.initial = offered[0]

    @property
    def parts(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields in their groups."""
        groups: dict[str, list[forms.BoundField]] = {}
        for one in settings.SETTINGS:
            group = groups.setdefault(one.group, [] if groups else [self["name"]])
            group.append(self[one.name])
            if one.kind is SettingKind.ADDRESS:
                group.append(self["path"])
        return [(translated(title), fields) for title, fields in groups.items()]

    def clean_path(self) -> str:
        """Empty, or with a slash before it and none behind."""
        path: str = self.cleaned_data["path"].strip().strip("/")
        if not path:
            return ""
        if urlsplit(f"/{path}").path != f"/{path}" or ".." in path.split("/") or not path.isprintable():
            raise forms.ValidationError(_("Only a path: no question mark, no “..”."))
        return f"/{path}"

    @staticmethod
    def of(judge: Judge) -> dict[str, Any]:
        """A judge as the form shows it: its address in two, the allowed beginning and the rest."""
        whole = judge.base_url
        begins = [one for one in operator().addresses if whole.startswith(one)]
        begin = max(begins, key=len, default=whole)
        return {**NameForm.of(judge), "base_url": begin, "path": whole.removeprefix(begin)}

    def lock(self) -> None:
        """Let nothing be changed that the judge's answers depend on."""
        super().lock()
        self.fields["path"].disabled = True

    def values(self) -> dict[str, Any]:
        """The values for the service."""
        values = dict(self.cleaned_data)
        values["base_url"] = values["base_url"].rstrip("/") + values.pop("path")
        return settings.as_columns(values)


def form_of(kind: JudgeKind) -> type[NameForm]:
    """The form that sets up a judge of this kind."""
    if kind.served:
        return ServerForm
    return FileJudgeForm if kind.takes_files else NameForm


class SuggestionFileForm(forms.Form):
    """A file of suggestions for one judge."""

    file = forms.FileField(
        label=_("File"),
        allow_empty_file=True,
        help_text=_("JSON Lines: record_id, step_labels, final_label and explanations in each line."),
    )
    subset = forms.ModelChoiceField(
        label=_("Subset"),
        queryset=Subset.objects.none(),
        to_field_name="name",
        required=False,
        empty_label=_("Look up each record in the whole project"),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        subsets = with_trajectories(Subset.objects.filter(project=project))
        self.fields["subset"].queryset = subsets  # type: ignore[attr-defined]
        self.fields["subset"].label_from_instance = lambda row: row.name  # type: ignore[attr-defined]

    def clean_file(self) -> Any:
        """A file that can be read whole."""
        if self.cleaned_data["file"].size > MAX_FILE:
            raise forms.ValidationError(_("A file of suggestions may have at most 100 MB."))
        return self.cleaned_data["file"]


def readable_keys() -> Any:
    """The names of keys that the operator allows, in a sentence."""
    names = ", ".join(operator().keys)
    sentence = _("Names that begin with TRISTEP_JUDGE_KEY_ are always allowed.")
    return format_lazy("{} {} {}", sentence, _("Also:"), names) if names else sentence
