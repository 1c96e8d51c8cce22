// @ts-check
/**
 * A case of an audit: what is chosen and written is kept on the server whenever it changes, and decides nothing before
 * all of it is sent. Without this a button of the form keeps it.
 */

import { form as sendForm, reasonOf } from "../lib/api.js";
import { byRole, setText } from "../lib/dom.js";
import "../pages/drafts.js";

const form = document.querySelector("form[data-keep]");
if (!(form instanceof HTMLFormElement)) throw new Error("the page has no case");
const said = byRole(form, "said", HTMLElement);
const problem = byRole(form, "problem", HTMLElement);

async function keep() {
  const data = new FormData(/** @type {HTMLFormElement} */ (form));
  data.set("keep", "1");
  setText(said, said.dataset.saving ?? "");
  const answer = await sendForm(window.location.pathname, data);
  setText(said, answer.ok ? (said.dataset.saved ?? "") : "");
  setText(problem, answer.ok ? "" : reasonOf(answer, problem.dataset.offline ?? ""));
  if (!answer.ok) return;
  for (const [name, value] of data) {
    const field = /** @type {HTMLFormElement} */ (form).elements.namedItem(name);
    // a note without a value is no draft yet: it still counts as typed
    const chosen = data.has(name.replace(/^note-/, "value-"));
    if (field instanceof HTMLTextAreaElement && chosen) field.defaultValue = String(value);
  }
}

let keeping = Promise.resolve();
form.addEventListener("change", () => {
  keeping = keeping.then(keep);
});
