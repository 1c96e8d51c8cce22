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
          ...(group === "rest"
            ? [
                el("dt", {}, ...keyCaps([["Ctrl", "K"]])),
                el("dd", {}, words("key_palette")),
                el("dt", {}, ...keyCaps([["Esc"]])),
                el("dd", {}, words("key_escape")),
              ]
            : []),
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
 * Tell everybody the keys of the page's own buttons, in a tooltip and as aria-keyshortcuts. Keys about a label mean the
 * focused step alone. A button says by `data-shortcut` whose key it has, else by its action.
 * @param {Keys} keys
 * @param {import("../lib/dom.js").Words} words
 */
export function nameShortcuts(keys, words) {
  for (const button of document.querySelectorAll("[data-action], [data-shortcut]")) {
    if (!(button instanceof HTMLElement) || button.closest("[data-outcome], [data-step]")) continue;
    nameShortcut(button, button.dataset.shortcut ?? button.dataset.action ?? "", keys, words);
  }
  nameCaps(document, keys);
}

/** Write the key of each cap into it. @param {ParentNode} parent @param {Keys} keys */
export function nameCaps(parent, keys) {
  for (const cap of parent.querySelectorAll("kbd[data-cap]")) {
    const binding = cap instanceof HTMLElement && keys.bindings.find(({ id }) => id === cap.dataset.cap);
    if (binding) cap.textContent = keys.named(binding.id);
  }
}

/**
 * @param {HTMLElement} button
 * @param {string} id     of a binding, or of none
 * @param {Keys} keys
 * @param {import("../lib/dom.js").Words} words
 */
export function nameShortcut(button, id, { bindings, shortcut, named }, words) {
  const binding = bindings.find((one) => one.id === id);
  if (!binding) return;
  button.setAttribute("aria-keyshortcuts", shortcut(binding.id));
  const name = button.title || button.getAttribute("aria-label") || withoutKeys(button);
  button.title = words("tooltip", { name, key: named(binding.id) });
}

/** The words of a button. @param {HTMLElement} button */
function withoutKeys(button) {
  const copy = /** @type {HTMLElement} */ (button.cloneNode(true));
  for (const key of copy.querySelectorAll("kbd")) key.remove();
  return (copy.textContent ?? "").trim().replace(/\s+/gu, " ");
}
