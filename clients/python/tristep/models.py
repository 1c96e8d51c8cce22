"""What the API takes and answers with, made from its schema by `make client`: do not edit.

They are dictionaries, and these are their keys: for type checkers and editors, nothing is checked when a
program runs. What each field means stands in the schema (/api/v1/schema/, the page /api/ of every server).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Document = dict[str, Any]
"""An object of figures whose keys the schema does not list."""


class Accuracy(TypedDict):
    """The mean share of labels as in the key; its 95 % interval holds however often one looks."""

    trajectories: int
    labels: int
    value: float | None
    low: float
    high: float


class ActionRequest(TypedDict):
    """An action as it is written: a text, calls, or both."""

    text: NotRequired[str]
    calls: NotRequired[list[CallRequest]]


class ActivityRequest(TypedDict):
    """Time at work since the last report."""

    active_ms: int


class AnnotatorGold(TypedDict):
    """An annotator on gold; `accuracy` since they were resumed last."""

    annotator: Person
    membership: int
    given: int
    submitted: int
    accuracy: Accuracy
    last_good: str | None
    paused_at: str | None
    pause_reason: Literal["gold", "admin", ""]


class AnnotatorLabel(TypedDict):
    """A label that one annotator submitted of a step or of the outcome."""

    letter: str
    name: str
    value: Literal[-1, 0, 1] | None
    source: str
    unsure: bool
    flagged: bool
    note: str
    reason: str
    reason_code: str
    root: int | None
    now: Changed | None


class Answer(TypedDict):
    """One call of a judge, as it went over the wire; keys are redacted."""

    id: str
    run: int
    judge: int
    trajectory: int
    attempt: int
    status: int | None
    failure: str
    message: str
    tokens_in: int
    tokens_out: int
    estimated: bool
    cost: str
    latency_ms: int
    tries: int
    notes: dict[str, Any]
    request: str
    response: str
    response_size: int
    created_at: str


class AnswerRequest(TypedDict):
    """The answer to its author; without an answer the remark is only closed."""

    answer: NotRequired[str]


class AnsweredCall(TypedDict):
    """The call that a tool message answers."""

    message_index: int
    position: int


class AssignedCases(TypedDict):
    """The cases that adjudicators have now, and the trajectories (by `id`) of which nobody got the …."""

    cases: list[CaseRow]
    refused: list[Refusal]


class Assignment(TypedDict):
    """One's own turn at one trajectory."""

    id: int
    project: str
    trajectory: int
    record_id: str
    subset: str
    step_count: int
    state: Literal["open", "submitted", "returned", "expired"]
    claimed_at: str
    submitted_at: str | None
    returned_at: str | None
    return_reason: str
    expires_at: str | None
    expiry_reason: Literal["left", "taken_back", "unused", "replaced", ""]
    needs_discussion: bool
    broken: bool


class AssignmentDetail(TypedDict):
    """One's own assignment with its trajectory and all its labels so far."""

    assignment: Assignment
    open: bool
    guideline_version: int
    rules: Rules
    steps: list[StepWithLabel]
    outcome: OutcomeLabel
    trajectory: Trajectory


class Attempt(TypedDict):
    """Somebody's attempt at a test."""

    id: int
    test: int
    annotator: Person
    number: int
    state: Literal["running", "passed", "failed", "stopped"]
    waived: bool
    guideline_version: int
    agreement: float | None
    error_recall: float | None
    first_error: float | None
    begun_at: str
    ended_at: str | None


class AttemptResult(TypedDict):
    """An attempt that is over, and where it differs from the keys."""

    attempt: Attempt
    items: list[ItemResult]


class AuditCase(TypedDict):
    """A case of an audit that one has taken: what is to be decided, and the trajectory."""

    id: int
    to_decide: list[UnnamedLabels]
    trajectory: Trajectory


class AuditEvent(TypedDict):
    """An event of the audit log; no actor means the operator at the command line."""

    id: int
    verb: str
    actor: Person | None
    object_type: str
    object_id: str
    detail: dict[str, Any]
    created_at: str


class AuditPlan(TypedDict):
    """The numbers of draws that prove the wished bound: where nothing is wrong, and where the share …."""

    wished: float
    draws: int | None
    draws_with_errors: int | None
    error: float
    mixed: bool


class AuditRulingRequest(TypedDict):
    """The decision of a step, or with `message_index` null of the outcome."""

    message_index: int | None
    value: Literal[-1, 0, 1]
    note: NotRequired[str]


class AuditRulingsRequest(TypedDict):
    """The decisions of a case: of all that is to be decided."""

    rulings: list[AuditRulingRequest]


class Batch(TypedDict):
    """A batch of requests, and how much of it has been begun."""

    batch: str
    because: Literal["guidelines", "check"]
    version: int
    asked_at: str
    queued: int
    begun: int


class Board(TypedDict):
    """The board of a project."""

    time_zone: str
    people: list[PersonsWork]
    paces: list[Pace]
    outlook: Outlook
    places: int
    trajectories: int
    burn_up: list[BurnUp]
    pay: PayRate | None
    cost: Cost | None


class BurnUp(TypedDict):
    """The sums at the end of a day."""

    day: str
    submitted: int
    resolved: int


class CallRequest(TypedDict):
    """A call of a tool."""

    name: str
    arguments: Any


class Case(TypedDict):
    """One's own case."""

    id: int
    trajectory: int
    record_id: str
    subset: str
    adjudicator: Person
    state: Literal["open", "decided", "released"]
    opened_at: str
    decided_at: str | None
    note: str


class CaseDetail(TypedDict):
    """A case with A and B side by side."""

    case: Case
    annotators: list[Side]
    steps: list[CaseItem]
    outcome: CaseItem | None
    trajectory: Trajectory | None


class CaseItem(TypedDict):
    """One step or the outcome, with the labels and the decision."""

    message_index: int | None
    disputed: bool
    votes: list[AnnotatorLabel]
    consensus: ItemConsensus | None
    decision: Decision | None


class CaseRow(TypedDict):
    """One adjudicator's case in a list, which shows nothing that was said in it."""

    id: int
    trajectory: int
    record_id: str
    subset: str
    adjudicator: Person
    state: Literal["open", "decided", "released"]
    opened_at: str
    decided_at: str | None


class CasesTakenBackRequest(TypedDict):
    """Open cases to hand back in their adjudicators' place."""

    adjudications: list[int]


class ChangeRequest(TypedDict):
    """The whole new content of one label."""

    target: Literal["step", "outcome"]
    message_index: NotRequired[int | None]
    version: int
    value: Literal[-1, 0, 1] | None
    source: NotRequired[Literal["explicit", "propagated"]]
    root: NotRequired[int | None]
    root_pinned: NotRequired[bool]
    closes: NotRequired[Literal["", "corrected", "independent"]]
    unsure: NotRequired[bool]
    flagged: NotRequired[bool]
    note: NotRequired[str]
    reason: NotRequired[str]


class Changed(TypedDict):
    """The present label of an annotator after changes in a discussion."""

    value: Literal[-1, 0, 1]
    root: int | None
    reason_code: str


class ChangedLabel(TypedDict):
    """A step that the prompt labels otherwise than the judge as it is (`old`); null: no label."""

    trajectory: int
    message_index: int
    consensus: Literal[-1, 0, 1]
    old: Literal[-1, 0, 1] | None
    new: Literal[-1, 0, 1] | None
    better: bool | None


class Checked(TypedDict):
    """The faults of an action."""

    faults: list[Fault]
    unchecked: list[str]


class ChosenJudgesRequest(TypedDict):
    """Three judges or more, by their ids."""

    judges: list[int]


class ClaimRequest(TypedDict):
    """The same `claim_key` gives the same assignment again: a double click claims once."""

    claim_key: NotRequired[str]
    resume: NotRequired[bool]


class CloseRequest(TypedDict):
    """A note on the whole case."""

    note: NotRequired[str]


class Comment(TypedDict):
    """One comment; the text of one that was taken back is empty."""

    id: int
    speaker: Speaker
    text: str
    created_at: str
    retracted: bool
    unread: bool


class Connection(TypedDict):
    """A place on an outside server."""

    id: int
    name: str
    kind: Literal["mlflow", "phoenix", "langfuse", "langsmith", "s3", "huggingface", "folder"]
    base_url: str
    key_name: str
    source: str
    filter: str
    format: str
    export_format: str
    subset: str
    push_reasons: bool
    created_at: str


class Correction(TypedDict):
    """A correction; `message` is the right action as it would stand in a record, null without one."""

    id: int
    trajectory: int
    record_id: str
    message_index: int
    step: int
    author: str
    state: Literal["open", "saved", "withdrawn"]
    answer: Literal["action", "nothing_wrong", "no_right_action", ""]
    origin: Literal["sibling", "edited", "written", "judge", ""]
    message: Any
    error_class: Literal["wrong_tool", "wrong_parameters", "should_have_answered", "should_have_called", ""]
    reason: str
    version: int
    proposals_seen_at: str | None
    created_at: str
    saved_at: str | None


class CorrectionDetail(TypedDict):
    """A correction with the history, the wrong action, which is the last step of the messages, and …."""

    correction: Correction
    wrong: Wrong | None
    siblings: list[Sibling]
    trajectory: Trajectory


class CorrectionDraftRequest(TypedDict):
    """The right action."""

    text: NotRequired[str]
    calls: NotRequired[list[CallRequest]]
    version: int
    answer: Literal["action", "nothing_wrong", "no_right_action"]
    origin: NotRequired[Literal["sibling", "edited", "written", "judge"]]
    sibling: NotRequired[int]
    proposal: NotRequired[int]
    error_class: NotRequired[
        Literal["wrong_tool", "wrong_parameters", "should_have_answered", "should_have_called", ""] | None
    ]
    reason: NotRequired[str]
    checked_myself: NotRequired[bool]


class Cost(TypedDict):
    """Annotators' earnings so far, and when all is labelled."""

    so_far: str
    in_all: Forecast


class CrowdLink(TypedDict):
    """A link by which people of a crowd service take places."""

    id: int
    name: str
    url: str
    id_parameter: str
    places: int
    taken: int
    trajectories: int
    minutes: int
    completed_code: str
    screened_code: str
    return_url: str
    closed: bool
    version: str
    created_at: str


class CrowdPlace(TypedDict):
    """Somebody's place of a link, for admins."""

    id: int
    participant: str
    username: str
    state: Literal["active", "completed", "screened_out", "returned", "timed_out", "removed"]
    submitted: int
    active_ms: int
    code: str
    begun_at: str
    expires_at: str
    ended_at: str | None


class DayOfWork(TypedDict):
    """One person's work on one day; there is none of days without work."""

    person: Person
    day: str
    active_seconds: float
    submitted: int
    steps: int
    pay: str | None


class DaysAway(TypedDict):
    """Days on which a member is away, both included."""

    first: str
    last: str


class DecidedCase(TypedDict):
    """A decided case: on how many steps the consensus was wrong, and is corrected."""

    id: int
    wrong: int


class Decision(TypedDict):
    """The decision on a step, or with `message_index` null on the outcome."""

    message_index: int | None
    value: Literal[-1, 0, 1]
    kind: Literal["adjudicated", "majority"]
    root: int | None
    reason: str
    note: str
    version: int
    updated_at: str


class Delivery(TypedDict):
    """An event on its way to a webhook, or there."""

    id: int
    message: str
    event: Literal[
        "assignment.submitted",
        "trajectory.disputed",
        "trajectory.resolved",
        "member.paused",
        "run.finished",
        "release.frozen",
        "webhook.test",
    ]
    object_id: str
    state: Literal["waiting", "delivered", "given_up"]
    attempts: int
    status: int | None
    answer: str
    created_at: str
    tried_at: str | None
    next_at: str | None


class DerivationCounts(TypedDict):
    """The counts of a derivation, as far as they apply to its recipe."""

    items: int
    tasks: int
    histories: NotRequired[int]
    pairs: NotRequired[int]
    left_out: NotRequired[int]
    shared: NotRequired[int]
    first_errors: NotRequired[int]
    with_sibling: NotRequired[int]
    uncorrected: NotRequired[int]
    corrected: NotRequired[int]
    nothing_wrong: NotRequired[int]
    no_right_action: NotRequired[int]
    runs: NotRequired[int]
    successful: NotRequired[int]
    clean: NotRequired[int]
    steps: NotRequired[int]
    with_later: NotRequired[int]
    too_few_options: NotRequired[int]
    unfit: NotRequired[int]
    repeats: NotRequired[int]


class DerivationPreview(TypedDict):
    """A preview of a derivation."""

    counts: DerivationCounts
    annotators: int
    needed: int
    too_few: int


class Difference(TypedDict):
    """A label that is not the key's; `number` null: the outcome, `own` null: it was not labelled."""

    number: int | None
    own: Literal[-1, 0, 1] | None
    key: Literal[-1, 0, 1]
    reason: str
    note: str


class Discarded(TypedDict):
    """The number of discarded files."""

    discarded: int


class Discussion(TypedDict):
    """A discussion with its threads."""

    discussion: DiscussionRow
    voice: Literal["annotator", "adjudicator", "admin"] | None
    letter: str
    open: bool
    frozen_in: str | None
    mentions: list[str]
    unread: int
    annotators: list[Side]
    threads: list[Thread]


class DiscussionRow(TypedDict):
    """One discussion in a list: nothing that was said in it."""

    id: int
    project: str
    trajectory: int
    record_id: str
    subset: str
    state: Literal["labelling", "unanimous", "disputed", "adjudicated", "judged"]
    opened_at: str
    changed_at: str


class Dispute(TypedDict):
    """A disputed trajectory that nobody has taken, and how its annotators differ: in how many steps …."""

    trajectory: int
    record_id: str
    subset: str
    step_count: int
    kinds: list[Literal["sign_flip", "neutral_boundary", "first_error", "outcome_only"]]
    disputed_steps: int
    sign_flips: int
    neutral_boundaries: int
    first_error: bool
    outcome: bool
    arisen_at: str


class EditedOption(TypedDict):
    """An option by the index of its message; `number` counts from 1 in the stored order."""

    message_index: int
    number: int
    text: str
    calls: list[OptionCall]


class Error(TypedDict):
    """Every error has this shape."""

    error: ErrorDetail


class ErrorDetail(TypedDict):
    """An error."""

    code: str
    message: str
    fields: dict[str, str]
    details: Any


class Estimate(TypedDict):
    """The estimate of a run."""

    trajectories: int
    tokens_in: int
    tokens_out: int
    cost: str
    clipped: int
    sampled: int
    too_long: int


class Example(TypedDict):
    """A case that teaches."""

    id: int
    title: str
    text: str
    question: str
    excerpt: str
    number: int | None
    steps: int
    value: Literal[-1, 0, 1]
    origin: Literal["", "unanimous", "discussed", "adjudicated", "majority", "one_person", "judged"]
    reason: str
    created_at: str
    trajectory: int | None
    adjudication: int | None
    message_index: int | None
    hidden: Literal["", "blind", "changed"]


class ExpectedRequest(TypedDict):
    """Queue it; `expected` is the number that one was shown."""

    expected: int


class Experiment(TypedDict):
    """`seed` null: nothing is randomised."""

    randomised: bool
    seed: int | None
    locked: bool
    unit: str | None
    arms: list[str]
    tasks: dict[str, int]
    dealt: dict[str, int]


class Failed(TypedDict):
    """A trajectory without a suggestion, and why."""

    trajectory: int
    record_id: str
    failure: str
    message: str
    answer: str | None


class FailureKind(TypedDict):
    """The number of failures of a kind, with one sentence about it."""

    kind: str
    count: int
    message: str


class FalsePass(TypedDict):
    """The chance that a rule passes, with its 95 % interval; `as_they_are`: it does on all of these …."""

    judge: str
    chance: float
    low: float
    high: float
    as_they_are: bool
    too_likely: bool


class Fault(TypedDict):
    """A fault of an action, by its field."""

    field: str
    message: str


class FeedbackGiven(TypedDict):
    """Steps in their order, the outcome last."""

    feedback: list[OneFeedback]


class FirstError(TypedDict):
    """A first error that waits for a correction; `id` names it when it is taken."""

    id: int
    trajectory: int
    record_id: str
    subset: str
    message_index: int
    reason_code: str


class Fitted(TypedDict):
    """The data of a fit: resolved steps that the judge has labelled."""

    steps: int
    tasks: int
    seed: int
    version: str


class Forecast(TypedDict):
    """An expected value with its 95 % interval; without it, `reason` says why."""

    value: float | None
    low: float | None
    high: float | None
    reason: str
    interval_reason: str


class Found(TypedDict):
    """A text in which the words stand."""

    kind: Literal["step", "note", "reason", "comment", "decision", "remark"]
    trajectory: int
    record_id: str
    message_index: int | None
    page: str
    page_id: int
    before: str
    words: str
    after: str


class Freeze(TypedDict):
    """A release on its way."""

    id: int
    state: Literal["queued", "running", "frozen", "failed", "cancelled"]
    version: str
    title: str
    licence: str
    note: str
    leave_out: list[str]
    difficulty: list[float] | None
    progress: FreezeProgress
    error: str
    release: NotRequired[str | None]
    created_at: str
    finished_at: str | None


class FreezeProgress(TypedDict):
    """The progress of a freeze, in records read."""

    done: int
    total: int


class GoldMade(TypedDict):
    """The gold that was made, and the items of which none was."""

    made: list[int]
    refused: list[Refusal]


class Guideline(TypedDict):
    """One version of the guidelines, in Markdown; the newest is in force."""

    version: int
    text: str
    created_at: str


class HistoryEntry(TypedDict):
    """One thing that happened, by whom as far as one may know, `about` a step (by `message_index`), …."""

    at: str
    kind: str
    about: Literal["step", "outcome", "whole"]
    message_index: int | None
    voice: Literal["annotator", "adjudicator", "admin"] | None
    letter: str
    name: str
    own: bool
    value: Literal[-1, 0, 1] | None
    note: str
    detail: dict[str, Any]


class Import(TypedDict):
    """One file on its way into a subset."""

    id: int
    state: Literal["uploaded", "queued", "running", "published", "failed", "abandoned"]
    subset: NotRequired[str]
    filename: str
    format: str
    sha256: str
    size: int
    replace: bool
    progress: ImportProgress
    created_count: int
    unchanged_count: int
    replaced_count: int
    step_count: int
    error: str
    error_count: int
    created_at: str
    finished_at: str | None


class ImportDetail(TypedDict):
    """With its errors: the first 1,000 are listed, `error_count` counts all."""

    id: int
    state: Literal["uploaded", "queued", "running", "published", "failed", "abandoned"]
    subset: NotRequired[str]
    filename: str
    format: str
    sha256: str
    size: int
    replace: bool
    progress: ImportProgress
    created_count: int
    unchanged_count: int
    replaced_count: int
    step_count: int
    error: str
    error_count: int
    created_at: str
    finished_at: str | None
    notes: list[ImportNote]
    left_out: list[str]
    policy_models: dict[str, str]
    offers_suspension: bool
    options: dict[str, Any]
    errors: list[ImportError_]


class ImportError_(TypedDict):
    """One thing that is wrong with a file."""

    line: int
    field: str
    reason: str


class ImportNote(TypedDict):
    """Something that the reader met in the file, and how often."""

    what: str
    count: int


class ImportPreview(TypedDict):
    """A preview of a file from its beginning."""

    format: str
    recognised_by: str
    certainty: float
    whole: bool
    trajectories: int
    steps: int
    labelled: int
    notes: list[ImportNote]
    left_out: list[str]
    errors: list[ImportError_]
    first: PreviewedTrajectory | None


class ImportProgress(TypedDict):
    """The progress of an import, in bytes read."""

    done: int
    total: int


class Invitation(TypedDict):
    """A one-time link with which its bearer may become a member."""

    id: int
    email: str
    name: str
    state: Literal["pending", "accepted", "declined", "withdrawn", "expired"]
    roles: list[Literal["annotator", "adjudicator", "admin"]]
    created_at: str
    expires_at: str
    accepted_at: str | None
    declined_at: str | None
    revoked_at: str | None


class InvitationAnswerRequest(TypedDict):
    """The last part of an invitation's link, and what one says to it."""

    token: str
    answer: Literal["accept", "decline"]


class IssuedInvitation(TypedDict):
    """An invitation just made: the only answer that contains its link."""

    id: int
    email: str
    name: str
    state: Literal["pending", "accepted", "declined", "withdrawn", "expired"]
    roles: list[Literal["annotator", "adjudicator", "admin"]]
    created_at: str
    expires_at: str
    accepted_at: str | None
    declined_at: str | None
    revoked_at: str | None
    url: str


class IssuedSecret(TypedDict):
    """A secret just made; no other answer contains it."""

    secret: str
    old_secret_until: str


class IssuedToken(TypedDict):
    """A token just made: the only answer that contains the secret."""

    id: int
    name: str
    prefix: str
    scope: Literal["read", "label", "admin"]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    token: str


class IssuedWebhook(TypedDict):
    """A webhook just made: the only answer that contains its secret."""

    id: int
    name: str
    url: str
    events: list[
        Literal[
            "assignment.submitted",
            "trajectory.disputed",
            "trajectory.resolved",
            "member.paused",
            "run.finished",
            "release.frozen",
        ]
    ]
    paused: bool
    pause_reason: Literal["", "admin", "failing", "gone", "forbidden"]
    failures: int
    old_secret_until: str | None
    version: str
    created_at: str
    secret: str


class ItemConsensus(TypedDict):
    """The resolved label of a step, or the resolved outcome; `root` is the message at which the …."""

    value: Literal[-1, 0, 1]
    kind: Literal["unanimous", "discussed", "adjudicated", "majority", "one_person", "judged"]
    root: int | None
    reason_code: str


class ItemOptions(TypedDict):
    """The options of an item, and what ends when it is replaced: the submitted labels of so many …."""

    kind: Literal["pair", "choice", "completion"]
    options: list[EditedOption]
    submitted: int
    open: int
    left: int
    needed: int


class ItemResult(TypedDict):
    """One item of an attempt; `labels` counts those of its key."""

    trajectory: int
    record_id: str
    labels: int
    differences: list[Difference]


class ItemWithSuggestions(TypedDict):
    """One step or the outcome with all there is about it."""

    message_index: int | None
    disputed: bool
    votes: list[AnnotatorLabel]
    consensus: ItemConsensus | None
    suggestions: list[NamedJudgeSuggestion]


class ItemsOfResolvedRequest(TypedDict):
    """Resolved trajectories to make training items of."""

    trajectories: list[int]


class Judge(TypedDict):
    """A judge."""

    id: int
    project: str
    name: str
    kind: Literal["openai_compatible", "baseline", "imported"]
    sampling: dict[str, Any]
    suggestions: int
    locked: bool
    training: Training | None
    created_at: str
    retired_at: str | None
    version: str
    model: str
    base_url: str
    key_name: str
    prompt_version: str
    context_tokens: int
    structured_output: str
    with_reference: bool
    price_input: str
    price_output: str
    price_cached: str | None
    rate_per_minute: int | None
    concurrency: int
    timeout_seconds: int


class JudgeCoverage(TypedDict):
    """A judge on the release, in records: `suggested`; of the others `failed` and `pending`, which …."""

    judge: int
    name: str
    suggested: int
    failed: int
    pending: int
    prediction_set: NotRequired[int | None]


class JudgeNameRequest(TypedDict):
    """The judge whose suggestions the labels become."""

    judge: str


class JudgeSuggestion(TypedDict):
    """The suggestion of one judge."""

    judge: str
    value: Literal[-1, 0, 1] | None
    recalibrated: Literal[-1, 0, 1] | None
    reason: str


class JudgeToScoreRequest(TypedDict):
    """A judge of the project."""

    judge: int


class JudgedAudit(TypedDict):
    """The agreement of people with the judges: of the `drawn` trajectories, `done` are resolved by …."""

    drawn: int
    done: int
    agreed: int
    share: float | None
    low: float
    high: float


class JudgesFirst(TypedDict):
    """A summary of what judges settled before people were asked, and of people's agreement with it."""

    judged: int
    dropped: int
    people: int
    waiting: int
    audit: JudgedAudit


class KeyLabel(TypedDict):
    """A label of a key; `message_index` null: that of the outcome."""

    message_index: NotRequired[int | None]
    value: Literal[-1, 0, 1]
    reason: str
    note: str
    origin: Literal["file", "consensus", "edited"]


class KeyedTrajectory(TypedDict):
    """A training trajectory."""

    trajectory: int
    record_id: str
    subset: str


class Label(TypedDict):
    """A step's label."""

    value: Literal[-1, 0, 1] | None
    unsure: bool
    flagged: bool
    note: str
    reason: str
    version: int
    message_index: int
    source: Literal["explicit", "propagated"] | None
    root: int | None
    root_pinned: bool
    closes: Literal["", "corrected", "independent"]


class LabelAudit(TypedDict):
    """An audit of a project's labels."""

    id: int
    state: Literal["running", "ended"]
    wished: float
    mixed: bool
    begun_at: str
    ended_at: str | None


class LabelChange(TypedDict):
    """One label that is not the same in both; the outcome has neither message nor step."""

    message_index: int | None
    step: int | None
    before: ReleasedLabel | None
    after: ReleasedLabel | None


class LabelInList(TypedDict):
    """The label of one annotator: the blind value, and the present one after discussion where they …."""

    annotator: str
    value: Literal[-1, 0, 1]
    after_discussion: Literal[-1, 0, 1] | None
    reason: str
    note: str


class LabelPreview(TypedDict):
    """A preview of a label file from its beginning."""

    records: int
    steps: int
    whole: bool
    lines: list[PreviewedLine]
    errors: list[ImportError_]


class LabelUploadRequest(TypedDict):
    """A label file with its options."""

    annotator: NotRequired[str]
    name: NotRequired[str]
    subset: NotRequired[str]
    preview: NotRequired[bool]
    file: str


class LabelsOfStep(TypedDict):
    """One step with the labels that a figure compares; `message_index` is null for an outcome."""

    trajectory: int
    record_id: str
    subset: str
    message_index: int | None
    text: str
    labels: list[LabelInList]


class LastRead(TypedDict):
    """The last comment that one has read now."""

    last_read: int


class LeavePlaceRequest(TypedDict):
    """The way out of one's place."""

    act: Literal["finish", "return"]


class LeftOut(TypedDict):
    """A trace or record that did not come along."""

    id: str
    reason: str


class Limits(TypedDict):
    """The quotas of a member, and their days away."""

    quotas: list[Quota]
    days_away: list[DaysAway]
    version: str


class LookAgain(TypedDict):
    """The preview of the queue (`ready` assignments of `trajectories`, by `people`), the number left …."""

    ready: int
    trajectories: int
    people: int
    left_out: dict[str, int]
    versions: list[Version]
    batches: list[Batch]


class Marked(TypedDict):
    """The example that was made."""

    id: int


class MarksRequest(TypedDict):
    """One's marks on the trajectory as a whole."""

    needs_discussion: bool
    broken: bool


class Me(TypedDict):
    """The signed-in person."""

    username: str
    display_name: str
    email: str
    time_zone: str
    language: str
    theme: str
    mail_notices: bool
    is_superuser: bool
    memberships: list[MyMembership]


class Member(TypedDict):
    """A person's part in a project."""

    id: int
    user: Person
    roles: list[Literal["annotator", "adjudicator", "admin"]]
    version: str
    tutorial_done_at: str | None
    tutorial_skipped: bool
    created_at: str


class Message(TypedDict):
    """One message, made ready to be shown; a message with the role `assistant` is a step."""

    index: int
    role: str
    is_step: bool
    content: str
    parts: list[Part]
    tool_calls: list[ToolCall]
    tool_call_id: str | None
    name: str | None
    answers: AnsweredCall | None
    usage: Usage | None


class MoreDrawsRequest(TypedDict):
    """Draws to add to an audit."""

    draws: int


class MyDiscussion(TypedDict):
    """One of one's own discussions; `unread` counts the comments of others that one has not read."""

    id: int
    project: str
    trajectory: int
    record_id: str
    subset: str
    state: Literal["labelling", "unanimous", "disputed", "adjudicated", "judged"]
    opened_at: str
    changed_at: str
    comments: int
    unread: int


class MyMembership(TypedDict):
    """One of one's own memberships."""

    project: str
    name: str
    roles: list[Literal["annotator", "adjudicator", "admin"]]


class NamedJudgeSuggestion(TypedDict):
    """The suggestion of one judge; `value` null: none."""

    judge: str
    value: Literal[-1, 0, 1] | None
    recalibrated: Literal[-1, 0, 1] | None
    reason: str
    comment: str


class NewAssignmentRequest(TypedDict):
    """Disputed trajectories to assign, and their adjudicator."""

    trajectories: list[int]
    adjudicator: NotRequired[str]


class NewCaseRequest(TypedDict):
    """A disputed trajectory to take."""

    trajectory: int


class NewCommentRequest(TypedDict):
    """A comment."""

    message_index: NotRequired[int | None]
    text: str


class NewConnectionRequest(TypedDict):
    """A connection to be made."""

    name: str
    base_url: str
    key_name: NotRequired[str]
    source: str
    filter: NotRequired[str]
    format: NotRequired[str]
    export_format: NotRequired[str]
    subset: str
    push_reasons: NotRequired[bool]
    kind: Literal["mlflow", "phoenix", "langfuse", "langsmith", "s3", "huggingface", "folder"]


class NewCorrectionRequest(TypedDict):
    """The first error to take; the next one without."""

    first_error: NotRequired[int]


class NewCrowdLinkRequest(TypedDict):
    """A link to be made."""

    name: str
    id_parameter: NotRequired[str]
    places: int
    trajectories: int
    minutes: int
    completed_code: str
    screened_code: str
    return_url: NotRequired[str]


class NewDaysAwayRequest(TypedDict):
    """Days on which a member is to be away, both included."""

    first: str
    last: str


class NewDecisionRequest(TypedDict):
    """A decision on a disputed step, or with `message_index` null on the outcome."""

    message_index: int | None
    note: NotRequired[str]
    version: NotRequired[int]
    root: NotRequired[int | None]
    reason: NotRequired[str]
    value: Literal[-1, 0, 1]


class NewDerivationRequest(TypedDict):
    """Derive decisions from a release into a set."""

    fewer: NotRequired[bool]
    successful: NotRequired[bool]
    language: NotRequired[Literal["en", "zh"]]
    into: str
    set: str
    recipe: Literal["shared", "first-error", "next-step", "first-error-step", "next-call", "final-answer"]
    seed: NotRequired[int]
    options: NotRequired[int]
    anyway: NotRequired[bool]


class NewExampleRequest(TypedDict):
    """A case, or a step of it, and the lesson."""

    adjudication: int
    message_index: NotRequired[int | None]
    title: str
    text: str


class NewGoldRequest(TypedDict):
    """Training items, and the subset among whose trajectories copies of them are dealt."""

    items: list[int]
    subset: str


class NewGuidelineRequest(TypedDict):
    """The guidelines from now on."""

    text: str
    based_on: NotRequired[int]


class NewInvitationRequest(TypedDict):
    """Whom to invite, and as what."""

    email: NotRequired[str]
    name: NotRequired[str]
    roles: list[Literal["annotator", "adjudicator", "admin"]]


class NewJudgeRequest(TypedDict):
    """A judge to be made."""

    model: NotRequired[str]
    base_url: NotRequired[str]
    key_name: NotRequired[str]
    prompt_version: NotRequired[Literal["decision-v1", "v3", "v2", "v1"]]
    context_tokens: NotRequired[int]
    structured_output: NotRequired[Literal["auto", "json_schema", "json_object", "none"]]
    with_reference: NotRequired[bool]
    price_input: NotRequired[str]
    price_output: NotRequired[str]
    price_cached: NotRequired[str | None]
    rate_per_minute: NotRequired[int | None]
    concurrency: NotRequired[int]
    timeout_seconds: NotRequired[int]
    sampling: NotRequired[SamplingRequest]
    name: str
    kind: Literal["openai_compatible", "baseline", "imported"]


class NewLabelAuditRequest(TypedDict):
    """An audit to begin."""

    wished: float
    draws: int
    mixed: NotRequired[bool]


class NewMajorityRequest(TypedDict):
    """A disputed step (null: the outcome) left to the majority, and the reason."""

    message_index: int | None
    note: NotRequired[str]
    version: NotRequired[int]
    root: NotRequired[int | None]
    reason: NotRequired[str]


class NewOptionRequest(TypedDict):
    """One option as it shall be: one of the item (`message_index`), with another text where `text` …."""

    message_index: NotRequired[int]
    text: NotRequired[str]
    key: NotRequired[Literal[-1, 0, 1] | None]


class NewOptionsRequest(TypedDict):
    """All options that the item shall have; one that is not named is taken out."""

    options: list[NewOptionRequest]
    ends: NotRequired[int]


class NewPilotRequest(TypedDict):
    """A training subset, which needs no key, and the α to reach."""

    subset: str
    bound: float
    new_guidelines: NotRequired[bool]


class NewProjectRequest(TypedDict):
    """A new project; without a slug it is made from the name."""

    name: str
    description: NotRequired[str]
    annotators_per_trajectory: NotRequired[int]
    second_reader: NotRequired[Literal["person", "judges"]]
    claim_limit: NotRequired[int]
    claim_days: NotRequired[int | None]
    retest_percent: NotRequired[int]
    retest_days: NotRequired[int]
    gold_percent: NotRequired[int]
    gold_bound: NotRequired[int]
    suggestion_policy: NotRequired[Literal["after_label", "after_submit", "always", "never"]]
    show_reference_answer: NotRequired[bool]
    show_reward_hints: NotRequired[bool]
    carry_forward: NotRequired[bool]
    judges_first: NotRequired[bool]
    judged_sample: NotRequired[int]
    pay_rate: NotRequired[str | None]
    pay_currency: NotRequired[str]
    pay_per: NotRequired[Literal["hour", "trajectory"]]
    slug: NotRequired[str]
    kind: NotRequired[Literal["steps", "decisions"]]
    guidelines: NotRequired[str]
    template: NotRequired[Literal["benchmark", "gold", "triage", "assisted"]]
    copy_from: NotRequired[str]
    training_examples: NotRequired[bool]


class NewPromptsRequest(TypedDict):
    """Make prompts of a release under a name."""

    name: str
    shots: NotRequired[int]
    seed: NotRequired[int]
    split: NotRequired[float]
    tokens: NotRequired[int]
    templates: NotRequired[dict[str, str]]


class NewProposalRequest(TypedDict):
    """A judge's proposal for one first error."""

    text: NotRequired[str]
    calls: NotRequired[list[CallRequest]]
    trajectory: int
    message_index: int
    answer: Literal["action", "nothing_wrong", "no_right_action"]
    error_class: NotRequired[
        Literal["wrong_tool", "wrong_parameters", "should_have_answered", "should_have_called", ""]
    ]
    reason: NotRequired[str]


class NewProposalsRequest(TypedDict):
    """A judge's proposals for several first errors."""

    proposals: list[NewProposalRequest]


class NewQuotaRequest(TypedDict):
    """A quota; null: any number."""

    subset: str
    most: int | None


class NewReleaseRequest(TypedDict):
    """Freeze everything that is resolved now."""

    version: str
    title: NotRequired[str]
    licence: NotRequired[str]
    note: NotRequired[str]
    leave_out: NotRequired[list[str]]
    difficulty: NotRequired[list[float] | None]


class NewRemarkRequest(TypedDict):
    """A remark on a step of one's own assignment, or without `message_index` on the whole."""

    text: str
    message_index: NotRequired[int | None]


class NewReservationsRequest(TypedDict):
    """Trajectories to assign, and to whom."""

    annotators: NotRequired[list[str]]
    trajectories: list[int]
    evenly: NotRequired[bool]


class NewRevisionRequest(TypedDict):
    """A change of mind, and why."""

    message_index: NotRequired[int | None]
    value: Literal[-1, 0, 1]
    note: str
    root: NotRequired[int | None]
    reason: NotRequired[str]
    version: NotRequired[int]


class NewRunRequest(TypedDict):
    """A run to be started."""

    judge: int
    subset: NotRequired[str]
    state: NotRequired[Literal["labelling", "unanimous", "disputed", "adjudicated", "judged", ""]]
    policy_model: NotRequired[str]
    limit: NotRequired[int | None]
    release: NotRequired[str]
    options: NotRequired[int | None]
    prompts: NotRequired[str]
    budget: NotRequired[str | None]


class NewSampleRequest(TypedDict):
    """The size of a sample of resolved trajectories, and the seed of its drawing."""

    size: int
    seed: NotRequired[int]


class NewSubsetRequest(TypedDict):
    """A new, empty subset."""

    name: str
    suspend_on_user_turn: NotRequired[bool]


class NewTestRequest(TypedDict):
    """A test: at least ten training trajectories, by id, and at least one mark."""

    trajectories: list[int]
    agreement: NotRequired[float | None]
    error_recall: NotRequired[float | None]
    first_error: NotRequired[float | None]
    attempts: NotRequired[int]
    wait_hours: NotRequired[int]
    each_guideline: NotRequired[bool]
    per_attempt: NotRequired[int | None]


class NewTokenRequest(TypedDict):
    """The purpose of a token, and its days of validity."""

    name: str
    days: NotRequired[int]
    scope: NotRequired[Literal["read", "label", "admin"]]


class NewTrainingExamplesRequest(TypedDict):
    """The language of the explanations."""

    language: NotRequired[Literal["en", "zh-hans"]]


class NewTrainingSubsetRequest(TypedDict):
    """A new subset, or one that nobody has worked on."""

    name: str


class NewTransferRequest(TypedDict):
    """A pull or push to be done."""

    direction: Literal["pull", "push"]
    dry: NotRequired[bool]
    versions: NotRequired[bool]
    subset: NotRequired[str]
    release: NotRequired[str]


class NewTriageRequest(TypedDict):
    """Without a batch size the project's own counts; without a seed, one is drawn."""

    batch_size: NotRequired[int]
    seed: NotRequired[int]


class NewTrialRequest(TypedDict):
    """A prompt to try, and what it may cost at most."""

    prompt_version: Literal["v1", "v2", "v3", "decision-v1"]
    budget: NotRequired[str | None]


class NewTutorialRequest(TypedDict):
    """The items from now on, by the ids of training trajectories, in their order; none ends the …."""

    trajectories: list[int]


class NewWebhookRequest(TypedDict):
    """A webhook to be made."""

    name: str
    url: str
    events: list[
        Literal[
            "assignment.submitted",
            "trajectory.disputed",
            "trajectory.resolved",
            "member.paused",
            "run.finished",
            "release.frozen",
        ]
    ]


class Notice(TypedDict):
    """A notice: of a discussion (`message_index` null: of the whole trajectory), of a claim of one's …."""

    id: int
    kind: Literal[
        "opened",
        "comment",
        "mention",
        "revision",
        "resolved",
        "reopened",
        "claim_warned",
        "claim_ended",
        "case_given",
        "look_again",
        "remark",
        "answered",
        "corrected",
        "paused",
        "resumed",
        "pilot_begun",
        "pilot_ended",
        "webhook",
    ]
    project: str
    discussion: int | None
    assignment: int | None
    adjudication: int | None
    remark: int | None
    membership: int | None
    webhook: int | None
    record_id: str
    message_index: int | None
    comment: int | None
    created_at: str
    read_at: str | None


class OneFeedback(TypedDict):
    """Feedback on one step, or with `message_index` null what is said of the outcome."""

    message_index: int | None
    first: Literal[-1, 0, 1]
    key: Literal[-1, 0, 1]
    right: bool
    reason: str
    note: str
    topic: str
    cases: list[str]


class OpenClaim(TypedDict):
    """An unfinished assignment of somebody, as admins see it: no labels."""

    id: int
    annotator: Person
    trajectory: int
    record_id: str
    subset: str
    step_count: int
    done: int
    claimed_at: str
    last_used_at: str
    expires_at: str | None


class OpensRequest(TypedDict):
    """A subset, by name, and whether the test is needed for it from now on."""

    subset: str
    needed: NotRequired[bool]


class OptionCall(TypedDict):
    """A call of an option."""

    name: str
    arguments: str


class OutcomeLabel(TypedDict):
    """The outcome's label."""

    value: Literal[-1, 0, 1] | None
    unsure: bool
    flagged: bool
    note: str
    reason: str
    version: int


class Outlook(TypedDict):
    """The work that is left, and its end at the pace of the last 8 weeks."""

    left: int
    claimed: int
    free: int
    days: Forecast
    end: str | None
    earliest: str | None
    latest: str | None


class OutsideNumbers(TypedDict):
    """Numbers of models that come from elsewhere, by the names of models."""

    title: str
    numbers: dict[str, float]


class OwnConsensus(TypedDict):
    """The consensus beside one's own labels."""

    why_not: str
    lines: list[OwnConsensusLine]


class OwnConsensusLine(TypedDict):
    """One step, or with `message_index` null the outcome: one's own label and the resolved one."""

    message_index: int | None
    own: Literal[-1, 0, 1] | None
    consensus: Literal[-1, 0, 1]
    kind: Literal["unanimous", "discussed", "adjudicated", "majority", "one_person", "judged"]
    reason_code: str


class OwnPlace(TypedDict):
    """One's own place; the id stands in no answer."""

    id: int
    state: Literal["active", "completed", "screened_out", "returned", "timed_out", "removed"]
    submitted: int
    trajectories: int
    expires_at: str
    code: str
    return_url: str


class OwnWork(TypedDict):
    """One's own part of it."""

    time_zone: str
    own: PersonsWork
    paces: list[Pace]
    pay: PayRate | None


class Pace(TypedDict):
    """The pace of the last days, today being one of them."""

    days: int
    active_hours: float
    submitted: int
    submitted_a_day: float
    submitted_an_hour: float | None
    steps_an_hour: float | None


class Part(TypedDict):
    """A piece of a message: text, an image as a data URI, or anything else as JSON text."""

    kind: Literal["text", "image", "other"]
    text: str
    media_type: str | None
    data: str | None


class PatchedConnectionSettingsRequest(TypedDict):
    """Settings of a connection; what is left out stays."""

    name: NotRequired[str]
    base_url: NotRequired[str]
    key_name: NotRequired[str]
    source: NotRequired[str]
    filter: NotRequired[str]
    format: NotRequired[str]
    export_format: NotRequired[str]
    subset: NotRequired[str]
    push_reasons: NotRequired[bool]


class PatchedCrowdLinkChangeRequest(TypedDict):
    """Changes to a link; what is left out stays."""

    name: NotRequired[str]
    id_parameter: NotRequired[str]
    places: NotRequired[int]
    trajectories: NotRequired[int]
    minutes: NotRequired[int]
    completed_code: NotRequired[str]
    screened_code: NotRequired[str]
    return_url: NotRequired[str]
    closed: NotRequired[bool]
    version: NotRequired[str]


class PatchedJudgeChangesRequest(TypedDict):
    """Changed settings of a judge."""

    model: NotRequired[str]
    base_url: NotRequired[str]
    key_name: NotRequired[str]
    prompt_version: NotRequired[Literal["decision-v1", "v3", "v2", "v1"]]
    context_tokens: NotRequired[int]
    structured_output: NotRequired[Literal["auto", "json_schema", "json_object", "none"]]
    with_reference: NotRequired[bool]
    price_input: NotRequired[str]
    price_output: NotRequired[str]
    price_cached: NotRequired[str | None]
    rate_per_minute: NotRequired[int | None]
    concurrency: NotRequired[int]
    timeout_seconds: NotRequired[int]
    sampling: NotRequired[SamplingRequest]
    name: NotRequired[str]
    version: NotRequired[str]


class PatchedLimitsChangeRequest(TypedDict):
    """Changes to the limits; what is left out stays."""

    quotas: NotRequired[list[NewQuotaRequest]]
    days_away: NotRequired[list[NewDaysAwayRequest]]
    version: NotRequired[str]


class PatchedMeChangeRequest(TypedDict):
    """One's own settings; what is left out stays."""

    display_name: NotRequired[str]
    email: NotRequired[str]
    time_zone: NotRequired[str]
    language: NotRequired[str]
    theme: NotRequired[Literal["light", "dark", ""]]
    mail_notices: NotRequired[bool]


class PatchedMemberChangeRequest(TypedDict):
    """The roles from now on."""

    roles: NotRequired[list[Literal["annotator", "adjudicator", "admin"]]]
    version: NotRequired[str]


class PatchedProjectChangeRequest(TypedDict):
    """Settings; what is left out stays."""

    name: NotRequired[str]
    description: NotRequired[str]
    annotators_per_trajectory: NotRequired[int]
    second_reader: NotRequired[Literal["person", "judges"]]
    claim_limit: NotRequired[int]
    claim_days: NotRequired[int | None]
    retest_percent: NotRequired[int]
    retest_days: NotRequired[int]
    gold_percent: NotRequired[int]
    gold_bound: NotRequired[int]
    suggestion_policy: NotRequired[Literal["after_label", "after_submit", "always", "never"]]
    show_reference_answer: NotRequired[bool]
    show_reward_hints: NotRequired[bool]
    carry_forward: NotRequired[bool]
    judges_first: NotRequired[bool]
    judged_sample: NotRequired[int]
    pay_rate: NotRequired[str | None]
    pay_currency: NotRequired[str]
    pay_per: NotRequired[Literal["hour", "trajectory"]]
    version: NotRequired[str]


class PatchedQualificationsChangeRequest(TypedDict):
    """Changes to the notes; what is left out stays."""

    degree: NotRequired[Literal["none", "bachelor", "master", "doctorate", ""]]
    field: NotRequired[str]
    years: NotRequired[int | None]
    languages: NotRequired[str]
    pay_rate: NotRequired[str | None]
    version: NotRequired[str]


class PatchedSetOutsideNumbersRequest(TypedDict):
    """Numbers under a title; null takes one away, and models that are not named keep theirs."""

    title: NotRequired[str]
    numbers: NotRequired[dict[str, float | None]]


class PatchedSetPublicAddressRequest(TypedDict):
    """New switches of the public address; those left out stay."""

    is_open: NotRequired[bool]
    shows_leaderboard: NotRequired[bool]
    may_be_indexed: NotRequired[bool]


class PatchedSubsetChangeRequest(TypedDict):
    """The effect of user messages on the propagation rule, and when its trajectories come; what is …."""

    suspend_on_user_turn: NotRequired[bool]
    turn: NotRequired[Literal["first", "normal", "last"]]
    version: NotRequired[str]


class PatchedTagNameRequest(TypedDict):
    """The new name of a tag; with that of another, the two become one."""

    name: NotRequired[str]


class PatchedTestChangeRequest(TypedDict):
    """Changes to a test and to its trajectories; what is left out stays."""

    trajectories: NotRequired[list[int]]
    agreement: NotRequired[float | None]
    error_recall: NotRequired[float | None]
    first_error: NotRequired[float | None]
    attempts: NotRequired[int]
    wait_hours: NotRequired[int]
    each_guideline: NotRequired[bool]
    per_attempt: NotRequired[int | None]


class PatchedWebhookChangeRequest(TypedDict):
    """Changes to a webhook; what is left out stays."""

    name: NotRequired[str]
    url: NotRequired[str]
    events: NotRequired[
        list[
            Literal[
                "assignment.submitted",
                "trajectory.disputed",
                "trajectory.resolved",
                "member.paused",
                "run.finished",
                "release.frozen",
            ]
        ]
    ]
    paused: NotRequired[bool]
    version: NotRequired[str]


class PayRate(TypedDict):
    """The rate of pay."""

    rate: str
    currency: str
    per: str


class Person(TypedDict):
    """A person as others see them."""

    username: str
    display_name: str


class PersonsWork(TypedDict):
    """The work of one person."""

    person: Person
    in_all: Work
    imported: int
    open: int
    expiring: int
    returned: int
    last_active: str | None
    pay: str | None


class Pilot(TypedDict):
    """A pilot, and how far it is."""

    subset: str
    state: Literal["running", "passed", "stopped"]
    bound: float
    new_guidelines: bool
    size: int
    people: list[PilotPerson]
    alpha: dict[str, Any]
    begun_at: str
    ended_at: str | None


class PilotPerson(TypedDict):
    """An annotator, and how much of the pilot they have submitted."""

    annotator: Person
    done: int


class PredictionImport(TypedDict):
    """The result of an import."""

    prediction_set: PredictionSet
    created: int
    unchanged: int
    missing: int
    invalid: int
    failed: int
    superseded: int
    elsewhere: int
    unlabelled: int


class PredictionSet(TypedDict):
    """The predictions of one model for a release; the figures stand in the leaderboard."""

    id: int
    version: str
    model: str
    prompt_version: str
    judged_on: str | None
    cost: str | None
    judge: int | None
    records: int
    created_at: str
    updated_at: str


class PredictionSetDetail(TypedDict):
    """With its scores in detail."""

    id: int
    version: str
    model: str
    prompt_version: str
    judged_on: str | None
    cost: str | None
    judge: int | None
    records: int
    created_at: str
    updated_at: str
    scores: dict[str, Any]


class PredictionUploadRequest(TypedDict):
    """A file with its options."""

    model: str
    subset: NotRequired[str]
    strict: NotRequired[bool]
    prompt_version: NotRequired[str]
    judged_on: NotRequired[str]
    cost: NotRequired[str]
    file: str


class PreviewedLine(TypedDict):
    """A line of a label file, without its labels."""

    line: int
    record_id: str
    steps: int


class PreviewedTrajectory(TypedDict):
    """The first trajectory, as it would be imported."""

    record_id: str
    task_key: str
    policy_model: str
    question: str
    reference_answer: Any
    messages: Any
    tools: Any
    hints: Any


class ProficiencyTest(TypedDict):
    """A test of a project."""

    number: int
    agreement: float | None
    error_recall: float | None
    first_error: float | None
    attempts: int
    wait_hours: int
    each_guideline: bool
    per_attempt: int | None
    size: int
    passed: int
    failed: int
    opens: list[str]
    created_at: str


class Progress(TypedDict):
    """The progress of a project."""

    all: SubsetProgress
    subsets: list[SubsetProgress]
    second_reading: SecondReading | None


class Project(TypedDict):
    """A project and its settings."""

    slug: str
    kind: Literal["steps", "decisions"]
    name: str
    description: str
    annotators_per_trajectory: int
    second_reader: Literal["person", "judges"]
    claim_limit: int
    claim_days: int | None
    retest_percent: int
    retest_days: int
    gold_percent: int
    gold_bound: int
    suggestion_policy: Literal["after_label", "after_submit", "always", "never"]
    show_reference_answer: bool
    show_reward_hints: bool
    carry_forward: bool
    judges_first: bool
    judged_sample: int
    pay_rate: str | None
    pay_currency: str
    pay_per: Literal["hour", "trajectory"]
    version: str
    created_at: str


class PromptCounts(TypedDict):
    """The counts of a set."""

    test: int
    train: int
    cut: int
    too_long: int
    too_long_named: list[list[str]]
    fewer_shots: int
    not_asked: dict[str, int]
    most_tokens: int
    test_tokens: int
    groups: list[PromptGroup]


class PromptGroup(TypedDict):
    """Questions that share their examples."""

    subset: str
    kind: str
    language: str
    test: int
    train: int
    cut: int
    too_long: int
    fewer_shots: int


class PromptOptions(TypedDict):
    """The requested options."""

    shots: int
    seed: int
    split: float
    tokens: int
    templates: dict[str, str]
    version: str


class PromptProgress(TypedDict):
    """The progress, in records read; each is read twice."""

    done: int
    total: int


class PromptSet(TypedDict):
    """The prompts of a release under one name."""

    name: str
    state: Literal["queued", "running", "made", "failed"]
    options: PromptOptions
    progress: PromptProgress
    error: str
    counts: PromptCounts | None
    digest: str
    created_at: str
    finished_at: str | None


class Proposal(TypedDict):
    """A judge's proposal."""

    id: int
    judge: str
    answer: Literal["action", "nothing_wrong", "no_right_action"]
    message: Any
    error_class: Literal["wrong_tool", "wrong_parameters", "should_have_answered", "should_have_called", ""]
    reason: str


class ProposedItems(TypedDict):
    """Training trajectories, by id."""

    trajectories: list[int]


class PublicAddress(TypedDict):
    """The switches of a release's public address."""

    is_open: bool
    shows_leaderboard: bool
    may_be_indexed: bool
    address: str


class Qualifications(TypedDict):
    """The notes of admins on a member; empty or null: nothing."""

    degree: str
    field: str
    years: int | None
    languages: str
    pay_rate: str | None
    version: str


class QueueRequest(TypedDict):
    """Queue what fits the filters; `expected` is the number that one was shown."""

    expected: int
    version: NotRequired[str]
    subset: NotRequired[str]
    value: NotRequired[str]
    reason: NotRequired[str]
    kind: NotRequired[str]


class Queued(TypedDict):
    """The batch that was queued."""

    batch: str


class Quota(TypedDict):
    """The most trajectories of a subset that a member may have."""

    subset: str
    most: int


class RandomisationRequest(TypedDict):
    """Without a seed, one is drawn; without a number of arms, there are three."""

    arms: NotRequired[int]
    seed: NotRequired[int]


class ReadingRequest(TypedDict):
    """The last comment of a thread that one has read."""

    message_index: NotRequired[int | None]
    comment: int


class Recalibration(TypedDict):
    """`steps`, `tasks`: what there is to fit on at this moment; `lacking`: what is missing, empty …."""

    on: bool
    steps: int
    tasks: int
    lacking: str
    fitted: Fitted | None
    fitted_at: str | None
    consensus: dict[str, Any]
    blind: dict[str, Any]


class RecalibrationSwitchRequest(TypedDict):
    """On, or off."""

    on: bool


class ReceivedArchive(TypedDict):
    """The imports of an archive's files."""

    imports: list[Import]
    refused: list[RefusedMember]


class RecordChange(TypedDict):
    """One record that is not the same in two releases."""

    subset: str
    record_id: str
    policy_model: str
    what: list[str]
    labels: list[LabelChange]
    hidden: bool


class Refusal(TypedDict):
    """One of the chosen rows with which nothing was done, and why."""

    id: int
    record_id: str
    code: str
    message: str


class RefusedMember(TypedDict):
    """A file of an archive that was not received."""

    filename: str
    reason: str


class RefusedProposal(TypedDict):
    """One that was refused, and why."""

    trajectory: int
    message_index: int
    code: str
    message: str


class Release(TypedDict):
    """A frozen release."""

    version: str
    number: int
    note: str
    digest: str
    record_count: int
    label_count: int
    created_at: str
    withdrawal: dict[str, Any] | None


class ReleaseDetail(TypedDict):
    """With its manifest: counts, distributions, agreement figures, versions, every file's sha256, …."""

    version: str
    number: int
    note: str
    digest: str
    record_count: int
    label_count: int
    created_at: str
    withdrawal: dict[str, Any] | None
    manifest: dict[str, Any]
    signature: dict[str, Any]


class ReleasedCases(TypedDict):
    """The cases that were handed back, and those of which nothing was done."""

    released: list[int]
    refused: list[Refusal]


class ReleasedLabel(TypedDict):
    """One label of a release: its value, how it was reached, the message at which its error began, …."""

    value: int
    kind: str
    root: int | None
    reason: str


class Remark(TypedDict):
    """A remark of an annotator, and its answer (empty: closed without one, or open)."""

    id: int
    assignment: int
    trajectory: int
    record_id: str
    annotator: str
    message_index: NotRequired[int | None]
    step: int | None
    text: str
    created_at: str
    answer: str
    closed_at: str | None


class ReplacedItem(TypedDict):
    """The trajectory that has taken the place of the item; the item itself where nothing was changed."""

    trajectory: int


class Reservation(TypedDict):
    """A place that is kept for an annotator."""

    trajectory: int
    record_id: str
    annotator: str
    created_at: str


class Reservations(TypedDict):
    """The assigned places now, and the trajectories (by `id`) of which somebody got no place."""

    assigned: list[Reservation]
    refused: list[Refusal]


class ReservationsWithdrawnRequest(TypedDict):
    """Trajectories that are to be assigned to these people no more."""

    annotators: NotRequired[list[str]]
    trajectories: list[int]


class ResumeRequest(TypedDict):
    """The total budget of the run from now on; left out, the budget stays as it is."""

    budget: NotRequired[str | None]


class ReturnRequest(TypedDict):
    """The reason for giving a trajectory back unfinished."""

    reason: str


class RevealRequest(TypedDict):
    """The suggestions to reveal: exactly one of the three."""

    message_index: NotRequired[int]
    outcome: NotRequired[bool]
    all: NotRequired[bool]


class Revealed(TypedDict):
    """The proposals of judges for a first error."""

    proposals: list[Proposal]


class RevealedItem(TypedDict):
    """One step, or with `message_index` null the outcome."""

    message_index: int | None
    suggestions: list[JudgeSuggestion]


class Reveals(TypedDict):
    """Steps in their order, the outcome last."""

    revealed: list[RevealedItem]


class Revised(TypedDict):
    """One's label now."""

    message_index: int | None
    previous: Literal[-1, 0, 1] | None
    value: Literal[-1, 0, 1]
    version: int
    created_at: str


class Revision(TypedDict):
    """One change of mind: from `previous` to `value`, and why."""

    speaker: Speaker
    previous: Literal[-1, 0, 1] | None
    value: Literal[-1, 0, 1]
    root: int | None
    reason: str
    note: str
    created_at: str


class Rules(TypedDict):
    """The settings of the propagation rule in force."""

    suspend_on_user_turn: bool
    carry_forward: bool
    propagates: bool


class Run(TypedDict):
    """One judge over many trajectories."""

    id: int
    judge: RunJudge
    state: Literal["queued", "running", "paused", "cancelled", "finished", "stopped", "over_budget"]
    selection: dict[str, Any]
    options: int | None
    distractors: Written | None
    prompts: NotRequired[str | None]
    release: NotRequired[str | None]
    budget: str | None
    cost: str
    cost_estimated: bool
    progress: RunProgress
    tokens_in: int
    tokens_out: int
    calls: int
    clipped: int
    labels_missing: int
    labels_invalid: int
    labels_extra: int
    labels_order_dependent: int
    stop_reason: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class RunDetail(TypedDict):
    """A run as it stands."""

    id: int
    judge: RunJudge
    state: Literal["queued", "running", "paused", "cancelled", "finished", "stopped", "over_budget"]
    selection: dict[str, Any]
    options: int | None
    distractors: Written | None
    prompts: NotRequired[str | None]
    release: NotRequired[str | None]
    budget: str | None
    cost: str
    cost_estimated: bool
    progress: RunProgress
    tokens_in: int
    tokens_out: int
    calls: int
    clipped: int
    labels_missing: int
    labels_invalid: int
    labels_extra: int
    labels_order_dependent: int
    stop_reason: str
    created_at: str
    started_at: str | None
    finished_at: str | None
    per_minute: float | None
    seconds_left: float | None
    draining: bool
    waiting_until: str | None
    failures: list[FailureKind]


class RunJudge(TypedDict):
    """The judge of a run."""

    id: int
    name: str


class RunProgress(TypedDict):
    """Trajectories of a run."""

    done: int
    failed: int
    total: int


class Said(TypedDict):
    """The comment that was made or taken back."""

    id: int
    created_at: str
    retracted_at: str | None


class Sample(TypedDict):
    """A fixed sample of resolved trajectories that the judge has suggestions for."""

    id: int
    judge: int
    seed: int
    created_at: str


class SampleWithPrompts(TypedDict):
    """`prompts`: figures of the judge as it is (`own`), then of each prompt that was tried."""

    id: int
    judge: int
    seed: int
    created_at: str
    trajectories: list[int]
    prompts: list[dict[str, Any]]


class SamplingRequest(TypedDict):
    """Sampling parameters of each request; the judge's server decides those left out."""

    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    max_tokens: NotRequired[int | None]
    seed: NotRequired[int | None]
    extra: NotRequired[dict[str, Any]]


class SaveResult(TypedDict):
    """The result of one change, and the label as it is now."""

    target: Literal["step", "outcome"] | None
    message_index: int | None
    status: Literal["saved", "stale", "refused"]
    reason: str
    label: dict[str, Any] | None


class SaveShapeRequest(TypedDict):
    """The shape of a batch in the schema."""

    op_id: str
    changes: list[ChangeRequest]
    known_versions: NotRequired[int]


class Saved(TypedDict):
    """The results of a batch in its order, and labels as they are now (`known_versions` says which)."""

    op_id: str
    results: list[SaveResult]
    labels: list[Label]
    outcome: OutcomeLabel


class ScoredJudge(TypedDict):
    """The result of scoring a judge, in records."""

    prediction_set: PredictionSet
    created: int
    unchanged: int
    failed: int
    absent: int
    changed: int
    gone: int
    missing: int


class SecondReading(TypedDict):
    """The saving of judges as the second reader."""

    made_from: int
    doubly_labelled: int
    judges: int
    waiting: int
    spared: int
    asked: int
    labels_a_trajectory: float | None
    hours: float | None


class SeenCount(TypedDict):
    """The number of notices that were new until now."""

    seen: int


class SeenRequest(TypedDict):
    """The newest notice that was seen; older ones count as seen too."""

    notice: int


class SelectionRequest(TypedDict):
    """A selection of trajectories: those that fit all of it and have no suggestion of the judge yet."""

    judge: int
    subset: NotRequired[str]
    state: NotRequired[Literal["labelling", "unanimous", "disputed", "adjudicated", "judged", ""]]
    policy_model: NotRequired[str]
    limit: NotRequired[int | None]
    release: NotRequired[str]
    options: NotRequired[int | None]


class SendBackRequest(TypedDict):
    """Trajectories by their ids; left out: all that judges have settled."""

    trajectories: NotRequired[list[int]]


class SentBack(TypedDict):
    """The number of trajectories that went to people."""

    sent: int


class Settlement(TypedDict):
    """Verdicts on trajectories, counted."""

    judged: int
    dropped: int
    people: int
    claimed: int
    lacking: int
    waiting: int


class Sibling(TypedDict):
    """A right action of other runs at the same history; `id` names it when it is taken."""

    id: int
    message: Any
    runs: int


class Side(TypedDict):
    """One annotator's part."""

    letter: str
    name: str
    state: str


class SideBySide(TypedDict):
    """All labels of one trajectory side by side, and what judges suggest, for admins."""

    trajectory: int
    state: Literal["labelling", "unanimous", "disputed", "adjudicated", "judged"]
    annotators: list[Side]
    steps: list[ItemWithSuggestions]
    outcome: ItemWithSuggestions


class SinceCheck(TypedDict):
    """The submissions of a member since `last_good`, their last good gold, and a few submissions …."""

    last_good: str | None
    since: str | None
    ready: int
    resolved: int
    disputed: int
    hidden: int
    left_out: dict[str, int]
    refusal: str
    batches: list[Batch]


class Speaker(TypedDict):
    """A speaker: an annotator as their letter, others as their role; `name` is empty for those who …."""

    voice: Literal["annotator", "adjudicator", "admin"]
    letter: str
    name: str
    own: bool


class Standing(TypedDict):
    """The standing of a person before a test; `size` is the number of items of an attempt, `done` …."""

    state: Literal["passed", "running", "ready", "waiting", "used_up"]
    left: int
    size: int
    done: int
    next_at: str | None
    attempts: list[Attempt]


class StepWithLabel(TypedDict):
    """A step with its label, and with what the propagation rule reads of the step."""

    value: Literal[-1, 0, 1] | None
    unsure: bool
    flagged: bool
    note: str
    reason: str
    version: int
    message_index: int
    source: Literal["explicit", "propagated"] | None
    root: int | None
    root_pinned: bool
    closes: Literal["", "corrected", "independent"]
    ordinal: int
    after_user_turn: bool


class StoredProposals(TypedDict):
    """The number of stored proposals, and what was refused."""

    stored: int
    refused: list[RefusedProposal]


class Subset(TypedDict):
    """A named part of a project's data."""

    name: str
    suspend_on_user_turn: bool
    turn: Literal["first", "normal", "last"]
    version: str
    created_at: str


class SubsetProgress(TypedDict):
    """Trajectories by where they stand."""

    name: str
    by_state: dict[str, int]
    total: int
    resolved: int
    steps: int


class SuggestionImport(TypedDict):
    """The result of an import."""

    created: int
    unchanged: int
    labels: int
    missing: int
    invalid: int
    extra: int
    failed: int


class SuggestionUploadRequest(TypedDict):
    """A file with its options."""

    subset: NotRequired[str]
    file: str


class Tag(TypedDict):
    """A tag, and on how many trajectories the caller sees it."""

    id: int
    name: str
    trajectories: int


class TagChangeRequest(TypedDict):
    """Trajectories, and the tag that they get or lose."""

    trajectories: list[int]
    add: NotRequired[str]
    remove: NotRequired[str]


class TagsChanged(TypedDict):
    """The trajectories that got or lost the tag, and those of which nothing was done (`tagged`, …."""

    changed: list[int]
    refused: list[Refusal]


class TakeBackRequest(TypedDict):
    """Unfinished assignments to end, and the reason; the annotators read it in their lists of work."""

    assignments: list[int]
    reason: NotRequired[str]


class TakenBack(TypedDict):
    """The assignments that ended, and those of which nothing was done."""

    expired: list[int]
    refused: list[Refusal]


class TakenCase(TypedDict):
    """The case that was taken."""

    id: int


class TestDetail(TypedDict):
    """A test, its items, and the chance of a false pass."""

    test: ProficiencyTest
    items: list[KeyedTrajectory]
    false_passes: list[FalsePass]


class Thread(TypedDict):
    """The discussion of one step, or with `message_index` null of the whole trajectory and its outcome."""

    message_index: int | None
    disputed: bool
    votes: list[AnnotatorLabel]
    consensus: ItemConsensus | None
    now: dict[str, Literal[-1, 0, 1] | None]
    disputed_now: bool
    version: int
    unread: int
    comments: list[Comment]
    revisions: list[Revision]


class Token(TypedDict):
    """A personal token; the secret itself is never shown again."""

    id: int
    name: str
    prefix: str
    scope: Literal["read", "label", "admin"]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class ToolCall(TypedDict):
    """A call: its arguments as they were written, and as JSON when they parse."""

    id: str | None
    name: str
    arguments_raw: str
    arguments: Any
    parsed: bool
    origin: Literal["tool_calls", "text"]


class Training(TypedDict):
    """The training data of a baseline."""

    demo: bool
    until: str
    steps: int
    trajectories: int
    tasks: int
    folds: int
    seed: int
    digest: str
    figures: list[TrainingFigure]


class TrainingFigure(TypedDict):
    """A measure on tasks that were not trained on, beside that of `compared_with`: saying +1 to …."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    reason: str
    reference: float | None
    compared_with: Literal["always_plus_one", "shares"]


class TrainingItem(TypedDict):
    """A training trajectory, and what it is used for."""

    id: int
    record_id: str
    step_count: int
    labels: int
    key_errors: int
    whole: bool
    in_tutorial: bool
    tests: int
    as_gold: bool


class TrainingItemsMade(TypedDict):
    """The items that were made, and the trajectories of which none was."""

    made: list[int]
    refused: list[Refusal]


class TrainingKey(TypedDict):
    """The key of a training item."""

    missing: int
    labels: list[KeyLabel]


class TrainingSubset(TypedDict):
    """A training subset, and how much of it is ready and used."""

    name: str
    items: int
    keyed: int
    used: int


class Trajectory(TypedDict):
    """One trajectory."""

    id: int
    record_id: str
    subset: str
    task: str
    seen_as: Literal["annotator", "adjudicator", "corrector", "admin"]
    question: str
    task_description: Any
    tools: list[Any]
    message_count: int
    usage: Usage
    messages: list[Message]
    answer_text: str | None
    policy_model: str | None
    reference_answer: Any
    hints: Any


class TrajectoryRow(TypedDict):
    """A trajectory in the admins' list."""

    id: int
    record_id: str
    subset: str
    task: str
    question: str
    policy_model: str
    state: Literal["labelling", "unanimous", "disputed", "adjudicated", "judged"]
    free_slots: int | None
    reserved: int | None
    message_count: int
    step_count: int
    tags: list[str]


class Transfer(TypedDict):
    """A pull or push."""

    id: int
    direction: Literal["pull", "push"]
    dry: bool
    versions: bool
    subset: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress_done: int
    counts: dict[str, int]
    left_out: list[LeftOut]
    files: list[TransferredFile]
    release: NotRequired[str | None]
    error: str
    import_id: int | None
    created_at: str
    finished_at: str | None


class TransferredFile(TypedDict):
    """A file of a store, and what became of it: `new` or `changed` when it was pulled, `written` there."""

    name: str
    what: str
    records: NotRequired[dict[str, int]]
    imports: NotRequired[list[int]]
    bytes: NotRequired[int]


class Triage(TypedDict):
    """`seed` null: an order of chance."""

    seed: int | None
    batch_size: int
    waiting: int
    found: dict[str, Any]


class Triaged(TypedDict):
    """The result of a triage."""

    moved: int
    contested: int
    unanimous: int
    unscored: int
    seed: int
    batch_size: int


class TrialEstimateRequest(TypedDict):
    """A prompt that may be tried."""

    prompt_version: Literal["v1", "v2", "v3", "decision-v1"]


class Tutorial(TypedDict):
    """The items of the tutorial in their order."""

    items: list[TutorialItem]


class TutorialItem(TypedDict):
    """An item of the tutorial."""

    trajectory: int
    record_id: str
    subset: str
    place: int


class UnnamedLabels(TypedDict):
    """Three labels of a step (`message_index` null: of the outcome) in an order drawn by chance: the …."""

    message_index: int | None
    labels: list[int]


class UploadFormRequest(TypedDict):
    """A file with its options."""

    subset: NotRequired[str]
    format: NotRequired[
        Literal[
            "agentprocessbench",
            "anthropic",
            "aptbench",
            "atif",
            "claude_code",
            "codex",
            "inspect",
            "langchain",
            "langfuse",
            "mini_swe_agent",
            "mlflow",
            "openai_chat",
            "openai_responses",
            "openhands",
            "opentelemetry",
            "plan_rewardbench",
            "sharegpt",
            "swe_agent",
            "tau2_bench",
            "tau_bench",
            "toolprmbench",
            "tristep_decision",
            "who_and_when",
        ]
    ]
    replace: NotRequired[bool]
    policy_models: NotRequired[str]
    preview: NotRequired[bool]
    task_key_at: NotRequired[str]
    policy_model_at: NotRequired[str]
    redact: NotRequired[bool]
    file: str


class Usage(TypedDict):
    """The cost of a step, or of all steps together, by the log; null where it does not say."""

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None


class Verification(TypedDict):
    """The result of verifying a release against its freezing."""

    ok: bool
    records: int
    labels: int
    digest: str
    problems: list[str]
    signature: Literal["valid", "unknown_key", "invalid"]
    fingerprint: str


class Version(TypedDict):
    """The work under one version."""

    version: int
    assignments: int
    trajectories: int


class Webhook(TypedDict):
    """An address that is told of the project's events."""

    id: int
    name: str
    url: str
    events: list[
        Literal[
            "assignment.submitted",
            "trajectory.disputed",
            "trajectory.resolved",
            "member.paused",
            "run.finished",
            "release.frozen",
        ]
    ]
    paused: bool
    pause_reason: Literal["", "admin", "failing", "gone", "forbidden"]
    failures: int
    old_secret_until: str | None
    version: str
    created_at: str


class WithdrawRequest(TypedDict):
    """The reason for withdrawing a release."""

    reason: str


class WithdrawalRequest(TypedDict):
    """A decision to take back, and the version it has."""

    message_index: int | None
    version: int


class Withdrawn(TypedDict):
    """The trajectories that are assigned no more, and those of which nothing was done."""

    withdrawn: list[int]
    refused: list[Refusal]


class Work(TypedDict):
    """Time at work, and what was submitted."""

    active_seconds: float
    submitted: int


class Written(TypedDict):
    """Counts of a run that asks for distractors: options `added`, actions `refused` by reason, …."""

    added: int
    refused: dict[str, int]
    short: int
    changed: int


class Wrong(TypedDict):
    """The reasons why the action was wrong, by the consensus."""

    kind: str
    reason_code: str
    note: str


class AdjudicationsRetrieveQuery(TypedDict):
    """Read a case."""

    messages_from: NotRequired[int]
    messages_limit: NotRequired[int]


class AssignmentsRetrieveQuery(TypedDict):
    """Open an assignment."""

    messages_from: NotRequired[int]
    messages_limit: NotRequired[int]


class AuditCasesRetrieveQuery(TypedDict):
    """Read a case of an audit."""

    messages_from: NotRequired[int]
    messages_limit: NotRequired[int]


class CorrectionsRetrieveQuery(TypedDict):
    """Read a correction."""

    messages_from: NotRequired[int]
    messages_limit: NotRequired[int]


class JudgesRecalibrationRetrieveQuery(TypedDict):
    """Read a judge's recalibration."""

    run: NotRequired[int]


class JudgesSuggestionsCreateQuery(TypedDict):
    """Import suggestions."""

    filename: NotRequired[str]
    subset: NotRequired[str]


class ProjectsAgreementRetrieveQuery(TypedDict):
    """Read agreement figures."""

    arm: NotRequired[str]
    by: NotRequired[
        Literal[
            "arm", "exposure", "guideline", "kind", "model", "pair", "position", "source", "subset", "week"
        ]
    ]
    exposure: NotRequired[str]
    guideline: NotRequired[str]
    kind: NotRequired[str]
    model: NotRequired[str]
    pair: NotRequired[str]
    position: NotRequired[str]
    source: NotRequired[str]
    subset: NotRequired[str]
    week: NotRequired[str]


class ProjectsAgreementStepsListQuery(TypedDict):
    """List the steps behind a number."""

    annotator: NotRequired[str]
    arm: NotRequired[str]
    changed: NotRequired[str]
    differ: NotRequired[str]
    exposure: NotRequired[str]
    figure: NotRequired[str]
    first_error: NotRequired[str]
    guideline: NotRequired[str]
    kind: NotRequired[str]
    labels: NotRequired[str]
    model: NotRequired[str]
    of: NotRequired[str]
    pair: NotRequired[str]
    place: NotRequired[str]
    position: NotRequired[str]
    reason: NotRequired[str]
    sort: NotRequired[Literal["-difference", "-record", "-step", "difference", "record", "step"]]
    source: NotRequired[str]
    subset: NotRequired[str]
    value: NotRequired[str]
    week: NotRequired[str]
    when: NotRequired[str]


class ProjectsAssignmentsListQuery(TypedDict):
    """List my assignments."""

    state: NotRequired[Literal["open", "submitted", "returned", "expired"]]


class ProjectsCorrectionsListQuery(TypedDict):
    """List corrections."""

    state: NotRequired[Literal["active", "open", "saved", "withdrawn"]]


class ProjectsDisputesListQuery(TypedDict):
    """List disputes."""

    age: NotRequired[Literal["1d", "7d", "30d"]]
    kind: NotRequired[Literal["sign_flip", "neutral_boundary", "first_error", "outcome_only"]]
    size: NotRequired[Literal["1", "2-4", "5+"]]
    sort: NotRequired[Literal["oldest", "newest", "most", "fewest", "gravest"]]
    subset: NotRequired[str]


class ProjectsHoursListQuery(TypedDict):
    """List days of work."""

    days: NotRequired[int]
    person: NotRequired[str]


class ProjectsImportsCreateQuery(TypedDict):
    """Import a file."""

    filename: NotRequired[str]
    format: NotRequired[str]
    policy_model_at: NotRequired[str]
    policy_models: NotRequired[str]
    preview: NotRequired[bool]
    redact: NotRequired[bool]
    replace: NotRequired[bool]
    subset: NotRequired[str]
    task_key_at: NotRequired[str]


class ProjectsImportsArchiveCreateQuery(TypedDict):
    """Import an archive of files."""

    filename: NotRequired[str]
    format: NotRequired[str]
    policy_model_at: NotRequired[str]
    policy_models: NotRequired[str]
    preview: NotRequired[bool]
    redact: NotRequired[bool]
    replace: NotRequired[bool]
    subset: NotRequired[str]
    task_key_at: NotRequired[str]


class ProjectsImportsLabelsCreateQuery(TypedDict):
    """Import a person's labels."""

    annotator: NotRequired[str]
    filename: NotRequired[str]
    name: NotRequired[str]
    preview: NotRequired[bool]
    subset: NotRequired[str]


class ProjectsLabelAuditsPlanRetrieveQuery(TypedDict):
    """Plan an audit of labels."""

    mixed: NotRequired[bool]
    wished: float


class ProjectsLookAgainRetrieveQuery(TypedDict):
    """Preview what to look at again."""

    kind: NotRequired[str]
    reason: NotRequired[str]
    subset: NotRequired[str]
    value: NotRequired[str]
    version: NotRequired[str]


class ProjectsReleasesAllZipRetrieveQuery(TypedDict):
    """Download all files of a release."""

    blind_labels: NotRequired[Literal["false", "true"]]
    format: NotRequired[
        Literal[
            "agentprocessbench",
            "aptbench",
            "huggingface",
            "parquet",
            "toolprmbench",
            "training",
            "tristep_decision",
            "trl_preference",
        ]
    ]
    protocol: NotRequired[Literal["independent", "propagated"]]
    seed: NotRequired[str]
    split: NotRequired[str]
    zero: NotRequired[Literal["cut", "false", "merge", "true"]]


class ProjectsReleasesDecisionsRetrieveQuery(TypedDict):
    """Preview derived decisions."""

    fewer: NotRequired[bool]
    into: str
    language: NotRequired[Literal["en", "zh"]]
    options: NotRequired[int]
    recipe: Literal["shared", "first-error", "next-step", "first-error-step", "next-call", "final-answer"]
    seed: NotRequired[int]
    successful: NotRequired[bool]


class ProjectsReleasesDiffChangesListQuery(TypedDict):
    """List what changed between two releases."""

    subset: NotRequired[str]
    what: NotRequired[Literal["added", "fields", "labels", "outcome", "reasons", "removed", "text"]]


class ProjectsReleasesLeaderboardRetrieveQuery(TypedDict):
    """Read the leaderboard."""

    by: NotRequired[Literal["questions", "pairs"]]


class ProjectsReleasesPredictionsCreateQuery(TypedDict):
    """Import predictions."""

    cost: NotRequired[str]
    filename: NotRequired[str]
    judged_on: NotRequired[str]
    model: NotRequired[str]
    prompt_version: NotRequired[str]
    subset: NotRequired[str]


class ProjectsReleasesPredictionsRetrieveQuery(TypedDict):
    """Read a prediction set."""

    by: NotRequired[Literal["questions", "pairs"]]


class ProjectsRemarksListQuery(TypedDict):
    """List remarks."""

    state: NotRequired[Literal["open", "closed", "all"]]


class ProjectsRunsListQuery(TypedDict):
    """List runs."""

    judge: NotRequired[int]


class ProjectsSearchListQuery(TypedDict):
    """Search in a project."""

    kind: NotRequired[Literal["step", "note", "reason", "comment", "decision", "remark"]]
    q: str


class ProjectsSizePlanRetrieveQuery(TypedDict):
    """Plan the size of the benchmark."""

    runs: NotRequired[int]
    tasks: NotRequired[int]


class ProjectsTestsProposalRetrieveQuery(TypedDict):
    """Propose items for a test."""

    size: NotRequired[int]


class ProjectsTrajectoriesListQuery(TypedDict):
    """List trajectories."""

    policy_model: NotRequired[str]
    record_id: NotRequired[str]
    state: NotRequired[Literal["labelling", "unanimous", "disputed", "adjudicated", "judged"]]
    subset: NotRequired[str]
    tag: NotRequired[str]


class ProjectsWebhooksDeliveriesListQuery(TypedDict):
    """List the deliveries of a webhook."""

    state: NotRequired[Literal["waiting", "delivered", "given_up"]]


class SamplesChangesListQuery(TypedDict):
    """List the labels that a prompt changes."""

    prompt_version: Literal["v1", "v2", "v3", "decision-v1"]


class TrajectoriesRetrieveQuery(TypedDict):
    """Read a trajectory."""

    messages_from: NotRequired[int]
    messages_limit: NotRequired[int]
    once: NotRequired[bool]


class TrajectoriesAtifRetrieveQuery(TypedDict):
    """Export a trajectory as ATIF."""

    reveal: NotRequired[bool]


class TrajectoriesHistoryListQuery(TypedDict):
    """Read the history of a step."""

    everything: NotRequired[bool]
    message_index: NotRequired[int]
    reveal: NotRequired[bool]


class TrajectoriesJudgementsRetrieveQuery(TypedDict):
    """Read all labels of a trajectory."""

    messages_from: NotRequired[int]
    messages_limit: NotRequired[int]
    reveal: NotRequired[bool]


class TrajectoriesRawRetrieveQuery(TypedDict):
    """Download the record."""

    reveal: NotRequired[bool]
