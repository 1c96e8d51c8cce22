// @ts-check
/**
 * A correction that is being written: it is kept in this browser until it has been saved, held against the schemas of
 * its tools while it is typed, and sent again when a lost connection comes back.
 */

import { form as sendForm, reasonOf } from "../lib/api.js";
import { byRole, setText } from "../lib/dom.js";
import { makeDrafts } from "../lib/drafts.js";
import { forgetErrors, showErrors } from "../lib/form_errors.js";
import { ownStorage } from "../lib/storage.js";
import "./transcript.js";

/** After the last key, in ms. */
const CHECK_AFTER = 400;
/** After a save that did not reach the server, in ms. */
const RETRY_AFTER = 4000;
/** Of a page, and not of what is said. */
const NOT_KEPT = new Set(["csrfmiddlewaretoken", "began"]);

/** @param {HTMLFormElement} form */
function keepCorrection(form) {
  const drafts = makeDrafts({ storage: ownStorage() });
  const name = `correction:${form.dataset.correction}`;
  const version = Number(form.dataset.version);
  const said = byRole(form, "said", HTMLElement);
  const problem = byRole(form, "problem", HTMLElement);
  const unchecked = byRole(form, "unchecked", HTMLElement);

  const typed = () => {
    const pairs = [...new FormData(form)].filter(([key, value]) => !NOT_KEPT.has(key) && typeof value === "string");
    return JSON.stringify(Object.fromEntries(pairs));
  };
  const began = typed();

  function restore() {
    const text = drafts.read(name, version);
    if (!text || text === began) return;
    /** @type {Record<string, string>} */
    let kept;
    try {
      kept = JSON.parse(text);
    } catch {
      return;
    }
    for (const field of form.elements) {
      if (field instanceof HTMLInputElement && ["radio", "checkbox"].includes(field.type)) {
        field.checked = kept[field.name] === field.value;
      } else if (
        (field instanceof HTMLInputElement && field.type !== "hidden") ||
        field instanceof HTMLTextAreaElement ||
        field instanceof HTMLSelectElement
      ) {
        if (field.name in kept) field.value = kept[field.name] ?? "";
      }
    }
    for (const call of form.querySelectorAll("details")) {
      call.open ||= [...call.querySelectorAll("input, textarea")].some((field) => "value" in field && field.value);
    }
    byRole(form, "kept", HTMLElement).hidden = false;
  }

  /** What is wrong with the action, beside its fields; nothing takes the focus away. */
  async function check() {
    const chosen = form.querySelector('input[name="choice"]:checked');
    const place = chosen?.closest(".correction__choice--typed")?.querySelector('[data-role="checked"]');
    if (!(place instanceof HTMLElement)) return;
    const answer = await sendForm(form.dataset.check ?? "", new FormData(form));
    if (!answer.ok) return;
    /** @type {Record<string, string>} */
    const fields = answer.data.fields;
    const tools = answer.data.unchecked.join(", ");
    forgetErrors(form);
    const errors = Object.fromEntries(Object.entries(fields).map(([field, sentence]) => [field, [sentence]]));
    const beside = showErrors(form, errors, { stay: true });
    const calls = place.parentElement?.querySelectorAll(".correction__call[open]").length ?? 0;
    const fits = !Object.keys(fields).length && calls ? (form.dataset.fits ?? "") : "";
    setText(place, beside.join(" ") || (tools ? (form.dataset.unchecked ?? "").replace("{tools}", tools) : fits));
    if (tools) unchecked.hidden = false;
  }

  let waiting = 0;
  form.addEventListener("input", () => {
    const now = typed();
    drafts.write(name, now === began ? "" : now);
    clearTimeout(waiting);
    waiting = window.setTimeout(check, CHECK_AFTER);
  });

  let lost = false;
  let sending = false;
  let again = 0;
  /** Send what a lost connection kept back, unless it is being changed to what cannot be sent. */
  function retry() {
    if (lost && form.checkValidity()) save();
  }
  async function save() {
    if (sending || !form.reportValidity()) return;
    sending = true;
    clearTimeout(waiting);
    clearTimeout(again);
    drafts.send(name, typed(), version);
    setText(said, form.dataset.saving ?? "");
    const answer = await sendForm(window.location.pathname, new FormData(form));
    sending = false;
    lost = !answer.reached && !answer.redirected;
    // a server that is back fires no event, and the first attempt after one may come too early
    if (lost) again = window.setTimeout(retry, RETRY_AFTER);
    if (answer.ok) {
      drafts.write(name, "");
      window.location.assign(answer.data.next);
      return;
    }
    drafts.write(name, typed());
    setText(said, "");
    // what somebody saved meanwhile is shown by the page itself; so is the way to sign in again
    if (answer.status === 409 || answer.redirected) {
      form.submit();
      return;
    }
    forgetErrors(form);
    const rest = answer.data?.fields ? showErrors(form, answer.data.fields) : [];
    const failed = (lost ? form.dataset.offline : form.dataset.failed) ?? "";
    setText(problem, answer.data?.fields ? rest.join(" ") : reasonOf(answer, failed));
    if (form.querySelector('[name="checked_myself"][aria-invalid]')) unchecked.hidden = false;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  window.addEventListener("online", retry);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  restore();
}

const form = document.querySelector("form[data-correction]");
if (form instanceof HTMLFormElement) keepCorrection(form);
