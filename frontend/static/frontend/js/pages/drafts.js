// @ts-check
/**
 * Comments and reasons that are being written, on the pages of discussions and cases: what was typed is kept in this
 * browser until it has been sent, and who leaves with something unsent is asked.
 */

import { makeDrafts } from "../lib/drafts.js";
import { keepPartsWith, whenPartsChange } from "../lib/run_parts.js";
import { ownStorage } from "../lib/storage.js";
import "./transcript.js";

const drafts = makeDrafts({ storage: ownStorage() });
/** @type {HTMLFormElement | null} the form with which the page is left */
let leaving = null;

/** @param {HTMLTextAreaElement} field */
const isTyped = (field) => field.value !== field.defaultValue;
const heldBy = (/** @type {HTMLTextAreaElement} */ field) => Number(field.dataset.draftHeld ?? 0);

/** @param {ParentNode} place @returns {HTMLTextAreaElement[]} */
const fieldsIn = (place) => [...place.querySelectorAll("textarea")];

/** Put back what was typed; a text that the server has sent back stands as it is. @param {ParentNode} place */
function restore(place) {
  for (const field of fieldsIn(place)) {
    const name = field.dataset.draft;
    if (!name || field.value) continue;
    const text = drafts.read(name, heldBy(field));
    if (!text) continue;
    field.value = field.defaultValue = text;
    const hint = field.form?.querySelector("[data-draft-hint]");
    if (hint instanceof HTMLElement) hint.hidden = false;
    for (let at = field.parentElement; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
  }
}

document.addEventListener("input", ({ target }) => {
  if (target instanceof HTMLTextAreaElement && target.dataset.draft) drafts.write(target.dataset.draft, target.value);
});

// on the window, so that a page's own script has had its say before
window.addEventListener("submit", ({ target, defaultPrevented }) => {
  if (!(target instanceof HTMLFormElement) || defaultPrevented) return;
  leaving = target;
  for (const field of fieldsIn(target)) {
    if (field.dataset.draft) drafts.send(field.dataset.draft, field.value, heldBy(field));
  }
});

window.addEventListener("pageshow", () => {
  leaving = null;
});

window.addEventListener("beforeunload", (event) => {
  const typed = fieldsIn(document).filter((field) => isTyped(field) && field.form !== leaving);
  // who sends one comment has not left the others: they are kept
  if (typed.some((field) => !leaving || !field.dataset.draft)) event.preventDefault();
});

restore(document);
keepPartsWith((message) => fieldsIn(message).some(isTyped));
whenPartsChange((added) => added.forEach(restore));
