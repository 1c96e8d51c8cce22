// @ts-check
/**
 * Leaving a trajectory: submitting it and taking the next, giving it back, or going to another one of one's own.
 */

import { csrfToken, newOpId, post, reasonOf } from "../lib/api.js";
import { byRole, setText } from "../lib/dom.js";
import { allMissing, firstMissing, oddity, presetOutcome } from "./state/selectors.js";

/** @typedef {ReturnType<typeof makeSubmission>} Submission */

/**
 * @param {object} options
 * @param {import("./state/store.js").Store} options.store
 * @param {import("./view/view.js").View} options.view
 * @param {import("./navigation.js").Navigation} options.navigation
 * @param {import("./saving/saving.js").Saving} options.saving
 * @param {() => Promise<void>} options.reportTime
 * @param {{submit: string, return: string, done: string}} options.urls
 */
export function makeSubmission({ store, view, navigation, saving, reportTime, urls }) {
  const { words } = view;
  const box = byRole(document, "missing", HTMLElement);
  const rest = byRole(document, "missing-rest", HTMLElement);
  let leaving = false;
  /** @type {string | null} what has been asked already */
  let asked = null;

  /** The number of the step at a position, by which people name it. @param {number} position */
  const numberAt = (position) => view.numberOf(store.get().steps[position]?.index ?? null);

  /** @param {number | "outcome"} first  what is missing */
  function goToMissing(first) {
    const others = allMissing(store.get()).filter((one) => one !== first);
    if (first === "outcome") {
      setText(box, words("missing_outcome"));
      view.outcome.radios[0]?.focus();
    } else {
      const proposed = store.get().results[first]?.proposal;
      setText(box, words(proposed ? "missing_confirm" : "missing_step", { n: numberAt(first) }));
      navigation.go(first);
    }
    const names = others.map((one) => (one === "outcome" ? words("outcome") : String(numberAt(one))));
    setText(rest, others.length ? words("missing_rest", { list: names.join(", ") }) : "");
  }

  /** Forget the missing parts and the question: they change with every label. */
  function forgetMissing() {
    if (box.hidden && rest.hidden) return;
    setText(box, "");
    setText(rest, "");
  }

  /** Whether the outcome sits oddly with the steps and this has not been asked yet. It is asked once. */
  function asks() {
    const odd = oddity(store.get());
    if (odd === null || odd === asked) return false;
    asked = odd;
    setText(box, words(odd));
    setText(rest, words("submit_again"));
    return true;
  }

  async function submit() {
    if (!store.get().open || leaving) return;
    forgetMissing();
    const first = firstMissing(store.get());
    if (first !== null) {
      goToMissing(first);
      return;
    }
    if (asks()) return;
    const preset = presetOutcome(store.get());
    if (preset !== null) store.dispatch({ type: "value", key: "outcome", value: preset });
    await saving.saver.save();
    if (saving.saver.pending()) {
      setText(box, words("wait"));
      return;
    }
    await reportTime();
    const answer = await post(urls.submit, {});
    if (answer.ok) {
      leaving = true;
      saving.tellClosed();
      takeNext();
      return;
    }
    const lacks = answer.data?.error?.details?.missing?.[0];
    const position = store.get().steps.findIndex((step) => step.index === lacks);
    if (position >= 0) goToMissing(position);
    else setText(box, answer.reached ? reasonOf(answer, String(answer.status)) : words("offline"));
  }

  /** @param {string} reason @returns {Promise<string>} why it could not be done; empty when it is */
  async function giveBack(reason) {
    await saving.saver.save();
    if (saving.saver.pending()) return words("wait_return");
    await reportTime();
    const answer = await post(urls.return, { reason });
    if (!answer.ok) return answer.reached ? reasonOf(answer, String(answer.status)) : words("offline");
    leaving = true;
    saving.tellClosed();
    window.location.assign(urls.done);
    return "";
  }

  /** Another trajectory of one's own, with everything saved here. @param {"next" | "previous"} way */
  async function goToOwn(way) {
    const link = document.querySelector(`[data-own="${way}"]`);
    if (!(link instanceof HTMLAnchorElement)) {
      navigation.announce(words(`no_${way}`));
      return;
    }
    await saving.saver.save();
    await reportTime();
    window.location.assign(link.href);
  }

  return {
    submit,
    giveBack,
    goToOwn,
    forgetMissing,
    /** Say something where it is said what is missing. @param {string} text */
    say: (text) => setText(box, text),
    /** Whether the page is being left on purpose, with everything saved. */
    isLeaving: () => leaving,
  };
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
