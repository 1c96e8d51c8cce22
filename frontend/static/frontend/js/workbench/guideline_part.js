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
 * Open the dialog, unless it is open, at what concerns the focused step, or at what is meant: `cases` are rows of the
 * table of cases, by what they say.
 * @param {State} state
 * @param {{topic: string, value: import("./state/labels.js").Value, cases: string[]} | null} [meant]
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
  const row = topic === "cases" && value !== null ? markCases(part, signOf(value), meant?.cases ?? []) : null;
  const target = row ?? heading;
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: row ? "center" : "start" });
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

/**
 * Mark the rows of these cases; without one, all of the label that the step has.
 * @param {Element} element
 * @param {string} sign  that label
 * @param {string[]} cases
 * @returns {HTMLElement | undefined} the first row, where the cases are known
 */
function markCases(element, sign, cases) {
  const rows = [...element.querySelectorAll("tr")];
  /** @param {Element | null} cell */
  const said = (cell) => cell?.textContent?.trim() ?? "";
  const known = rows.filter((row) => cases.includes(said(row.firstElementChild)));
  const meant = known.length ? known : rows.filter((row) => said(row.lastElementChild) === sign);
  for (const row of meant) row.classList.add(MEANT);
  return known[0];
}
