"""Import a person's finished labels from a file, as submitted assignments; all of the file or nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from io import SEEK_END
from typing import BinaryIO, NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import LabelLine, counting_lines, problems_against
from annotation.core.propagation import PropagationRules, StepInput, resolve
from annotation.core.text import escape
from annotation.core.vocabulary import AssignmentState
from annotation.models import Assignment, Label, Membership, OutcomeLabel, Project, Trajectory, User
from annotation.policies import Actor, require
from annotation.reports.judging.second_person import Alone, labelled_alone
from annotation.reports.shared.label_json import rules_of

from .. import accounts, audit, planner_stats
from ..batched_writes import FORGOTTEN
from ..ingest.run import CountingStream
from ..record_lookup import (
    StepKey,
    chunks,
    find_trajectories,
    matched_lines,
    record_error,
    refuse_nothing,
    steps_of,
)
from ..shares import reservations
from .import_rows import (
    READING,
    Beat,
    LabelSpool,
    Opened,
    PreparedLabel,
    PreparedLine,
    store_open,
    submit_all,
    take_away,
)

SLUG_SHOWN = 100
NO_PLACE = translatable("{record} cannot take these labels: all places at this trajectory are taken")
NO_PLACE_FROZEN = translatable(
    "{record} cannot take a second person’s labels: release {version} holds it with one person’s"
)
NO_PLACE_CORRECTED = translatable(
    "{record} cannot take a second person’s labels: an audit has corrected those of its one person"
)
NO_PLACE_SEEN = translatable("{record} cannot take these labels: {name} has seen those of its one person")
OTHER_LABELS = translatable("{record} has other or unfinished labels of {name} already")


@dataclass(frozen=True, slots=True)
class LabelImport:
    """The result of a label file: assignments made, those that were there with the same labels, step labels
    stored."""

    created: int
    unchanged: int
    labels: int


class NewPerson(NamedTuple):
    """Somebody whose labels an admin brings along, by name: an account that nobody can sign in to."""

    name: str


class _Labeller(NamedTuple):
    """The person of a file: what errors call them, and the account if there is one."""

    name: str
    user: User | None


class _Place(NamedTuple):
    """The facts of a trajectory for an import: whether a place is free, or is one person's `alone`, beside
    whom a second one has place; and its propagation rules."""

    free: bool
    alone: Alone | None
    rules: PropagationRules

    def refusal(self, line: LabelLine, filename: str, name: str) -> RecordError | None:
        """The reason why it cannot take somebody's labels; None when it can."""
        if self.free:
            return None
        if self.alone is None:
            return record_error(line, NO_PLACE, filename)
        if self.alone.release is not None:
            return record_error(line, NO_PLACE_FROZEN, filename, version=self.alone.release)
        if self.alone.corrected:
            return record_error(line, NO_PLACE_CORRECTED, filename)
        return record_error(line, NO_PLACE_SEEN, filename, name=name) if self.alone.seen else None


@dataclass(frozen=True, slots=True)
class _Own:
    """A person's assignment of a trajectory; `half`: an import that was killed left it, complete but open."""

    assignment: int
    labels: tuple[dict[int, int | None], int | None] | None
    half: bool


@dataclass(slots=True)
class _Check:
    """A file held against what is stored: its errors, how many lines count, the labels that are to be stored,
    and what an import that was killed left of them."""

    errors: FileErrors
    spool: LabelSpool
    lines: int = 0
    halves: list[Opened] = field(default_factory=list)


def import_labels(
    *,
    actor: Actor,
    project: Project,
    annotator: str | User | NewPerson,
    stream: BinaryIO,
    filename: str,
    subset: str = "",
    beat: Beat = lambda share: None,
) -> LabelImport:
    """Store a label file (docs/formats.md, "Label and prediction files") as the submitted assignments of the
    person `annotator`: an annotator of the project, or somebody who signs in nowhere (`NewPerson`), or for
    the operator a user name, whose account (without a password) and membership are made when missing. Every
    record needs a label for each step and an outcome; explanations become notes. The same labels again change
    nothing; without `subset` a record id is looked for in all subsets. Raises ImportRefused naming every
    record that does not fit, and Conflict when somebody else imports the same at this moment.

    Everything is checked before anything is written. Then each trajectory gets its labels, in short
    transactions, as an open assignment, which counts nowhere; when all of them have a place, they are
    submitted, in short transactions too, which nothing can refuse any more. What a kill leaves is completed
    by the same file again, or swept away after an hour (`sweep_half_imports`). `beat` is called with the
    share of the work that is done, every few lines.
    """
    require(actor, "import", project)
    if isinstance(annotator, str):
        require(actor, "member.add", project)
    with LabelSpool() as spool:
        labeller = labeller_of(project, annotator)
        errors = FileErrors(filename)
        lines = counting_lines(_told(stream, beat), filename, errors)
        checked = _check(project, labeller, subset, lines, errors, spool)
        if checked.errors:
            raise checked.errors.refusal()
        try:
            with transaction.atomic():
                user = _annotator(actor, project, annotator, labeller)
            beat(READING)
            made = store_open(user=user, project_id=project.pk, spool=spool, errors=checked.errors, beat=beat)
        except IntegrityError as error:
            raise Conflict(
                translatable("Somebody else is importing the same labels right now; try again."),
                code="overtaken",
            ) from error
    submit_all([*checked.halves, *made], beat=beat)
    created = len(made) + len(checked.halves)
    result = LabelImport(created=created, unchanged=checked.lines - created, labels=spool.steps)
    if made:
        planner_stats.analyse(Assignment, Label, OutcomeLabel)
    audit.record(
        actor=actor,
        verb="labels.import",
        project=project,
        obj=user,
        username=user.username,
        created=result.created,
        unchanged=result.unchanged,
    )
    return result


def no_annotator() -> Invalid:
    """The refusal of a person who does not annotate in the project."""
    reason = translatable("Choose an annotator of this project.")
    return Invalid(reason, fields={"annotator": reason})


def _told(stream: BinaryIO, beat: Beat) -> BinaryIO:
    """The stream, which is read twice and says how far."""
    begin = stream.tell()
    size = max(2 * (stream.seek(0, SEEK_END) - begin), 1)
    stream.seek(begin)
    return CountingStream(stream, size, lambda done: beat(READING * done / size))  # type: ignore[return-value]


def check_lines(
    project: Project, annotator: User | NewPerson, subset: str, lines: Iterable[LabelLine], errors: FileErrors
) -> int:
    """Hold lines of a file against what is stored, for a preview; how many there are. `errors` takes what
    would refuse the file."""
    with LabelSpool() as spool:
        return _check(project, labeller_of(project, annotator), subset, lines, errors, spool).lines


def _check(
    project: Project,
    labeller: _Labeller,
    subset: str,
    lines: Iterable[LabelLine],
    errors: FileErrors,
    spool: LabelSpool,
) -> _Check:
    """Hold every line of a file against its trajectory and what the person has of it."""
    checked, filename = _Check(errors, spool), errors.filename
    rules = {row.pk: rules_of(project, row) for row in project.subsets.all()}
    for part in chunks(lines):
        checked.lines += len(part)
        pks = find_trajectories(project, subset, [line.record_id for line in part])
        matched = [pk for pk in pks.values() if pk is not None]
        steps, own, places = steps_of(matched), _own(labeller, matched), _places(labeller, matched, rules)
        for line, pk in matched_lines(part, pks, checked.errors):
            wrong = problems_against(line, list(steps[pk]), filename)
            checked.errors.extend(wrong)
            if pk not in own:
                if refusal := places[pk].refusal(line, filename, labeller.name):
                    checked.errors.add(refusal)
                if not checked.errors:
                    error = record_error(line, NO_PLACE, filename)
                    spool.add(_prepared(pk, line, list(steps[pk].values()), places[pk].rules, error))
            elif not wrong and own[pk].labels != (dict(line.step_labels), line.final_label):
                checked.errors.add(record_error(line, OTHER_LABELS, filename, name=labeller.name))
            elif own[pk].half:
                checked.halves.append(Opened(pk, own[pk].assignment, len(steps[pk])))
    refuse_nothing(checked.lines, checked.errors)
    return checked


def _prepared(
    trajectory: int, line: LabelLine, steps: Sequence[StepKey], rules: PropagationRules, no_place: RecordError
) -> PreparedLine:
    inputs = [
        StepInput(
            message_index=step.message_index,
            value=line.step_labels[step.message_index],
            source="explicit",
            after_user_turn=step.after_user_turn,
        )
        for step in steps
    ]
    pk_of = {step.message_index: step.pk for step in steps}
    labels = [
        PreparedLabel(
            step=step.pk,
            value=value,
            root=pk_of[result.root] if result.root is not None else None,
            note=escape(line.explanations.get(step.message_index, "")),
        )
        for step, result in zip(steps, resolve(inputs, rules), strict=True)
        if (value := result.value) is not None
    ]
    note = "\n\n".join(part for part in (line.final_explanation, line.comment) if part)
    return PreparedLine(trajectory, line.line, labels, line.final_label, escape(note), no_place)


def sweep_half_imports(*, now: datetime | None = None) -> int:
    """Take away what an import of labels left that was killed an hour ago, and not begun again; how many
    assignments."""
    before = (now or timezone.now()) - FORGOTTEN
    halves = Assignment.objects.filter(imported=True, state=AssignmentState.OPEN, last_used_at__lt=before)
    return take_away(halves.order_by("pk").values_list("pk", flat=True))


def labeller_of(project: Project, annotator: str | User | NewPerson) -> _Labeller:
    """The person of a file, if the account is there."""
    if isinstance(annotator, User):
        return _Labeller(annotator.username, annotator)
    if isinstance(annotator, NewPerson):
        # whoever an earlier file has made; nobody whose own account it is
        members = Membership.objects.filter(project=project, is_annotator=True).select_related("user")
        named = members.filter(user__display_name=annotator.name).order_by("pk")
        made = (member.user for member in named if not member.user.has_usable_password())
        return _Labeller(annotator.name, next(made, None))
    # escaped: neither database can look for every text, and no name that needs it is ever accepted
    name = escape(User.normalize_username(annotator.strip()))
    return _Labeller(name, User.objects.filter(username=name).first())


def _annotator(
    actor: Actor, project: Project, annotator: str | User | NewPerson, labeller: _Labeller
) -> User:
    """The person of the file, account and role made when missing. Nobody can sign in to such an account."""
    if isinstance(annotator, User):
        if not Membership.objects.filter(project=project, user=annotator, is_annotator=True).exists():
            raise no_annotator()
        return annotator
    user = labeller.user
    if user is None:
        if isinstance(annotator, NewPerson):
            # with an ending, so that a person of this name who joins later gets theirs
            username = f"{slugify(annotator.name, allow_unicode=True)[:SLUG_SHOWN] or 'person'}-imported"
            username = accounts.free_user_name(username)
            user = accounts.new_user(username=username, display_name=annotator.name)
        else:
            user = accounts.new_user(username=annotator)
        audit.record(actor=actor, verb="account.create", project=project, obj=user, username=user.username)
    membership, _ = Membership.objects.get_or_create(
        project=project, user=user, defaults={"is_annotator": True, "created_at": timezone.now()}
    )
    if not membership.is_annotator:
        membership.is_annotator = True
        membership.save(update_fields=["is_annotator"])
    return user


def _places(
    labeller: _Labeller, trajectories: Sequence[int], rules: Mapping[int, PropagationRules]
) -> dict[int, _Place]:
    rows = Trajectory.objects.filter(pk__in=trajectories).order_by()
    kept = reservations.kept_for(labeller.user.pk, trajectories) if labeller.user else set()
    columns = ("pk", "free_slots", "reserved", "subset", "second_person__state")
    listed = list(rows.values_list(*columns))
    alone = labelled_alone([pk for pk, free, _, _, state in listed if not free and state], labeller.user)
    return {
        pk: _Place(free > reserved or pk in kept, alone.get(pk), rules[subset])
        for pk, free, reserved, subset, _ in listed
    }


def _own(labeller: _Labeller, trajectories: Sequence[int]) -> dict[int, _Own]:
    """The assignments of a person, by trajectory; `labels` is None when they are unfinished."""
    if labeller.user is None:
        return {}
    own: dict[int, _Own] = {}
    values: dict[int, dict[int, int | None]] = {}
    mine = Assignment.objects.filter(annotator=labeller.user, trajectory__in=trajectories).order_by()
    for pk, trajectory, state, imported, outcome in mine.values_list(
        "pk", "trajectory", "state", "imported", "outcome__value"
    ):
        half = imported and state == AssignmentState.OPEN
        finished = state == AssignmentState.SUBMITTED or half
        own[trajectory] = _Own(pk, (values.setdefault(pk, {}), outcome) if finished else None, half)
    labels = Label.objects.filter(assignment__in=values).order_by()
    for pk, index, value in labels.values_list("assignment", "step__message_index", "value"):
        values[pk][index] = value
    return own
