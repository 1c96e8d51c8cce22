// @ts-check
/**
 * What is to be saved, and what became of it. Pure, like state.js: the batches and the answers, not the sending.
 *
 * One batch is under way at a time. It carries an op_id, so that sending it again changes nothing, and for every
 * label the version it is based on; the server refuses a stale one by itself and keeps the others.
 */

import { labelOf } from "./labels.js";
import { labelAt } from "./selectors.js";
import { settle } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {{op_id: string, changes: object[]}} Body what is posted */
/** @typedef {{body: Body, sent: ReadonlyMap<Key, Label>}} Batch */

/**
 * Everything that is dirty, as one batch in the order of the steps (a root goes before its fills); null when
 * there is nothing to save.
 * @param {State} state
 * @param {string} opId
 * @returns {Batch | null}
 */
export function nextBatch(state, opId) {
  if (!state.dirty.size) return null;
  /** @type {Map<Key, Label>} */
  const sent = new Map();
  const changes = [];
  for (const { index } of state.places) {
    if (!state.dirty.has(index)) continue;
    const label = labelAt(state, index);
    sent.set(index, label);
    changes.push({ target: "step", message_index: index, version: state.versions.get(index) ?? 0, ...sentForm(label) });
  }
  if (state.dirty.has("outcome")) {
    const label = labelAt(state, "outcome");
    sent.set("outcome", label);
    changes.push({ target: "outcome", message_index: null, version: state.versions.get("outcome") ?? 0, ...sentForm(label) });
  }
  return { body: { op_id: opId, changes }, sent };
}

/** @param {Label} label */
function sentForm(label) {
  return { ...label, source: label.source ?? "explicit" };
}

/**
 * Take the server's answer to a batch into the state. Labels edited since the batch was sent stay as they are and
 * stay dirty, on their new versions; everything else becomes what is stored. What was stale or refused shows what
 * is stored, and a problem that says so.
 * @param {State} state
 * @param {Batch} batch
 * @param {{results: any[], labels: any[], outcome: any}} answer
 * @returns {State}
 */
export function stored(state, batch, answer) {
  const dirty = new Set(state.dirty);
  const problems = new Map(state.problems);
  /** @type {Set<Key>} */
  const lost = new Set();
  for (const result of answer.results) {
    /** @type {Key} */
    const key = result.target === "outcome" ? "outcome" : result.message_index;
    const sent = batch.sent.get(key);
    if (!sent) continue;
    const editedSince = labelAt(state, key) !== sent;
    if (result.status === "saved") {
      if (!editedSince) dirty.delete(key);
      continue;
    }
    dirty.delete(key);
    lost.add(key);
    problems.set(key, { kind: result.status === "stale" ? "stale" : "refused", mine: labelAt(state, key).value, reason: result.reason });
  }
  const labels = new Map(state.labels);
  const versions = new Map(state.versions);
  for (const label of answer.labels) {
    versions.set(label.message_index, label.version);
    if (!dirty.has(label.message_index)) labels.set(label.message_index, kept(state, label.message_index, label));
  }
  versions.set("outcome", answer.outcome.version);
  if (!dirty.has("outcome")) labels.set("outcome", kept(state, "outcome", answer.outcome));
  const next = settle({ ...state, dirty, problems, versions }, labels);
  return lost.size ? { ...next, past: [], future: [] } : next;
}

/**
 * The stored label; the very object we have when it says the same, so that nothing is drawn again.
 * @param {State} state
 * @param {Key} key
 * @param {any} fromServer
 * @returns {Label}
 */
function kept(state, key, fromServer) {
  const mine = labelAt(state, key);
  const theirs = labelOf(fromServer);
  return JSON.stringify(mine) === JSON.stringify({ ...mine, ...theirs }) ? mine : theirs;
}

/** Milliseconds to wait before the next try, after so many that failed. @param {number} failures */
export const retryDelay = (failures) => Math.min(15000, 500 * 2 ** Math.min(failures, 5));
