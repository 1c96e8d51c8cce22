// @ts-check
/** Show the errors of a form at its fields; the first of them gets the focus. */

import { el } from "./dom.js";

const MADE = "data-made";

/** Bring the first field that was refused on screen, ready to be mended. @param {ParentNode} part */
export function goToFirstError(part) {
  const said = part.querySelector(".field .errorlist");
  const box = said?.closest(".field");
  const field = box?.querySelector('[aria-invalid="true"]') ?? box?.querySelector("input, select, textarea");
  if (!(field instanceof HTMLElement)) return;
  field.focus({ preventScroll: true });
  box?.scrollIntoView({ block: "center" });
}

/**
 * Say at each field what is wrong with it, as the server does on a page that it renders.
 * @param {HTMLFormElement} form
 * @param {Readonly<Record<string, readonly string[]>>} errors  by the name of the field
 * @param {{stay?: boolean}} [options]  `stay`: whoever is typing keeps the focus
 * @returns {string[]} what belongs to no field
 */
export function showErrors(form, errors, { stay = false } = {}) {
  const rest = [];
  for (const [name, sentences] of Object.entries(errors)) {
    const field = name ? form.elements.namedItem(name) : null;
    if (!(field instanceof HTMLElement)) {
      rest.push(...sentences);
      continue;
    }
    const list = el("div", { class: "errorlist", id: `${field.id}_error`, role: "alert", [MADE]: "" });
    list.append(...sentences.map((sentence) => el("p", {}, sentence)));
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", list.id);
    field.closest(".field")?.append(list);
  }
  if (!stay) goToFirstError(form);
  return rest;
}

/** Nothing is wrong any more, as far as anybody knows. @param {HTMLFormElement} form */
export function forgetErrors(form) {
  for (const list of form.querySelectorAll(`.errorlist[${MADE}]`)) list.remove();
  for (const field of form.querySelectorAll("[aria-errormessage]")) {
    field.removeAttribute("aria-errormessage");
    field.removeAttribute("aria-invalid");
  }
}
