// @ts-check
/**
 * One step on the page: the elements that show its label, and its controls, which are copied into it.
 */

import { byRole, setAttribute } from "../../lib/dom.js";

/** @typedef {ReturnType<typeof labelControls>} LabelControls */
/** @typedef {ReturnType<typeof stepView>} StepView */

/** @param {HTMLElement} box */
export function labelControls(box) {
  const values = byRole(box, "values", HTMLFieldSetElement);
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  for (const button of box.querySelectorAll("button[data-action]")) {
    if (button instanceof HTMLButtonElement) buttons.set(button.dataset.action ?? "", button);
  }
  return {
    box: values,
    values,
    radios: [...values.querySelectorAll("input")],
    buttons,
    note: byRole(box, "note", HTMLTextAreaElement),
    problem: byRole(box, "problem", HTMLElement),
  };
}

/** @typedef {ReturnType<typeof controlsIn>} Controls */

/**
 * Copy the controls into a step.
 * @param {HTMLElement} article
 * @param {number} number     of the step, from 1
 * @param {DocumentFragment} copy   of the template
 */
function controlsIn(article, number, copy) {
  const box = byRole(article, "controls", HTMLElement);
  for (const radio of copy.querySelectorAll("input")) radio.name = `v-${article.dataset.step}`;
  const legend = copy.querySelector("legend");
  if (legend) legend.textContent = withNumber(legend.textContent, number);
  const note = byRole(copy, "note", HTMLTextAreaElement);
  note.setAttribute("aria-label", withNumber(note.getAttribute("aria-label"), number));
  box.append(copy);
  return {
    ...labelControls(box),
    proposal: byRole(box, "proposal", HTMLElement),
    confirm: byRole(box, "confirm", HTMLButtonElement),
    confirmText: byRole(box, "confirm-text", HTMLElement),
    rootBox: byRole(box, "root-box", HTMLElement),
    root: byRole(box, "root", HTMLSelectElement),
    closesBox: byRole(box, "closes-box", HTMLElement),
    closes: byRole(box, "closes", HTMLSelectElement),
    reason: byRole(box, "reason", HTMLButtonElement),
    reasonText: byRole(box, "reason-text", HTMLElement),
  };
}

/**
 * A step of the page. Its controls are made when they are first asked for: browsers look at every field of a page
 * (to fill in names and passwords) and lay out for it what would not be laid out otherwise.
 * @param {HTMLElement} article
 * @param {number} number
 * @param {DocumentFragment} template
 */
export function stepView(article, number, template) {
  const railLink = document.querySelector(`.rail__step[data-goto="${article.dataset.step}"]`);
  if (!(railLink instanceof HTMLElement)) throw new Error(`the rail has no step ${article.dataset.step}`);
  /** @type {Controls | null} */
  let made = null;
  return {
    article,
    /** The controls, if they have been made. */
    made: () => made,
    controls: () => (made ??= controlsIn(article, number, document.importNode(template, true))),
    state: byRole(article, "state", HTMLElement),
    stateText: byRole(article, "state-text", HTMLElement),
    marks: byRole(article, "marks", HTMLElement),
    railLink,
    railMark: byRole(railLink, "rail-mark", HTMLElement),
    railText: byRole(railLink, "rail-text", HTMLElement),
    /** @param {boolean} on */
    focus(on) {
      article.classList.toggle("is-focused", on);
      if (!on) {
        railLink.removeAttribute("aria-current");
        return;
      }
      railLink.setAttribute("aria-current", "step");
      // in the next frame: asking for sizes now would lay the page out an extra time
      requestAnimationFrame(() => {
        const rail = railLink.closest(".rail");
        if (rail && railLink.hasAttribute("aria-current") && rail.scrollHeight > rail.clientHeight) {
          rail.scrollTop = railLink.offsetTop - rail.clientHeight / 2;
        }
      });
    },
  };
}

/** @param {string | null} text @param {number} number */
const withNumber = (text, number) => (text ?? "").replace("{n}", String(number));

/**
 * @param {HTMLTextAreaElement} note
 * @param {HTMLButtonElement | undefined} button
 * @param {boolean} open
 */
export function openNote(note, button, open) {
  if (note.hidden === open) note.hidden = !open;
  if (button) setAttribute(button, "aria-expanded", String(open));
}
