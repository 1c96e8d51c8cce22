// @ts-check
/**
 * The end of a trajectory: handing it in and taking the next, or giving it back.
 */

import { csrfToken, newOpId, post, reasonOf } from "../lib/api.js";
import { current, go, page, reportTime, saver, tellClosed, view, words } from "./store.js";
import { byRole, setText } from "../lib/dom.js";
import { allMissing, firstMissing, oddity } from "./selectors.js";

let leaving = false;
/** @type {string | null} what has been asked already */
let asked = null;

/** Whether the page is being left on purpose, with everything saved. */
export const isLeaving = () => leaving;

const box = byRole(document, "missing", HTMLElement);
const rest = byRole(document, "missing-rest", HTMLElement);

/** @param {number | "outcome"} first  what is missing */
function goToMissing(first) {
  const others = allMissing(current()).filter((one) => one !== first);
  if (first === "outcome") {
    setText(box, words("missing_outcome"));
    view.outcome.radios[0]?.focus();
  } else {
    const proposed = current().results[first]?.proposal;
    setText(box, words(proposed ? "missing_confirm" : "missing_step", { n: first + 1 }));
    go(first);
  }
  const names = others.map((one) => (one === "outcome" ? words("outcome") : String(one + 1)));
  setText(rest, others.length ? words("missing_rest", { list: names.join(", ") }) : "");
}

/** What is missing, or asked, changes with every label. */
export function forgetMissing() {
  if (box.hidden && rest.hidden) return;
  setText(box, "");
  setText(rest, "");
}

/** Whether the outcome sits oddly with the steps and this has not been asked yet. It is asked once. */
function asks() {
  const odd = oddity(current());
  if (odd === null || odd === asked) return false;
  asked = odd;
  setText(box, words(odd));
  setText(rest, words("submit_again"));
  return true;
}

export async function submit() {
  if (!current().open || leaving) return;
  forgetMissing();
  const first = firstMissing(current());
  if (first !== null) {
    goToMissing(first);
    return;
  }
  if (asks()) return;
  await saver.save();
  if (saver.pending()) {
    setText(box, words("wait"));
    return;
  }
  await reportTime();
  const answer = await post(page.urls.submit, {});
  if (answer.ok) {
    leaving = true;
    tellClosed();
    takeNext();
    return;
  }
  const lacks = answer.data?.error?.details?.missing?.[0];
  const position = current().steps.findIndex((step) => step.index === lacks);
  if (position >= 0) goToMissing(position);
  else setText(box, answer.reached ? reasonOf(answer, String(answer.status)) : words("offline"));
}

/** The next trajectory, as the button on the list of one's work takes it; the list says when there is none. */
function takeNext() {
  const form = byRole(document, "next", HTMLFormElement);
  for (const [name, value] of Object.entries({ claim_key: newOpId(), csrfmiddlewaretoken: csrfToken() })) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = value;
  }
  form.submit();
}

/** @param {string} reason @returns {Promise<string>} why it could not be done; empty when it is */
export async function giveBack(reason) {
  await saver.save();
  if (saver.pending()) return words("wait_return");
  await reportTime();
  const answer = await post(page.urls.return, { reason });
  if (!answer.ok) return answer.reached ? reasonOf(answer, String(answer.status)) : words("offline");
  leaving = true;
  tellClosed();
  window.location.assign(page.urls.done);
  return "";
}
