// @ts-check
/**
 * A note on propagation, once in each browser: in the first step that is proposed −1, until it is understood or a
 * proposal is confirmed. It never takes the focus.
 */

import { byRole } from "../../lib/dom.js";

/** @typedef {import("../state/reducer.js").State} State */

const NAME = "tristep:propagation";
const box = byRole(document, "propagation-note", HTMLElement);

/**
 * @param {object} options
 * @param {Pick<import("./view.js").View, "steps" | "controlsOf">} options.view
 * @param {Pick<Storage, "getItem" | "setItem"> | null} options.storage
 * @returns {{draw: (state: State) => void, understood: () => void}}
 */
export function makePropagationNote({ view: { steps, controlsOf }, storage }) {
  let known = (storage?.getItem(NAME) ?? null) !== null;

  function understood() {
    known = true;
    box.hidden = true;
    try {
      storage?.setItem(NAME, "understood");
    } catch {
      // a full storage explains it once more
    }
  }

  /** @param {State} state */
  function draw(state) {
    if (known || !state.open || state.rules.propagates === false) return;
    if (state.results.some((step) => step.source === "propagated")) {
      understood();
      return;
    }
    const first = state.results.find((step) => step.proposal?.value === -1);
    const step = first && steps.get(first.message_index);
    box.hidden = step === undefined;
    if (!first || !step || step.article.contains(box)) return;
    controlsOf(first.message_index);
    byRole(step.article, "controls", HTMLElement).append(box);
  }

  return { draw, understood };
}
