// @ts-check
/**
 * The bar at the bottom of narrow screens: it labels the focused step under a thumb. Who scrolls by touch takes the
 * focus along, so that the bar never labels what is out of sight.
 */

import { byRole, setAttribute, setText } from "../../lib/dom.js";
import { focused, labelAt } from "../state/selectors.js";

/** @typedef {import("../state/reducer.js").State} State */

const bar = document.querySelector(".thumb");
const narrow = window.matchMedia("(max-width: 60rem)");
const sheet = document.getElementById("steps");
const opener = byRole(document, "mobile-steps", HTMLButtonElement);
const here = byRole(document, "mobile-here", HTMLElement);
const values = [...document.querySelectorAll(".thumb [data-value]")];
const confirmer = document.querySelector('[data-role="mobile-confirm"]');

/** The place where the bar begins, or the window ends. */
export const visibleBottom = () => (narrow.matches && bar ? bar.getBoundingClientRect().top : window.innerHeight);

/** @param {boolean} open */
function unfold(open) {
  sheet?.classList.toggle("is-open", open);
  setAttribute(opener, "aria-expanded", String(open));
}

opener.addEventListener("click", () => unfold(opener.getAttribute("aria-expanded") !== "true"));
sheet?.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("a")) unfold(false);
});

/**
 * @param {State} state
 * @param {string} name   of the focused step; "" where its place says enough
 */
export function drawMobileBar(state, name) {
  if (!narrow.matches) return;
  const index = focused(state);
  const { value } = labelAt(state, index);
  setText(here, name || `${state.focus + 1} / ${state.steps.length}`);
  for (const button of values) {
    if (button instanceof HTMLElement)
      setAttribute(button, "aria-pressed", String(button.dataset.value === String(value)));
  }
  if (confirmer instanceof HTMLButtonElement) {
    const off = !state.results.some((step) => step.proposal && state.seen.has(step.message_index));
    if (confirmer.disabled !== off) confirmer.disabled = off;
  }
  for (const button of [...values, ...document.querySelectorAll(".thumb__submit")]) {
    if (button instanceof HTMLButtonElement && button.disabled === state.open) button.disabled = !state.open;
  }
}

/**
 * @param {object} options
 * @param {import("../state/store.js").Store} options.store
 * @param {(index: number) => Element | undefined} options.step   by message index
 * @param {() => number} options.coveredTop    how many pixels of the window's top are covered
 * @param {() => void} options.draw            the bar, as the state is
 */
export function followTouch({ store, step, coveredTop, draw }) {
  let byTouch = false;
  document.addEventListener("pointerdown", (event) => (byTouch = event.pointerType === "touch"), { passive: true });
  document.addEventListener("keydown", () => (byTouch = false));
  narrow.addEventListener("change", draw);

  /** The height in sight, in px; below 0: how far out of sight. @param {number} index */
  function visible(index) {
    const box = step(index)?.getBoundingClientRect();
    return box ? Math.min(box.bottom, visibleBottom()) - Math.max(box.top, coveredTop()) : -Infinity;
  }

  function follow() {
    if (!byTouch || !narrow.matches || visible(focused(store.get())) > 0) return;
    let best = -1;
    let most = -Infinity; // where the pinned message covers the only step there, the nearest one is taken
    store.get().steps.forEach(({ index }, position) => {
      const pixels = visible(index);
      if (pixels > most) [best, most] = [position, pixels];
    });
    if (best >= 0) store.dispatch({ type: "focus", position: best });
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let still;
  function followSoon() {
    clearTimeout(still);
    if (byTouch) still = setTimeout(follow, 120);
  }
  document.addEventListener("scroll", followSoon, { passive: true });
  // messages have their real height only once they come near, and move what is in the window when they get it
  new ResizeObserver(followSoon).observe(document.body);
}
