"""Write drafts as rows, a small batch at a time, none of them live."""

import zlib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from django.db import transaction

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.rechecks import sampling
from annotation.core.text import escape
from annotation.core.training.keys import IncompleteKey, key_in
from annotation.core.trajectories.conversation_turns import turns_stand_alone
from annotation.core.trajectories.trajectory import TrajectoryDraft, content_json, step_indexes
from annotation.core.vocabulary import ImportState, QueueTurn
from annotation.importers import RecordError
from annotation.models import (
    EDITED_FORMAT,
    Assignment,
    ImportFile,
    Step,
    Subset,
    Task,
    Trajectory,
    TrajectoryContent,
    in_use,
)

from .. import bulk, training
from ..bulk import insert
from . import lease

MAX_NAME = 255
MAX_POLICY_MODEL = 120
# Fast and small enough: level 6 saves another tenth of the space and costs three times as long.
COMPRESSION = 1
# zlib runs without the interpreter's lock, so that two threads use two cores.
PACKERS = 2


@dataclass(slots=True)
class PreparedDraft:
    """A draft with what is worked out from it once."""

    draft: TrajectoryDraft
    record_id: str
    task_key: str
    content: bytes
    digest: str


@dataclass(slots=True)
class ImportTally:
    """The counts of an import so far. `standalone_turns` counts new records
    (core.trajectories.conversation_turns); `replaced` are the
    pks of the live rows that its rows shall replace. `notes` and `left_out` are those of the reader
    (importers.ReadContext)."""

    created: int = 0
    unchanged: int = 0
    steps: int = 0
    written: int = 0
    standalone_turns: int = 0
    replaced: list[int] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    left_out: set[str] = field(default_factory=set)


def prepare(draft: TrajectoryDraft) -> PreparedDraft:
    """Work out identity, content and digest of a draft, texts escaped for text columns."""
    content = content_json(draft)
    return PreparedDraft(
        draft=draft,
        record_id=escape(draft.record_id),
        task_key=_key(escape(draft.task_key)),
        content=content,
        digest=sha256_hex(content),
    )


def _key(key: str) -> str:
    """Task keys are identities, not texts to read: one that is too long is stood for by its checksum."""
    return key if len(key) <= MAX_NAME else f"sha256:{sha256_hex(key.encode())}"


def write_batch(
    source: ImportFile, batch: Sequence[PreparedDraft], tally: ImportTally, *, done: int
) -> list[RecordError]:
    """Insert a batch in one short transaction and count it; the errors that forbid a record are returned.

    A dozen statements a batch. `done`: how many bytes of the file have been read. Everything
    that needs no lock is done before the transaction begins: on SQLite nobody else can write while it lasts.
    What is looked up there may have changed when the file is published; publishing notices. Raises StaleState
    when the import is no longer ours to go on with.
    """
    fresh, errors = _sort_out(source, batch, tally)
    if fresh and not errors:
        packed = pack(fresh)
        with transaction.atomic():
            lease.renew(source, done)
            # Batches and sweeps of one subset take turns, so that no task is swept that a batch is about to
            # use.
            Subset.objects.select_for_update(no_key=True).get(pk=source.target.pk)
            insert_prepared(source, fresh, packed, tally)
    return errors


def _sort_out(
    source: ImportFile, batch: Sequence[PreparedDraft], tally: ImportTally
) -> tuple[list[PreparedDraft], list[RecordError]]:
    """The records to be written, and what is wrong with others; those that are here already are counted."""
    errors: list[RecordError] = []
    fresh: list[PreparedDraft] = []
    live = _live(source, batch)
    for item in batch:
        before = live.get(item.record_id)
        if source.target.training and (half := _half_a_key(source, item)):
            errors.append(half)
        elif before is None:
            fresh.append(item)
            tally.created += 1
        elif before.content_digest == item.digest or _was_edited(source, item, before):
            tally.unchanged += 1
        else:
            refusal = _refusal(source, item, before)
            if refusal is not None:
                errors.append(refusal)
            else:
                fresh.append(item)
                tally.replaced.append(before.pk)
    tally.standalone_turns += sum(
        turns_stand_alone(item.draft.messages, item.draft.reference_answer) for item in fresh
    )
    return fresh, errors


def _half_a_key(source: ImportFile, item: PreparedDraft) -> RecordError | None:
    """The error of a record in a training subset that labels some steps and not all."""
    draft = item.draft
    try:
        key_in(draft.raw, draft.source_labels, step_indexes(draft.messages))
    except IncompleteKey as error:
        return RecordError(file=source.filename, line=draft.line, field=error.field, reason=error.reason)
    return None


def _was_edited(source: ImportFile, item: PreparedDraft, before: Trajectory) -> bool:
    """Whether a record is what somebody has edited here since: the same file again changes nothing."""
    if source.replace or before.source.format != EDITED_FORMAT:
        return False
    earlier = Trajectory.objects.filter(
        subset=source.target.pk, record_id=item.record_id, live=False, content_digest=item.digest
    )
    return earlier.filter(source__state=ImportState.PUBLISHED).exists()


def pack(fresh: Sequence[PreparedDraft]) -> list[tuple[bytes, bytes]]:
    """Content and raw bytes of each record, compressed."""
    with ThreadPoolExecutor(PACKERS) as pool:
        return list(pool.map(_packed, fresh))


def _packed(item: PreparedDraft) -> tuple[bytes, bytes]:
    return zlib.compress(item.content, COMPRESSION), zlib.compress(item.draft.raw, COMPRESSION)


def _live(source: ImportFile, batch: Sequence[PreparedDraft]) -> dict[str, Trajectory]:
    rows = Trajectory.objects.filter(
        in_use(), subset=source.target.pk, record_id__in=[item.record_id for item in batch]
    ).select_related("source")
    rows = rows.only("pk", "record_id", "content_digest", "source__format")
    return {row.record_id: row for row in rows}


def _refusal(source: ImportFile, item: PreparedDraft, before: Trajectory) -> RecordError | None:
    if not source.replace:
        reason = translatable(
            "{record_id} already exists with different content; import with “replace” to replace it.",
            record_id=item.record_id,
        )
    elif Assignment.stored.filter(trajectory=before).exists():
        reason = translatable(
            "{record_id} has been claimed or labelled and can no longer be replaced.",
            record_id=item.record_id,
        )
    else:
        return None
    return RecordError(file=source.filename, line=item.draft.line, field="record_id", reason=reason)


def insert_prepared(
    source: ImportFile,
    fresh: Sequence[PreparedDraft],
    packed: Sequence[tuple[bytes, bytes]],
    tally: ImportTally,
) -> None:
    """Insert records and all that belongs to them, none of them live yet; `packed` is what `pack` makes."""
    tasks = _tasks(source, fresh)
    steps = [_steps(item.draft) for item in fresh]
    keys = bulk.draw_ids(Trajectory, len(fresh))
    rows = []
    for key, item, own in zip(keys, fresh, steps, strict=True):
        draft = item.draft
        row = {
            "id": key,
            "project_id": source.project_id,
            "subset_id": source.target.pk,
            "task_id": tasks[item.task_key],
            "source_id": source.pk,
            "record_id": item.record_id,
            "data_source": escape(draft.data_source)[:MAX_NAME],
            "query_index": draft.query_index,
            "sample_index": draft.sample_index,
            "policy_model": escape(draft.policy_model)[:MAX_POLICY_MODEL],
            "content_digest": item.digest,
            "message_count": len(draft.messages),
            "step_count": len(own),
            "line": draft.line,
            "live": False,
            "training": False,
            "position": sampling.position(
                seed=source.project.recheck_seed,
                subset=source.target.name,
                record=item.record_id,
                turn=QueueTurn(source.target.turn),
            ),
            "free_slots": source.project.annotators_per_trajectory,
        }
        rows.append(row)
        tally.steps += len(own)
        tally.written += 1
    insert(Trajectory, tuple(rows[0]), [tuple(row.values()) for row in rows])
    insert(
        TrajectoryContent,
        ("trajectory_id", "content", "raw", "raw_sha256", "source_labels"),
        [
            (key, content, raw, sha256_hex(item.draft.raw), _labels(item.draft))
            for key, item, (content, raw) in zip(keys, fresh, packed, strict=True)
        ],
    )
    insert(
        Step,
        ("trajectory_id", "message_index", "ordinal", "after_user_turn"),
        [(key, *step) for key, own in zip(keys, steps, strict=True) for step in own],
    )
    if source.target.training:
        training.read_keys(keys)


def _labels(draft: TrajectoryDraft) -> bytes | None:
    """The labels of another program's file, compressed."""
    if not draft.source_labels:
        return None
    rows = [[label.message, label.name, label.value, label.reason] for label in draft.source_labels]
    return zlib.compress(canonical_json(rows), COMPRESSION)


def _steps(draft: TrajectoryDraft) -> list[tuple[int, int, bool]]:
    """(message index, ordinal, whether a user message stands between the previous step and it) of each
    step."""
    steps: list[tuple[int, int, bool]] = []
    user_turn = False
    for index, message in enumerate(draft.messages):
        role = message.get("role")
        if role == "user":
            user_turn = True
        elif role == "assistant":
            steps.append((index, len(steps), user_turn and bool(steps)))
            user_turn = False
    return steps


def _tasks(source: ImportFile, fresh: Sequence[PreparedDraft]) -> dict[str, int]:
    """Task pks by key, missing tasks made."""
    drafts = {item.task_key: item for item in reversed(fresh)}
    pks = dict(Task.objects.filter(subset=source.target.pk, key__in=drafts).values_list("key", "pk"))
    missing = [
        Task(subset_id=source.target.pk, key=key, question=escape(item.draft.question))
        for key, item in drafts.items()
        if key not in pks
    ]
    if missing:
        Task.objects.bulk_create(missing)
        pks.update((task.key, task.pk) for task in missing)
    return pks
