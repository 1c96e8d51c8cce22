// @ts-check
/**
 * The question why an error ends at the +1 just given. It stands in that step and never takes the focus; who does not
 * answer goes on, with the next label or with Escape.
 */

import { byRole, setText } from "../../lib/dom.js";
import { closedAt, stepToExplain } from "../state/selectors.js";

/** @typedef {import("../state/reducer.js").State} State */

const box = byRole(document, "closing-reason", HTMLElement);
const text = byRole(document, "closing-reason-text", HTMLElement);

/**
 * @param {object} options
 * @param {Pick<import("./view.js").View, "words" | "numberOf" | "steps" | "controlsOf">} options.view
 * @param {import("../navigation.js").Navigation} options.navigation
 * @param {import("../keys.js").Keys} options.keys
 * @returns {(state: State) => void} draws it
 */
export function makeClosingReason({ view: { words, numberOf, steps, controlsOf }, navigation, keys }) {
  const [corrected, independent] = [keys.named("closes_corrected"), keys.named("closes_independent")];
  /** @type {number | null} */
  let shown = null;

  return (state) => {
    const asked = stepToExplain(state);
    if (asked !== null) {
      const question = words("ask_closes", { n: numberOf(asked), root: numberOf(closedAt(state, asked) ?? 0) });
      setText(text, question);
      const step = steps.get(asked);
      if (step && !step.article.contains(box)) {
        controlsOf(asked);
        byRole(step.article, "controls", HTMLElement).append(box);
      }
      if (asked !== shown) navigation.announce(words("ask_keys", { question, corrected, independent }));
    }
    shown = asked;
    if (box.hidden !== (asked === null)) box.hidden = asked === null;
  };
}
