// @ts-check
/** Moving through the steps, and saying aloud what has happened. */

import { byRole } from "../lib/dom.js";
import { reach, settleOn } from "../lib/run_parts.js";
import { coveredTop } from "./find_and_raw.js";
import { visibleBottom } from "./view/mobile_bar.js";
import { focused } from "./state/selectors.js";

/** @typedef {ReturnType<typeof makeNavigation>} Navigation */

/**
 * @param {import("./state/store.js").Store} store
 * @param {ReadonlyMap<number, {article: HTMLElement}>} steps   those on the page
 */
export function makeNavigation(store, steps) {
  const live = byRole(document, "live", HTMLElement);
  const question = byRole(document, "closing-reason", HTMLElement);

  /** The question that stands a little above a place in the window. @param {number} top */
  function questionAbove(top) {
    if (question.hidden) return null;
    const above = top - question.getBoundingClientRect().top;
    return above > 0 && above < window.innerHeight / 3 ? question : null;
  }

  /** Bring the focused step into view and give it the keyboard; when it is not on the page, as soon as it is. */
  function reveal() {
    const index = focused(store.get());
    const article = steps.get(index)?.article;
    if (!article) {
      void reach(index).then((there) => {
        if (!there || focused(store.get()) !== index) return;
        settleOn(there);
        there.focus({ preventScroll: true });
      });
      return;
    }
    const box = article.getBoundingClientRect();
    const ask = questionAbove(box.top);
    const top = ask?.getBoundingClientRect().top ?? box.top;
    if (top < coveredTop() || box.bottom > visibleBottom()) (ask ?? article).scrollIntoView({ block: "start" });
    // after the sizes were read: focusing changes styles, and reading would lay the page out again
    article.focus({ preventScroll: true });
  }

  return {
    reveal,
    /** Give the keyboard back to the focused step, without moving the page. */
    holdFocus: () => steps.get(focused(store.get()))?.article.focus({ preventScroll: true }),
    /** Focus the step at a position. @param {number} position */
    go(position) {
      store.dispatch({ type: "focus", position });
      reveal();
    },
    /** To those who hear the page. @param {string} text */
    announce(text) {
      live.textContent = text;
    },
  };
}
