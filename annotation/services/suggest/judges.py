"""Set up judges, within what the operator of the server allows; their settings are fixed once they have
judged."""

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid, Locked
from annotation.core.i18n import translatable
from annotation.core.judging.prompt import LATEST
from annotation.core.vocabulary import JudgeKind
from annotation.models import UNFINISHED_RUNS, Judge, Project, Suggestion, SuggestionRun
from annotation.policies import Actor, recorded, require
from annotation.providers import Hooks, Provider, check, create
from annotation.reports.judges import configuration, prompt_tokens

from .. import audit

KEY_PREFIX: Final = "TRISTEP_JUDGE_KEY_"
_NAME: Final = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
# What its suggestions depend on: another value makes another judge.
DEFINING: Final = frozenset(
    {
        "model",
        "base_url",
        "sampling",
        "structured_output",
        "with_reference",
        "context_tokens",
        "prompt_version",
    }
)
RUNNING: Final = frozenset(
    {
        "key_name",
        "price_input",
        "price_output",
        "price_cached",
        "rate_per_minute",
        "concurrency",
        "timeout_seconds",
    }
)
SETTINGS: Final = DEFINING | RUNNING | {"name"}
SAMPLING: Final = frozenset({"temperature", "top_p", "seed", "max_tokens", "extra"})
# the names of our fields, and what a provider's configuration calls them
FIELDS: Final = {
    "base_url": "base_url",
    "model": "model",
    "key_name": "key_name",
    "prompt_version": "prompt_version",
    "structured": "structured_output",
    "concurrency": "concurrency",
    "timeout": "timeout_seconds",
    "price_prompt": "price_input",
    "price_answer": "price_output",
    "price_cached": "price_cached",
    "budget_tokens": "context_tokens",
}


@transaction.atomic
def create_judge(*, actor: Actor, project: Project, name: str, kind: str, **values: Any) -> Judge:
    """Make a judge. `values` are those of SETTINGS. Raises Invalid, field by field, also for an address or a
    key that the operator does not allow."""
    require(actor, "judges.change", project)
    _known(values)
    if kind == JudgeKind.OPENAI_COMPATIBLE:
        values.setdefault("prompt_version", LATEST)
    judge = Judge(
        project=project,
        name=name.strip(),
        kind=kind,
        created_by=recorded(actor),
        created_at=timezone.now(),
        **values,
    )
    _clean(judge)
    try:
        with transaction.atomic():
            judge.save(force_insert=True)
    except IntegrityError as error:
        raise _taken() from error
    audit.record(actor=actor, verb="judge.create", project=project, obj=judge, kind=kind, model=judge.model)
    return judge


@transaction.atomic
def update_judge(*, actor: Actor, judge: Judge, values: Mapping[str, Any]) -> Judge:
    """Change a judge. Raises Locked for what its answers depend on, once it has suggestions."""
    require(actor, "judges.change", judge)
    _known(values)
    current = Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    changed = sorted(name for name, value in values.items() if getattr(current, name) != value)
    if DEFINING & set(changed) and _has_judged(current):
        raise Locked(
            translatable(
                "This judge has made suggestions, so that model, prompt and sampling are fixed; make another."
            ),
            code="judge_locked",
        )
    for name in changed:
        setattr(current, name, values[name])
    current.name = current.name.strip()
    _clean(current)
    try:
        with transaction.atomic():
            current.save(update_fields=changed)
    except IntegrityError as error:
        raise _taken() from error
    if changed:
        audit.record(actor=actor, verb="judge.change", project=current.project, obj=current, fields=changed)
    return current


@transaction.atomic
def retire_judge(*, actor: Actor, judge: Judge) -> None:
    """Take a judge out of use; its suggestions stay. Raises Conflict while it has an unfinished run."""
    require(actor, "judges.change", judge)
    Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    if SuggestionRun.objects.filter(judge=judge, state__in=UNFINISHED_RUNS).exists():
        raise Conflict(translatable("This judge is at work; cancel its run first."), code="judge_at_work")
    if Judge.objects.filter(pk=judge.pk, retired_at__isnull=True).update(retired_at=timezone.now()):
        audit.record(actor=actor, verb="judge.retire", project=judge.project, obj=judge)


@transaction.atomic
def restore_judge(*, actor: Actor, judge: Judge) -> None:
    """Take a retired judge into use again."""
    require(actor, "judges.change", judge)
    if Judge.objects.filter(pk=judge.pk, retired_at__isnull=False).update(retired_at=None):
        audit.record(actor=actor, verb="judge.restore", project=judge.project, obj=judge)


def open_provider(judge: Judge, hooks: Hooks) -> Provider:
    """A provider that asks this judge. Raises Invalid: what the operator allows is asked again every time."""
    if problem := _key_problem(judge.key_name):
        raise Invalid(problem, fields={"key_name": problem})
    # the one variable that this judge may read, and no other
    environ = {judge.key_name: os.environ[judge.key_name]} if judge.key_name in os.environ else {}
    return create(
        judge.kind,
        configuration(judge),
        environ=environ,
        allow_list=django_settings.JUDGE_URLS,
        hooks=hooks,
    )


def _known(values: Mapping[str, Any]) -> None:
    unknown = sorted(set(values) - SETTINGS)
    if unknown:
        raise Invalid(
            translatable("Unknown settings."),
            fields=dict.fromkeys(unknown, translatable("There is no such setting.")),
        )


def _taken() -> Invalid:
    return Invalid(
        translatable("There is a judge of this name."),
        fields={"name": translatable("This name is taken; choose another.")},
    )


def _has_judged(judge: Judge) -> bool:
    """A run that is not over counts too: it may store a suggestion at any moment."""
    return (
        Suggestion.objects.filter(judge=judge).exists()
        or SuggestionRun.objects.filter(judge=judge, state__in=UNFINISHED_RUNS).exists()
    )


def _clean(judge: Judge) -> None:
    """Raise Invalid with everything that is wrong, field by field."""
    judge.base_url = judge.base_url.strip().rstrip("/")
    judge.model = judge.model.strip()
    fields: dict[str, str] = {}
    try:
        judge.full_clean(exclude=["created_by", "project"], validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        fields = {name: " ".join(messages) for name, messages in error.message_dict.items()}
    if judge.kind == JudgeKind.OPENAI_COMPATIBLE:
        for name, problem in _provider_problems(judge).items():
            fields.setdefault(name, problem)
    if fields:
        raise Invalid(translatable("The judge cannot be saved as given."), fields=fields)


def _provider_problems(judge: Judge) -> dict[str, str]:
    if not isinstance(judge.sampling, dict) or set(judge.sampling) - SAMPLING:
        return {"sampling": translatable("Only temperature, top_p, seed, max_tokens and extra.")}
    problems: dict[str, str] = {}
    if problem := _key_problem(judge.key_name):
        problems["key_name"] = problem
    if prompt_tokens(judge) < 1:
        problems["context_tokens"] = translatable("The window must be larger than the longest answer.")
        return problems
    found = check(judge.kind, configuration(judge), allow_list=django_settings.JUDGE_URLS)
    for name, reason in found.items():
        problems.setdefault(FIELDS.get(name, "sampling"), reason)
    return problems


def _key_problem(name: str) -> str:
    """Why this environment variable may not be read as a key; empty when it may.

    An admin of a project is not the operator of the server: naming another variable would send the server's
    own secrets to a judge.
    """
    if not name:
        return ""
    if _NAME.fullmatch(name) and (name.startswith(KEY_PREFIX) or name in django_settings.JUDGE_KEYS):
        return ""
    return translatable(
        "The operator allows only variables whose names begin with {prefix}.", prefix=KEY_PREFIX
    )
