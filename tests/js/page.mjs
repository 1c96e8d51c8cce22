// @ts-check
/** A page to test with: steps at the message indexes 2, 4, 6 …, nothing labelled. */

import { initialState, reduce } from "../../frontend/static/frontend/js/workbench/state/reducer.js";

/** @typedef {import("../../frontend/static/frontend/js/workbench/state/reducer.js").State} State */
/** @typedef {import("../../frontend/static/frontend/js/workbench/state/reducer.js").Action} Action */

const BARE = {
  value: null,
  source: null,
  root: null,
  root_pinned: false,
  closes: "",
  unsure: false,
  flagged: false,
  note: "",
  reason: "",
  version: 0,
};

/**
 * @param {number} count
 * @param {{rules?: object, steps?: Record<number, object>, outcome?: object, open?: boolean, preset?: 1}} [options]
 */
export const makeState = (count, options) => initialState(makePage(count, options));

/**
 * What the server would send for it.
 * @param {number} count
 * @param {Parameters<typeof makeState>[1]} [options]
 */
export function makePage(count, { rules = {}, steps = {}, outcome = {}, open = true, preset } = {}) {
  return {
    open,
    rules: { suspend_on_user_turn: false, carry_forward: false, ...rules },
    steps: Array.from({ length: count }, (_, i) => ({
      ...BARE,
      message_index: 2 * i + 2,
      ordinal: i,
      after_user_turn: false,
      ...steps[2 * i + 2],
    })),
    outcome: { ...BARE, ...outcome },
    preset,
  };
}

/**
 * @param {State} state
 * @param {...Action} actions
 * @returns {State}
 */
export const after = (state, ...actions) => actions.reduce(reduce, state);

/**
 * What every step shows: "+1", "0", "-1", a proposal as "?-1@2", a fill as "~-1@2", nothing as ".".
 * @param {State} state
 */
export function shown(state) {
  return state.results
    .map(({ value, source, root, proposal }) => {
      if (proposal) return `?${proposal.value}${proposal.root === null ? "" : `@${proposal.root}`}`;
      if (value === null) return ".";
      return `${source === "propagated" ? "~" : ""}${value}${root === null ? "" : `@${root}`}`;
    })
    .join(" ");
}

/**
 * What a server would answer that stores everything it is sent: the labels as the page has them, new versions.
 * @param {State} state
 * @param {import("../../frontend/static/frontend/js/workbench/saving/sync.js").Batch} batch
 * @param {Record<string, object>} [refused] results by message index (or "outcome") that are not "saved"
 */
export function answer(state, batch, refused = {}) {
  const changes = /** @type {any[]} */ (batch.body.changes);
  /** @param {string} key */
  const change = (key) => changes.find((one) => String(one.message_index ?? "outcome") === key);
  const version = (/** @type {any} */ key) =>
    (state.versions.get(key) ?? 0) + (change(String(key)) && !refused[String(key)] ? 1 : 0);
  return {
    results: changes.map((one) => ({
      target: one.target,
      message_index: one.message_index,
      status: "saved",
      reason: "",
      ...refused[String(one.message_index ?? "outcome")],
    })),
    labels: state.steps.map(({ index }) => ({
      ...(refused[String(index)] ? BARE : (change(String(index)) ?? state.labels.get(index))),
      message_index: index,
      version: version(index),
    })),
    outcome: { ...(change("outcome") ?? state.labels.get("outcome")), version: version("outcome") },
  };
}
