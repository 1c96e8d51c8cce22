// @ts-check
/**
 * Saving decisions, each at once, one after the other for each form. What is refused stays in its form, with the words
 * that say why; a note that is being written is never replaced.
 */

import { form as sendForm, reasonOf } from "../lib/api.js";
import { byRole, setText } from "../lib/dom.js";
import { signOf } from "../workbench/view/step_text.js";

/** @typedef {import("../workbench/state/propagation_preview.js").Value} Value */

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

/** A form without a choice of values keeps its own. @param {HTMLFormElement} form @param {Value | null} value */
export function choose(form, value) {
  for (const radio of form.querySelectorAll('input[name="value"]')) {
    if (radio instanceof HTMLInputElement) radio.checked = value !== null && Number(radio.value) === value;
  }
}

/**
 * A decision as the server holds it.
 * @typedef {object} Stored
 * @property {Value | null} value    null: nothing is decided
 * @property {number} version
 * @property {boolean} [by_majority]
 * @property {string[]} [errors]     the errors of the consensus so far, in words
 */

/** The address of an act other than saving. @param {HTMLFormElement} form @param {"majority" | "withdraw"} act */
function urlOf(form, act) {
  const button = form.querySelector(`[data-${act}]`);
  return button instanceof HTMLButtonElement ? button.formAction : null;
}

/** @param {HTMLFormElement} form @param {Stored} now */
function hold(form, { value, version, by_majority = false }) {
  fieldOf(form, "version").value = String(version);
  form.toggleAttribute("data-by-majority", by_majority);
  const withdraw = form.querySelector("[data-withdraw]");
  if (withdraw instanceof HTMLElement) withdraw.hidden = value === null;
}

/**
 * @param {object} options
 * @param {import("../lib/dom.js").Words} options.words
 * @param {(form: HTMLFormElement, now: Stored) => void} options.stored   what the server now holds
 * @param {(form: HTMLFormElement) => void} options.refused   something was not saved; the form says why
 */
export function makeDecisions({ words, stored, refused }) {
  /** @type {Map<HTMLFormElement, Promise<boolean>>} what is on its way, and whether it is stored in the end */
  const saving = new Map();

  /** @param {HTMLFormElement} form @param {string} url @returns {Promise<boolean>} whether it is stored */
  async function send(form, url) {
    const said = byRole(form, "said", HTMLElement);
    const problem = byRole(form, "problem", HTMLElement);
    const note = form.elements.namedItem("note");
    const written = note instanceof HTMLTextAreaElement ? note.value : "";
    setText(said, words("saving"));
    const answer = await sendForm(url, new FormData(form));
    setText(said, "");
    if (answer.ok && answer.data) {
      if (note instanceof HTMLTextAreaElement) note.defaultValue = written; // only what is not stored counts as typed
      const now = /** @type {Stored} */ (answer.data);
      hold(form, now);
      choose(form, now.value);
      setText(problem, "");
      setText(said, words(now.value === null ? "withdrawn" : now.by_majority ? "saved_by_majority" : "saved"));
      stored(form, now);
      return true;
    }
    const error = answer.data?.error;
    if (error?.code === "stale_version" && error.details) {
      const now = /** @type {Stored} */ (error.details);
      hold(form, now);
      choose(form, now.value);
      stored(form, now);
      const values = { reason: error.message, value: signOf(now.value) };
      setText(problem, words(now.value === null ? "stale_open" : "stale", values));
      refused(form);
      return false;
    }
    const signedOut = answer.redirected || answer.status === 403;
    setText(problem, reasonOf(answer, words(signedOut ? "signed_out" : "offline")));
    refused(form);
    return false;
  }

  /** @param {HTMLFormElement} form @param {() => Promise<boolean>} act  when what is on its way has arrived */
  function queue(form, act) {
    const waiting = (saving.get(form) ?? Promise.resolve(true)).then(act);
    saving.set(form, waiting);
    void waiting.finally(() => saving.get(form) === waiting && saving.delete(form));
    return waiting;
  }

  return {
    /** The chosen value; a majority that was let stand stays one. @param {HTMLFormElement} form */
    save: (form) =>
      queue(form, async () => {
        if (chosenIn(form) === null) return true;
        const majority = form.dataset.byMajority === undefined ? null : urlOf(form, "majority");
        return send(form, majority ?? form.action);
      }),
    /** Let the majority stand. @param {HTMLFormElement} form */
    majority: (form) => queue(form, () => send(form, urlOf(form, "majority") ?? form.action)),
    /** Take the decision back. @param {HTMLFormElement} form */
    withdraw: (form) =>
      queue(form, async () => {
        const done = await send(form, urlOf(form, "withdraw") ?? form.action);
        if (fieldOf(form, "version").value !== "0") return done;
        for (const select of form.querySelectorAll(".origin select")) {
          if (select instanceof HTMLSelectElement) select.value = "";
        }
        return done;
      }),
    /** Wait until all requests have been answered: whether all of it is stored. */
    settled: async () => (await Promise.all(saving.values())).every(Boolean),
    /** Whether a request is under way. */
    any: () => saving.size > 0,
  };
}
