"""Set up judges, within what the operator of the server allows; their settings are fixed once they have
judged."""

import os
from collections.abc import Mapping
from typing import Any

from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid, Locked
from annotation.core.i18n import translatable
from annotation.core.judging import settings as specification
from annotation.core.judging.kinds import KINDS, by_name
from annotation.core.judging.prompts import check_version, versions_of
from annotation.core.judging.settings import check
from annotation.models import UNFINISHED_RUNS, Judge, Project, Suggestion, SuggestionRun
from annotation.outside import OperatorRules
from annotation.policies import Actor, recorded, require
from annotation.providers import Hooks, Provider, create

from .. import audit
from ..transitions import require_version


@transaction.atomic
def create_judge(*, actor: Actor, project: Project, name: str, kind: str, **values: Any) -> Judge:
    """Make a judge. `values` are columns: settings by name, those of its sampling as a mapping `sampling`.
    Raises Invalid, setting by setting, also for an address or a key that the operator does not allow."""
    require(actor, "judges.change", project)
    _known(values)
    project.of_kind.require(by_name(kind).needs)
    if by_name(kind).prompted:
        values.setdefault("prompt_version", versions_of(project.of_kind)[-1])
    judge = Judge(
        project=project,
        name=name.strip(),
        kind=kind,
        created_by=recorded(actor),
        created_at=timezone.now(),
        **values,
    )
    _clean(judge, before={})
    try:
        with transaction.atomic():
            judge.save(force_insert=True)
    except IntegrityError as error:
        raise _taken() from error
    audit.record(actor=actor, verb="judge.create", project=project, obj=judge, kind=kind, model=judge.model)
    return judge


@transaction.atomic
def update_judge(
    *, actor: Actor, judge: Judge, values: Mapping[str, Any], version: str | None = None
) -> Judge:
    """Change a judge. Raises Locked for what its answers depend on, once it has suggestions, and StaleVersion
    when it is no longer at the `version` that the actor began from."""
    require(actor, "judges.change", judge)
    _known(values)
    current = Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    require_version(current, version, values)
    changed = sorted(name for name, value in values.items() if getattr(current, name) != value)
    before = current.setting_values()
    if specification.columns(defining=True) & set(changed) and _has_suggested(current):
        raise Locked(
            translatable(
                "This judge has made suggestions, so its model, prompt and sampling are fixed; create "
                "another judge."
            ),
            code="judge_locked",
        )
    for name in changed:
        setattr(current, name, values[name])
    _clean(current, before=before)
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
    """Take a judge out of use; its suggestions stay. Raises Conflict while it, or a trial of its workshop,
    has an unfinished run."""
    require(actor, "judges.change", judge)
    Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)
    own = Q(judge=judge) | Q(judge__sample__judge=judge)
    if SuggestionRun.objects.filter(own, state__in=UNFINISHED_RUNS).exists():
        raise Conflict(translatable("This judge has an active run; cancel it first."), code="judge_at_work")
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
    # the one variable that this judge may read, and no other
    environ = {judge.key_name: os.environ[judge.key_name]} if judge.key_name in os.environ else {}
    return create(judge.kind, judge.settings, environ=environ, operator=operator(), hooks=hooks)


def operator() -> OperatorRules:
    """The rules of this server's operator."""
    return OperatorRules(
        addresses=django_settings.JUDGE_URLS,
        keys=django_settings.JUDGE_KEYS,
        key_prefix="TRISTEP_JUDGE_KEY_",
        networks=django_settings.PRIVATE_NETWORKS,
    )


def _known(values: Mapping[str, Any]) -> None:
    unknown = sorted(set(values) - specification.columns() - {"name"})
    if unknown:
        raise Invalid(
            translatable("Unknown settings."),
            fields=dict.fromkeys(unknown, translatable("Unknown setting.")),
        )


def _taken() -> Invalid:
    return Invalid(
        translatable("A judge with this name already exists."),
        fields={"name": translatable("This name is taken; choose another.")},
    )


def _prompt_problem(judge: Judge) -> dict[str, str]:
    """The faults of a prompt that judges of another kind of projects have."""
    try:
        check_version(judge.project.of_kind, judge.prompt_version)
    except Invalid as problem:
        return dict(problem.fields)
    return {}


def _has_suggested(judge: Judge) -> bool:
    """A run that is not over counts too, since it may store a suggestion at any moment; and one that wrote
    distractors."""
    return (
        Suggestion.objects.filter(judge=judge).exists()
        or SuggestionRun.objects.filter(
            Q(state__in=UNFINISHED_RUNS) | Q(options__isnull=False), judge=judge
        ).exists()
    )


def _clean(judge: Judge, *, before: Mapping[str, Any]) -> None:
    """Raise Invalid with everything that is wrong, field by field.

    Settings that are as they were `before` are held against the operator's rules only: bounds may have been
    others when they were set, and what defines the judge can no longer be changed.
    """
    judge.name, judge.model = judge.name.strip(), judge.model.strip()
    judge.base_url = judge.base_url.strip().rstrip("/")
    served = KINDS[judge.kind].served
    fields: dict[str, str] = {}
    try:
        judge.full_clean(
            exclude={"created_by", "project"} | specification.columns(),
            validate_unique=False,
            validate_constraints=False,
        )
    except ValidationError as error:
        fields = {name: " ".join(messages) for name, messages in error.message_dict.items()}
    names = {setting.name for setting in specification.SETTINGS if setting.sampling}
    if not isinstance(judge.sampling, dict) or set(judge.sampling) - names:
        fields["sampling"] = translatable("Only {names}.", names=", ".join(sorted(names)))
    else:
        values = judge.setting_values()
        problems = check(values, complete=served)
        if KINDS[judge.kind].prompted and "prompt_version" not in problems:
            problems |= _prompt_problem(judge)
        fields |= {
            name: why
            for name, why in problems.items()
            if name not in before or values.get(name) != before[name]
        }
        if served and not problems.keys() & {"base_url", "key_name"}:
            fields |= operator().problems(judge.base_url, judge.key_name)
    if fields:
        raise Invalid(translatable("The judge could not be saved; check the fields."), fields=fields)
