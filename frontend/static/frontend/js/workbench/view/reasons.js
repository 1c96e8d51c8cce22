// @ts-check
/**
 * The choice of a reason for a label: one key or button opens the reasons that fit its value, a letter or click takes
 * one. The focus goes back to where it was.
 */

import { byRole, el, setText } from "../../lib/dom.js";
import { labelAt } from "../state/selectors.js";
import { signOf } from "./step_text.js";

/** @typedef {import("./step_renderer.js").Reason} Reason */

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const dialog = document.getElementById("reasons");
const title = byRole(document, "reasons-title", HTMLElement);
const list = byRole(document, "reasons", HTMLElement);

/**
 * @param {object} options
 * @param {import("../state/store.js").Store} options.store
 * @param {Pick<import("./view.js").View, "words" | "numberOf">} options.view
 * @param {readonly Reason[]} options.reasons
 * @returns {(index: number) => void} opens the reasons of a step that has a label
 */
export function makeReasons({ store, view: { words, numberOf }, reasons }) {
  let step = -1;

  /** @param {string} reason */
  function take(reason) {
    store.dispatch({ type: "edit", key: step, change: { reason } });
    if (dialog instanceof HTMLDialogElement) dialog.close();
  }

  /** @param {string} code @param {string} key @param {string} cap @param {string} text */
  function choice(code, key, cap, text) {
    const on = labelAt(store.get(), step).reason === code;
    const button = el(
      "button",
      { type: "button", class: "reasons__one", "aria-pressed": String(on), "aria-keyshortcuts": key, "data-key": key },
      el("kbd", { "aria-hidden": "true" }, cap),
      el("span", {}, text),
    );
    button.addEventListener("click", () => take(code));
    return el("li", {}, button);
  }

  dialog?.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const key = event.key === "Delete" ? "Backspace" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const button = list.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!(button instanceof HTMLButtonElement)) return;
    event.preventDefault();
    button.click();
  });

  return (index) => {
    if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
    step = index;
    const { value } = labelAt(store.get(), index);
    setText(title, words("reasons_title", { n: numberOf(index), value: signOf(value) }));
    const fitting = reasons.filter((reason) => reason.value === value);
    list.replaceChildren(
      ...fitting.map(({ code, title: text }, i) => choice(code, LETTERS[i] ?? "", LETTERS[i] ?? "", text)),
      choice("", "Backspace", "⌫", words("reasons_none")),
    );
    dialog.showModal();
    const chosen = labelAt(store.get(), index).reason && list.querySelector('[aria-pressed="true"]');
    const first = chosen || list.querySelector("button");
    if (first instanceof HTMLElement) first.focus();
  };
}
