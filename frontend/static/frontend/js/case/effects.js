// @ts-check
/**
 * The effect of a decision on the errors of the consensus. Pure: the errors are those of the rule of propagation.
 */

import { errorRuns, resolve } from "../workbench/state/propagation_preview.js";

/** @typedef {import("../workbench/state/propagation_preview.js").Value} Value */
/** @typedef {import("../workbench/state/propagation_preview.js").Rules} Rules */
/** @typedef {import("../workbench/state/propagation_preview.js").ErrorRun} ErrorRun */
/**
 * One step of the consensus so far.
 * @typedef {object} CaseStep
 * @property {number} index             its message index
 * @property {boolean} after_user_turn
 * @property {Value | null} value       what is agreed or decided; null while it is undecided
 * @property {number | null} [root]      of a −1, the message at which the error began, where somebody names it
 */
/** @typedef {{what: "new" | "joins" | "ends" | "suspends" | "none", root: number | null, runs: ErrorRun[]}} Effect */

/**
 * @param {readonly CaseStep[]} steps
 * @param {Rules} rules
 */
export function judged(steps, rules) {
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
 * The effect of deciding one step so.
 * @param {readonly CaseStep[]} steps
 * @param {number} index   the step's message index
 * @param {Value} value
 * @param {Rules} rules
 * @param {number | null} [named]   the root that a −1 would have; null: by the rule
 * @returns {Effect}
 */
export function effectOf(steps, index, value, rules, named = null) {
  const decided = steps.map((step) => (step.index === index ? { ...step, value, root: named } : step));
  const results = judged(decided, rules);
  const { root = index, open = null } = results.find((step) => step.message_index === index) ?? {};
  const runs = errorRuns(results);
  if (value === -1) return { what: root === index ? "new" : "joins", root, runs };
  if (open === null) return { what: "none", root: null, runs };
  return { what: value === 1 ? "ends" : "suspends", root: open, runs };
}
