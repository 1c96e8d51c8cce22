// @ts-check
/**
 * Keys and saving on the page of a case: 1, 0 and - decide the focused disagreement, j and k move between them.
 * Every decision is saved at once. Without this the same forms work with their own buttons.
 */

import { form as sendForm, reasonOf } from "../lib/api.js";

/** @type {Record<string, string>} */
const VALUES = { 1: "1", "+": "1", 0: "0", "-": "-1" };

/** @returns {HTMLElement[]} */
const cards = () => [...document.querySelectorAll("[data-decision]")].filter((card) => card instanceof HTMLElement);

const words = /** @type {HTMLElement} */ (document.querySelector("[data-case]")).dataset;

/** @type {Map<HTMLFormElement, Promise<void>>} One save after the other for each card: versions count up. */
const saving = new Map();

/** @param {HTMLElement} card @param {string} text */
function showStatus(card, text) {
  const status = card.querySelector("[data-said]");
  if (status) status.textContent = text;
}

/** @param {HTMLFormElement} form */
async function save(form) {
  const card = form.closest("[data-decision]");
  if (!(card instanceof HTMLElement) || !new FormData(form).has("value")) return;
  showStatus(card, words.saving ?? "");
  const answer = await sendForm(form.action, new FormData(form));
  if (!answer.ok || !answer.data) {
    const signedOut = answer.redirected || answer.status === 403;
    return showStatus(card, reasonOf(answer, (signedOut ? words.signedOut : words.offline) ?? ""));
  }
  const version = form.elements.namedItem("version");
  if (version instanceof HTMLInputElement) version.value = String(answer.data.version);
  card.classList.add("decision--done");
  showStatus(card, words.saved ?? "");
}

/** @param {HTMLFormElement} form */
function enqueue(form) {
  const waiting = (saving.get(form) ?? Promise.resolve()).then(() => save(form));
  saving.set(form, waiting);
  return waiting;
}

/** The card that has the focus, or the first one. */
function focused() {
  const active = document.activeElement?.closest("[data-decision]");
  return active instanceof HTMLElement ? active : undefined;
}

/** Focus a card and bring its step into view beside it. @param {HTMLElement | undefined} card */
function go(card) {
  if (!card) return;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
  for (const old of document.querySelectorAll(".is-pointed")) old.classList.remove("is-pointed");
  const step = document.getElementById(card.dataset.goto ?? "");
  step?.classList.add("is-pointed");
  step?.scrollIntoView({ block: "start" });
}

/** @param {KeyboardEvent} event */
function typing(event) {
  const target = event.target;
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && target.type !== "radio")
  );
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event) || document.querySelector("dialog[open]")) return;
  const all = cards();
  const card = focused();
  const at = card ? all.indexOf(card) : -1;
  if (event.key === "j" || event.key === "k") {
    event.preventDefault();
    return go(all[event.key === "j" ? Math.min(at + 1, all.length - 1) : Math.max(at - 1, 0)]);
  }
  const value = VALUES[event.key];
  if (value === undefined) return;
  const here = card ?? all[0];
  const radio = here?.querySelector(`input[name="value"][value="${value}"]`);
  if (!(radio instanceof HTMLInputElement) || !radio.form) return;
  event.preventDefault();
  radio.checked = true;
  void enqueue(radio.form);
  go(all[all.indexOf(here) + 1] ?? here);
});

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    const form = field.form;
    if (form?.dataset.decide !== undefined) void enqueue(form);
  }
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  if (form.dataset.decide !== undefined) {
    event.preventDefault();
    void enqueue(form);
  } else if (form.dataset.finish !== undefined && saving.size) {
    // What is being saved comes first.
    event.preventDefault();
    void Promise.all(saving.values()).then(() => form.submit());
  }
});

// What the server found missing, or what was decided last without this script.
const pointed = document.getElementById(window.location.hash.slice(1));
if (pointed?.matches("[data-decision]")) go(pointed);

document.body.classList.add("has-script");
