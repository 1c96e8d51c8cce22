// @ts-check
/** Asks, without stopping the hand, why an error ends at the +1 just given. It goes with the next label. */

import { byRole, setText } from "../lib/dom.js";
import { closedRun, labelAt } from "./selectors.js";

/** @typedef {import("./reducer.js").State} State */

const box = byRole(document, "closing-reason", HTMLElement);
const text = byRole(document, "closing-reason-text", HTMLElement);

/**
 * The step that is asked about, by message index; null when nothing is asked.
 * @param {State} state
 */
export function stepToExplain(state) {
  const { last } = state;
  const asks = state.open && last !== null && closedRun(state, last) !== null && labelAt(state, last).closes === "";
  return asks ? last : null;
}

/**
 * @param {State} state
 * @param {{words: (name: string, values?: Record<string, string | number>) => string, numberOf: (index: number) => number}} view
 */
export function drawClosingReason(state, { words, numberOf }) {
  const asked = stepToExplain(state);
  if (box.hidden !== (asked === null)) box.hidden = asked === null;
  if (asked !== null) setText(text, words("ask_closes", { n: numberOf(asked), root: numberOf(closedRun(state, asked) ?? 0) }));
}
