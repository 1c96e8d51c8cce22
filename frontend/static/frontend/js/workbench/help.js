// @ts-check
/** The list of keys, made from the table of keys. */

import { byRole, el } from "../lib/dom.js";

/** @typedef {import("./keys.js").Keys} Keys */

/**
 * @param {Keys} keys
 * @param {import("../lib/dom.js").Words} words
 */
export function drawHelp(keys, words) {
  const groups = /** @type {const} */ (["label", "move", "mark", "rest"]);
  byRole(document, "keys", HTMLElement).replaceChildren(
    ...groups.map((group) =>
      el(
        "section",
        { class: "keys__group" },
        el("h3", {}, words(`group_${group}`)),
        el(
          "dl",
          {},
          ...keys.bindings
            .filter((binding) => binding.group === group)
            .flatMap(({ id }) => [el("dt", {}, ...keyCaps(keys.caps(id))), el("dd", {}, words(`key_${id}`))]),
        ),
      ),
    ),
  );
}

/** @param {readonly string[][]} caps  alternatives */
function keyCaps(caps) {
  return caps.flatMap((together, i) => [
    ...(i ? [" "] : []),
    el("span", { class: "keys__press" }, ...together.map((cap) => el("kbd", {}, cap))),
  ]);
}

/**
 * Tell assistive technology the keys of the page's own buttons; keys about a label mean the focused step alone.
 * @param {Keys} keys
 */
export function nameShortcuts({ bindings, shortcut }) {
  /** @param {Element | null} button @param {string} id */
  function name(button, id) {
    const binding = bindings.find((one) => one.id === id);
    if (binding) button?.setAttribute("aria-keyshortcuts", shortcut(binding.id));
  }
  for (const button of document.querySelectorAll("[data-action]:not([data-outcome] *, [data-step] *)")) {
    if (button instanceof HTMLElement) name(button, button.dataset.action ?? "");
  }
  for (const id of ["help", "guidelines"]) name(document.querySelector(`[data-dialog="${id}"]`), id);
  name(document.querySelector('[data-role="find-open"]'), "search");
}
