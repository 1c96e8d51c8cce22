// @ts-check
/**
 * What a decision does to the error runs of the consensus, by the rule of propagation. Pure.
 */

import { resolve } from "../workbench/state/propagation_preview.js";

/** @typedef {import("../workbench/state/propagation_preview.js").Value} Value */
/** @typedef {import("../workbench/state/propagation_preview.js").Rules} Rules */
/**
 * One step of the consensus so far.
 * @typedef {object} CaseStep
 * @property {number} index             its message index
 * @property {boolean} after_user_turn
 * @property {Value | null} value       what is agreed or decided; null while it is undecided
 * @property {number | null} [root]      of a −1, the message at which the error began, where somebody names it
 */
/**
 * One error: where it began, the later steps that are its consequences, and the undecided ones for which −1 would be
 * proposed. Message indexes.
 * @typedef {{root: number, members: number[], proposed: number[]}} ErrorRun
 */
/** @typedef {{what: "new" | "joins" | "ends" | "suspends" | "none", root: number | null, runs: ErrorRun[]}} Effect */

/**
 * @param {readonly CaseStep[]} steps
 * @param {Rules} rules
 */
function judged(steps, rules) {
  return resolve(
    steps.map(({ index, after_user_turn, value, root = null }) => ({
      message_index: index,
      value,
      source: value === null ? null : "explicit",
      root: value === -1 ? root : null,
      root_pinned: value === -1 && root !== null,
      after_user_turn,
    })),
    rules,
  );
}

/**
 * The errors of a consensus, by where they began.
 * @param {readonly CaseStep[]} steps
 * @param {Rules} rules
 * @returns {ErrorRun[]}
 */
export function errorRuns(steps, rules) {
  /** @type {Map<number, ErrorRun>} */
  const runs = new Map();
  for (const { message_index: index, value, root, proposal } of judged(steps, rules)) {
    const from = value === -1 ? root : proposal?.value === -1 ? proposal.root : null;
    if (from === null) continue;
    const run = runs.get(from) ?? { root: from, members: [], proposed: [] };
    runs.set(from, run);
    if (value === null) run.proposed.push(index);
    else if (index !== from) run.members.push(index);
  }
  return [...runs.values()];
}

/**
 * What deciding one step so would do.
 * @param {readonly CaseStep[]} steps
 * @param {number} index   the step's message index
 * @param {Value} value
 * @param {Rules} rules
 * @param {number | null} [named]   the root that a −1 would have; null: by the rule
 * @returns {Effect}
 */
export function effectOf(steps, index, value, rules, named = null) {
  /** @param {Value | null} other */
  const decided = (other) =>
    steps.map((step) => (step.index === index ? { ...step, value: other, root: named } : step));
  const open = judged(decided(null), rules).find((step) => step.message_index === index)?.proposal?.root ?? null;
  const runs = errorRuns(decided(value), rules);
  if (value === -1) {
    const run = runs.find((one) => one.root === index || one.members.includes(index));
    const root = run?.root ?? index;
    return { what: root === index ? "new" : "joins", root, runs };
  }
  if (open === null) return { what: "none", root: null, runs };
  return { what: value === 1 ? "ends" : "suspends", root: open, runs };
}
