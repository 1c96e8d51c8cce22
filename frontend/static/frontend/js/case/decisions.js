// @ts-check
/**
 * Saving decisions, each at once, one after the other for each form. What is refused stays in its form, with the words
 * that say why; a note that is being written is never replaced.
 */

import { form as sendForm, reasonOf } from "../lib/api.js";
import { byRole, setText } from "../lib/dom.js";
import { signOf } from "../workbench/step_text.js";

/** @typedef {import("../workbench/propagation.js").Value} Value */

/** @param {HTMLFormElement} form @param {string} name */
export function fieldOf(form, name) {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field;
  throw new Error(`the form has no ${name}`);
}

/** @param {HTMLFormElement} form @returns {Value | null} what is chosen */
export function chosenIn(form) {
  const value = new FormData(form).get("value");
  return value === null ? null : /** @type {Value} */ (Number(value));
}

/** @param {HTMLFormElement} form @param {Value | null} value */
export function choose(form, value) {
  for (const radio of form.querySelectorAll('input[name="value"]')) {
    if (radio instanceof HTMLInputElement) radio.checked = value !== null && Number(radio.value) === value;
  }
}

/**
 * @param {object} options
 * @param {import("../lib/dom.js").Words} options.words
 * @param {(form: HTMLFormElement, value: Value | null) => void} options.stored   what the server now holds
 * @param {(form: HTMLFormElement) => void} options.refused   something was not saved; the form says why
 */
export function makeDecisions({ words, stored, refused }) {
  /** @type {Map<HTMLFormElement, Promise<void>>} */
  const saving = new Map();

  /** @param {HTMLFormElement} form */
  async function save(form) {
    const value = chosenIn(form);
    if (value === null) return;
    const said = byRole(form, "said", HTMLElement);
    const problem = byRole(form, "problem", HTMLElement);
    setText(said, words("saving"));
    const answer = await sendForm(form.action, new FormData(form));
    setText(said, "");
    if (answer.ok && answer.data) {
      fieldOf(form, "version").value = String(answer.data.version);
      setText(problem, "");
      setText(said, words("saved"));
      stored(form, answer.data.value);
      return;
    }
    const error = answer.data?.error;
    if (error?.code === "stale_version" && error.details) {
      const now = /** @type {Value | null} */ (error.details.value);
      fieldOf(form, "version").value = String(error.details.version);
      choose(form, now);
      stored(form, now);
      const values = { reason: error.message, value: signOf(now) };
      setText(problem, words(now === null ? "stale_open" : "stale", values));
      refused(form);
      return;
    }
    const signedOut = answer.redirected || answer.status === 403;
    setText(problem, reasonOf(answer, words(signedOut ? "signed_out" : "offline")));
    refused(form);
  }

  return {
    /** @param {HTMLFormElement} form */
    save(form) {
      const waiting = (saving.get(form) ?? Promise.resolve()).then(() => save(form));
      saving.set(form, waiting);
      return waiting;
    },
    /** When everything that was on its way has arrived. */
    settled: () => Promise.all(saving.values()),
    /** Whether anything was ever on its way. */
    any: () => saving.size > 0,
  };
}
