// @ts-check
/**
 * The guidelines in their dialog, opened at the part that concerns the focused step. A part is known by its heading, as
 * the default guidelines have it; guidelines with other headings open at their beginning.
 */

import { focused, guidelineTopic, labelAt } from "./state/selectors.js";
import { signOf } from "./view/step_text.js";

/** @typedef {import("./state/reducer.js").State} State */

const PART = "prose__part";
const MEANT = "is-meant";
const dialog = document.getElementById("guidelines");

/**
 * Open the dialog, unless it is open, at what concerns the focused step, or at what is meant.
 * @param {State} state
 * @param {{topic: string, value: import("./state/labels.js").Value} | null} [meant]
 */
export function openGuidelines(state, meant = null) {
  if (!(dialog instanceof HTMLDialogElement)) return;
  if (!dialog.open) dialog.showModal();
  for (const part of dialog.querySelectorAll(`.${PART}`)) part.replaceWith(...part.childNodes);
  for (const row of dialog.querySelectorAll(`.${MEANT}`)) row.classList.remove(MEANT);
  const topic = meant?.topic ?? guidelineTopic(state);
  const heading = headingOf(dialog, topic);
  if (!heading) return;
  const part = boxed(heading);
  const value = meant?.value ?? labelAt(state, focused(state)).value;
  if (topic === "cases" && value !== null) markCases(part, signOf(value));
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "start" });
}

/** @param {HTMLElement} within @param {string} topic @returns {HTMLElement | undefined} */
function headingOf(within, topic) {
  /** @type {Record<string, string[]>} */
  const names = JSON.parse(within.dataset.headings ?? "{}");
  const headings = /** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(".prose > :is(h2, h3, h4)"));
  return [...headings].find((heading) => names[topic]?.includes(heading.textContent?.trim() ?? ""));
}

/** @param {HTMLElement} heading @returns {HTMLElement} a box around the heading and what stands below it */
function boxed(heading) {
  const box = document.createElement("div");
  box.className = PART;
  heading.before(box);
  box.append(heading);
  for (let next = box.nextElementSibling; next; next = box.nextElementSibling) {
    if (/^H[1-6]$/.test(next.tagName) && next.tagName <= heading.tagName) break;
    box.append(next);
  }
  return box;
}

/** @param {Element} element @param {string} sign  the label that the step has */
function markCases(element, sign) {
  for (const row of element.querySelectorAll("tr")) {
    if (row.lastElementChild?.textContent?.trim() === sign) row.classList.add(MEANT);
  }
}
