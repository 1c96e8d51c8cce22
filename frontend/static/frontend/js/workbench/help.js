// @ts-check
/** The list of keys, made from the table of keys. */

import { keys } from "./store.js";
import { byRole, el } from "../lib/dom.js";

/**
 * @param {(name: string) => string} words
 */
export function drawHelp(words) {
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
          ...keys.bindings.filter((binding) => binding.group === group).flatMap(({ id }) => [
            el("dt", {}, ...capsOf(id)),
            el("dd", {}, words(`key_${id}`)),
          ]),
        ),
      ),
    ),
  );
}

/** @param {import("./keys.js").Action} id */
function capsOf(id) {
  return keys.caps(id).flatMap((together, i) => [
    ...(i ? [" "] : []),
    el("span", { class: "keys__press" }, ...together.map((cap) => el("kbd", {}, cap))),
  ]);
}

/** Tell assistive technology the keys of the page's own buttons; keys about a label mean the focused step alone. */
export function nameShortcuts() {
  for (const button of document.querySelectorAll("[data-action]:not([data-outcome] *, [data-step] *)")) {
    if (button instanceof HTMLElement) name(button, button.dataset.action ?? "");
  }
  for (const id of ["help", "guidelines"]) name(document.querySelector(`[data-dialog="${id}"]`), id);
  name(document.querySelector('[data-role="find-open"]'), "search");
}

/** @param {Element | null} button @param {string} id */
function name(button, id) {
  const binding = keys.bindings.find((one) => one.id === id);
  if (binding) button?.setAttribute("aria-keyshortcuts", keys.shortcut(binding.id));
}
