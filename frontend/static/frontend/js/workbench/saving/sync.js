// @ts-check
/**
 * Unsaved changes and the answers to them. Pure, like reducer.js: the batches and the answers, not the sending.
 *
 * One batch is under way at a time. It carries an op_id, so that sending it again changes nothing, and for every
 * label the version it is based on; the server refuses a stale one by itself and keeps the others. What was
 * changed both here and elsewhere is merged label by label.
 */

import { NO_LABEL, labelOf, sameLabel } from "../state/labels.js";
import { agree, merge } from "../state/merge.js";
import { labelAt } from "../state/selectors.js";
import { settle } from "../state/reducer.js";

/** @typedef {import("../state/reducer.js").State} State */
/** @typedef {import("../state/labels.js").Key} Key */
/** @typedef {import("../state/labels.js").Label} Label */
/** @typedef {import("../state/labels.js").Labels} Labels */
/** @typedef {{op_id: string, changes: object[], known_versions?: number}} Body what is posted */
/** @typedef {{body: Body, sent: ReadonlyMap<Key, Label>, base: ReadonlyMap<Key, Label>}} Batch */
/** @typedef {{results?: any[], labels: any[], outcome: any}} Answer */

/**
 * All dirty labels, as one batch in the order of the steps (a root goes before its fills); null when
 * there is nothing to save.
 * @param {State} state
 * @param {string} opId
 * @returns {Batch | null}
 */
export function nextBatch(state, opId) {
  if (!state.dirty.size) return null;
  /** @type {Map<Key, Label>} */
  const sent = new Map();
  /** @type {Map<Key, Label>} */
  const base = new Map();
  const changes = [];
  for (const key of [...state.steps.map((step) => step.index), /** @type {const} */ ("outcome")]) {
    if (!state.dirty.has(key)) continue;
    const label = labelAt(state, key);
    sent.set(key, label);
    base.set(key, state.base.get(key) ?? NO_LABEL);
    const target = key === "outcome" ? { target: key, message_index: null } : { target: "step", message_index: key };
    changes.push({ ...target, version: state.versions.get(key) ?? 0, ...sentForm(label) });
  }
  return { body: { op_id: opId, changes, known_versions: knownVersions(state) }, sent, base };
}

/**
 * The sum of all versions that are known: while it is right, the server answers with what changes and no more.
 * @param {State} state
 */
export const knownVersions = (state) => [...state.versions.values()].reduce((sum, version) => sum + version, 0);

/** @param {Label} label */
function sentForm(label) {
  return { ...label, source: label.source ?? "explicit" };
}

/**
 * Take the server's answer to a batch into the state, or (without a batch) the labels as they are stored now.
 * Labels edited since the batch was sent stay dirty, on their new versions. What was stored by somebody else
 * meanwhile is merged; a conflict or a refusal shows what is stored, and a problem that says so.
 * @param {State} state
 * @param {Batch | null} batch
 * @param {Answer} answer
 * @returns {State}
 */
export function takeAnswer(state, batch, answer) {
  const next = {
    labels: new Map(state.labels),
    versions: new Map(state.versions),
    base: new Map(state.base),
    dirty: new Set(state.dirty),
    problems: new Map(state.problems),
  };
  // by their order: a change that could not be read has a result without a name
  const results = new Map((answer.results ?? []).map((result, i) => [keyOf(batch?.body.changes[i] ?? result), result]));
  /** @type {Key[]} */
  const fresh = [];
  /** @type {Set<Key>} */
  const lost = new Set();
  for (const raw of [...answer.labels, { ...answer.outcome, message_index: "outcome" }]) {
    /** @type {Key} */
    const key = raw.message_index;
    const sent = batch?.sent.get(key);
    const result = sent && results.get(key);
    if (!result && raw.version <= (state.versions.get(key) ?? 0)) continue;
    const mine = labelAt(state, key);
    const theirs = labelOf(raw);
    next.versions.set(key, raw.version);
    next.base.set(key, theirs);
    const editedSince = sent !== undefined && mine !== sent;
    if (!state.dirty.has(key)) {
      fresh.push(key);
      take(next, key, mine, theirs);
    } else if (result && !editedSince && result.status !== "stale") {
      next.dirty.delete(key);
      take(next, key, mine, theirs);
      if (result.status === "refused") {
        lost.add(key);
        next.problems.set(key, { kind: "refused", mine, reason: result.reason });
      }
    } else {
      const from = (result?.status === "saved" ? sent : state.base.get(key)) ?? NO_LABEL;
      if (mergeIn(next, key, from, mine, theirs)) lost.add(key);
    }
  }
  const settled = settle({ ...state, ...next }, next.labels);
  const moved = fresh.filter((key) => !sameLabel(labelAt(settled, key), labelAt(state, key)));
  for (const key of moved) {
    const [now, before] = [labelAt(settled, key), state.problems.get(key)?.mine ?? labelAt(state, key)];
    // what was wanted or shown here is what is stored: both windows agree again
    if (state.problems.has(key) && agree(now, before)) next.problems.delete(key);
    else if (next.problems.get(key)?.kind !== "stale") {
      next.problems.set(key, { kind: "elsewhere", mine: before, reason: "" });
    }
  }
  return withoutInPast(settled, [...moved, ...lost]);
}

/** @param {any} result @returns {Key} */
const keyOf = (result) => (result.target === "outcome" ? "outcome" : result.message_index);

/**
 * @typedef {object} Next  the parts of a state that an answer changes
 * @property {Map<Key, Label>} labels
 * @property {Map<Key, number>} versions
 * @property {Map<Key, Label>} base
 * @property {Set<Key>} dirty
 * @property {Map<Key, import("../state/labels.js").Problem>} problems
 */

/**
 * The stored label; the very object we have when it says the same, so that nothing is drawn again.
 * @param {Next} next
 * @param {Key} key
 * @param {Label} mine
 * @param {Label} theirs
 */
function take(next, key, mine, theirs) {
  next.labels.set(key, sameLabel(mine, theirs) ? mine : theirs);
}

/**
 * @param {Next} next
 * @param {Key} key
 * @param {Label} base
 * @param {Label} mine
 * @param {Label} theirs
 * @returns {boolean} whether it is a conflict
 */
function mergeIn(next, key, base, mine, theirs) {
  const { label, conflict } = merge(base, mine, theirs);
  take(next, key, mine, label);
  if (sameLabel(label, theirs)) next.dirty.delete(key);
  else next.dirty.add(key);
  if (conflict) next.problems.set(key, { kind: "stale", mine, reason: "" });
  return conflict;
}

/**
 * Undoing goes back to other labels of one's own, never to what somebody else has changed since.
 * @param {State} state
 * @param {readonly Key[]} keys
 * @returns {State}
 */
function withoutInPast(state, keys) {
  if (!keys.length) return state;
  const now = keys.map((key) => /** @type {const} */ ([key, labelAt(state, key)]));
  /** @param {Labels} time */
  const patched = (time) => new Map([...time, ...now]);
  return { ...state, past: state.past.map(patched), future: state.future.map(patched) };
}

/**
 * Changes that a browser keeps until they are acknowledged. Labels and notes of one person and one assignment, no more.
 * @typedef {object} Backup
 * @property {1} v
 * @property {{body: Body, base: [Key, Label][]}[]} ops             sent, and not known to have arrived
 * @property {{key: Key, version: number, base: Label, label: Label}[]} edits   made since
 * @property {import("../state/reducer.js").Marks | null} marks
 */

/**
 * @param {State} state
 * @param {readonly Batch[]} batches
 * @returns {Backup | null} null when everything is stored
 */
export function toBackup(state, batches) {
  const edits = [...state.dirty]
    .filter((key) => !batches.some((batch) => batch.sent.get(key) === labelAt(state, key)))
    .map((key) => ({
      key,
      version: state.versions.get(key) ?? 0,
      base: state.base.get(key) ?? NO_LABEL,
      label: labelAt(state, key),
    }));
  const marks = state.marksDirty ? state.marks : null;
  if (!batches.length && !edits.length && !marks) return null;
  return { v: 1, ops: batches.map(({ body, base }) => ({ body, base: [...base] })), edits, marks };
}

/**
 * Take up what a page that is gone has left behind. What is being edited here already is newer, and stays.
 * @param {State} state
 * @param {Backup} kept
 * @returns {{state: State, batches: Batch[]}} the batches are to be sent before anything else
 */
export function restore(state, kept) {
  if (!state.open) return { state, batches: [] };
  const next = {
    labels: new Map(state.labels),
    versions: new Map(state.versions),
    base: new Map(state.base),
    dirty: new Set(state.dirty),
    problems: new Map(state.problems),
  };
  /** @type {Batch[]} */
  const batches = [];
  /** @type {Set<Key>} */
  const underWay = new Set();
  for (const { body, base } of kept.ops) {
    /** @type {Map<Key, Label>} */
    const sent = new Map();
    const bases = new Map(base);
    for (const change of /** @type {any[]} */ (body.changes)) {
      const key = keyOf(change);
      if (!state.labels.has(key)) continue;
      const label = asSent(change);
      sent.set(key, label);
      if (state.dirty.has(key)) continue;
      next.labels.set(key, label);
      next.dirty.add(key);
      if (!underWay.has(key)) {
        next.versions.set(key, change.version);
        next.base.set(key, bases.get(key) ?? NO_LABEL);
      }
      underWay.add(key);
    }
    batches.push({ body, sent, base: bases });
  }
  for (const { key, version, base, label } of kept.edits) {
    if (!state.labels.has(key) || state.dirty.has(key)) continue;
    const mine = { ...NO_LABEL, ...label };
    if (underWay.has(key) || state.versions.get(key) === version) {
      next.labels.set(key, mine);
      next.dirty.add(key);
    } else {
      mergeIn(next, key, { ...NO_LABEL, ...base }, mine, state.base.get(key) ?? NO_LABEL);
    }
  }
  const settled = settle({ ...state, ...next }, next.labels);
  const marks = kept.marks && !state.marksDirty ? { marks: kept.marks, marksDirty: true } : {};
  return { state: { ...settled, ...marks }, batches };
}

/** The label in a change that was sent. @param {any} change @returns {Label} */
function asSent(change) {
  const label = labelOf(change);
  return label.value === null ? { ...label, source: null } : label;
}

/** Milliseconds to wait before the next try, after so many that failed. @param {number} failures */
export const retryDelay = (failures) => Math.min(5000, 500 * 2 ** Math.min(failures, 5));
