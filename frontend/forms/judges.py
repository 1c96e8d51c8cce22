"""Setting up a judge, and bringing in a file of suggestions."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from annotation.core.judging.prompt import LATEST, VERSIONS
from annotation.core.label_files import MAX_FILE
from annotation.core.vocabulary import JudgeKind
from annotation.models import MAX_CONCURRENCY, Judge, Project, Subset

# What says how the judge answers, as `services.suggest` locks it once there are suggestions.
ANSWERING = (
    "model",
    "address",
    "path",
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "extra",
    "structured_output",
    "with_reference",
    "context_tokens",
    "prompt_version",
)
SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
MAX_INT = 2_147_483_647


def addresses() -> list[str]:
    """The beginnings of addresses that the operator allows, as they stand in TRISTEP_JUDGE_URLS."""
    return list(settings.JUDGE_URLS)


STRUCTURED = (
    ("auto", _("Try it, do without where the server has none")),
    ("json_schema", _("JSON schema")),
    ("json_object", _("JSON object")),
    ("none", _("None: read the last JSON object of the answer")),
)


class NameForm(forms.Form):
    """A judge that needs nothing but its name: the baseline, which is trained here."""

    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        help_text=_("For admins. Annotators see “Judge 1”, “Judge 2” …, never the name."),
    )

    def __init__(self, *args: Any, locked: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ANSWERING if locked else ():
            if name in self.fields:
                self.fields[name].disabled = True

    @staticmethod
    def of(judge: Judge) -> dict[str, Any]:
        """A judge as the form shows it."""
        return {"name": judge.name}

    def values(self) -> dict[str, Any]:
        """What the service takes."""
        return {"name": self.cleaned_data["name"]}


class FileJudgeForm(NameForm):
    """A judge whose suggestions come from a file."""

    model = forms.CharField(
        label=_("Model"), required=False, max_length=200, help_text=_("What wrote the file, for the record.")
    )

    @staticmethod
    def of(judge: Judge) -> dict[str, Any]:
        """A judge as the form shows it."""
        return {"name": judge.name, "model": judge.model}

    def values(self) -> dict[str, Any]:
        """What the service takes."""
        return {"name": self.cleaned_data["name"], "model": self.cleaned_data["model"]}


class ServerForm(NameForm):
    """A judge behind a chat-completions server."""

    model = forms.CharField(
        label=_("Model"), max_length=200, help_text=_("As the server calls it, for example gpt-4.1-mini.")
    )
    address = forms.ChoiceField(
        label=_("Server"), help_text=_("The operator of this Tristep allows these addresses, and no others.")
    )
    path = forms.CharField(
        label=_("Path below it"),
        required=False,
        max_length=200,
        help_text=_("Usually empty. /chat/completions is added by itself."),
    )
    key_name = forms.CharField(
        label=_("Environment variable of the key"),
        required=False,
        max_length=120,
        help_text=_("Its name only; the operator sets the key itself. Empty for servers without a key."),
    )
    prompt_version = forms.ChoiceField(label=_("Prompt"), initial=LATEST)
    structured_output = forms.ChoiceField(
        label=_("Structured output"),
        choices=STRUCTURED,
    )
    with_reference = forms.BooleanField(
        label=_("Show the reference answer to the judge"),
        required=False,
        help_text=_("Only to be used for the outcome. What the judge knows, its reasons can give away."),
    )
    context_tokens = forms.IntegerField(
        label=_("Context window, in tokens"),
        min_value=1_024,
        max_value=MAX_INT,
        initial=32_768,
        help_text=_("The prompt is made to fit: long tool outputs lose their middle, with a note."),
    )
    temperature = forms.FloatField(
        label=_("Temperature"), required=False, min_value=0, max_value=2, initial=0
    )
    top_p = forms.FloatField(label=_("Top p"), required=False, min_value=0, max_value=1)
    max_tokens = forms.IntegerField(
        label=_("Longest answer, in tokens"),
        required=False,
        min_value=1,
        max_value=MAX_INT,
        help_text=_("Left empty, 8192. The prompt gets what this leaves of the window."),
    )
    seed = forms.IntegerField(label=_("Seed"), required=False, min_value=0, max_value=MAX_INT)
    extra = forms.CharField(
        label=_("Further parameters"),
        required=False,
        max_length=4_000,
        widget=forms.Textarea({"rows": 2, "class": "mono", "placeholder": '{"reasoning_effort": "low"}'}),
        help_text=_("A JSON object that is sent along with each request."),
    )
    price_input = forms.DecimalField(
        label=_("Input, $ per million tokens"),
        min_value=0,
        max_digits=12,
        decimal_places=6,
        initial=Decimal(0),
    )
    price_output = forms.DecimalField(
        label=_("Output, $ per million tokens"),
        min_value=0,
        max_digits=12,
        decimal_places=6,
        initial=Decimal(0),
    )
    price_cached = forms.DecimalField(
        label=_("Cached input, $ per million tokens"),
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=6,
        help_text=_("Left empty, the same as other input. Estimates and budgets rest on these prices."),
    )
    rate_per_minute = forms.IntegerField(
        label=_("Calls per minute, at most"),
        required=False,
        min_value=1,
        max_value=MAX_INT,
        help_text=_("For all workers together."),
    )
    concurrency = forms.IntegerField(
        label=_("Calls at once"), min_value=1, max_value=MAX_CONCURRENCY, initial=4
    )
    timeout_seconds = forms.IntegerField(
        label=_("Longest call, in seconds"), min_value=1, max_value=3_600, initial=180
    )

    groups = (
        (_("Who answers"), ("name", "model", "address", "path", "key_name")),
        (_("How it is asked"), ("prompt_version", "context_tokens", "structured_output", "with_reference")),
        (_("Sampling"), (*SAMPLING, "extra")),
        (
            _("Money and pace"),
            (
                "price_input",
                "price_output",
                "price_cached",
                "rate_per_minute",
                "concurrency",
                "timeout_seconds",
            ),
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        allowed = addresses()
        present = (kwargs.get("initial") or {}).get("address")
        if present and present not in allowed:
            allowed.append(present)  # no longer allowed: shown as it is, and refused by the service
        self.fields["address"].choices = [(one, one) for one in allowed]  # type: ignore[attr-defined]
        self.fields["prompt_version"].choices = [  # type: ignore[attr-defined]
            (one, one) for one in reversed(VERSIONS)
        ]

    @property
    def parts(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields in their groups."""
        return [(str(title), [self[name] for name in names]) for title, names in self.groups]

    def clean_path(self) -> str:
        """Empty, or with a slash before it and none behind."""
        path: str = self.cleaned_data["path"].strip().strip("/")
        if not path:
            return ""
        if urlsplit(f"/{path}").path != f"/{path}" or ".." in path.split("/") or not path.isprintable():
            raise forms.ValidationError(_("Only a path: no question mark, no “..”."))
        return f"/{path}"

    def clean_extra(self) -> dict[str, Any]:
        """The JSON object."""
        text = self.cleaned_data["extra"].strip()
        try:
            value = json.loads(text or "{}", parse_constant=_refuse)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise forms.ValidationError(_("This is not a JSON object."))
        return value

    @staticmethod
    def of(judge: Judge) -> dict[str, Any]:
        """A judge as the form shows it."""
        begins = sorted((one for one in addresses() if judge.base_url.startswith(one)), key=len)
        address = begins[-1] if begins else judge.base_url
        extra = judge.sampling.get("extra")
        plain = (
            "name",
            "model",
            "key_name",
            "prompt_version",
            "structured_output",
            "with_reference",
            "context_tokens",
            "price_input",
            "price_output",
            "price_cached",
            "rate_per_minute",
            "concurrency",
            "timeout_seconds",
        )
        return {
            **{name: getattr(judge, name) for name in plain},
            **{name: judge.sampling.get(name) for name in SAMPLING},
            "address": address,
            "path": judge.base_url.removeprefix(address),
            "extra": json.dumps(extra, ensure_ascii=False) if extra else "",
        }

    def values(self) -> dict[str, Any]:
        """What the service takes."""
        found = dict(self.cleaned_data)
        sampling = {name: found.pop(name) for name in SAMPLING}
        extra = found.pop("extra")
        found["base_url"] = found.pop("address").rstrip("/") + found.pop("path")
        found["sampling"] = {name: value for name, value in sampling.items() if value is not None}
        if extra:
            found["sampling"]["extra"] = extra
        return found


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


FORMS: dict[str, type[NameForm]] = {
    JudgeKind.OPENAI_COMPATIBLE.value: ServerForm,
    JudgeKind.IMPORTED.value: FileJudgeForm,
    JudgeKind.BASELINE.value: NameForm,
}


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
        empty_label=_("Find each record in the whole project"),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["subset"].queryset = Subset.objects.filter(project=project)  # type: ignore[attr-defined]
        self.fields["subset"].label_from_instance = lambda row: row.name  # type: ignore[attr-defined]

    def clean_file(self) -> Any:
        """A file that can be read whole."""
        if self.cleaned_data["file"].size > MAX_FILE:
            raise forms.ValidationError(_("A file of suggestions may have at most 100 MB."))
        return self.cleaned_data["file"]


def keys_said() -> Any:
    """Which names of keys the operator allows, in a sentence."""
    names = ", ".join(settings.JUDGE_KEYS)
    sentence = _("Names that begin with TRISTEP_JUDGE_KEY_ are always allowed.")
    return format_lazy("{} {} {}", sentence, _("Also:"), names) if names else sentence
