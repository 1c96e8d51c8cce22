// @ts-check
/** Asks, without stopping the hand, why an error ends at the +1 just given. It goes with the next label. */

import { byRole, setText } from "../lib/dom.js";
import { closedRun, stepToExplain } from "./selectors.js";

/** @typedef {import("./reducer.js").State} State */

const box = byRole(document, "closing-reason", HTMLElement);
const text = byRole(document, "closing-reason-text", HTMLElement);

/**
 * @param {State} state
 * @param {{words: import("../lib/dom.js").Words, numberOf: (index: number) => number}} view
 */
export function drawClosingReason(state, { words, numberOf }) {
  const asked = stepToExplain(state);
  if (box.hidden !== (asked === null)) box.hidden = asked === null;
  if (asked !== null)
    setText(text, words("ask_closes", { n: numberOf(asked), root: numberOf(closedRun(state, asked) ?? 0) }));
}
