// @ts-check
/**
 * Feedback in the tutorial: the key's label, and why. The page knows nothing of it before the person's own label of
 * that step is stored; then the server, asked, gives it.
 */

import { post } from "../../lib/api.js";
import { byRole, el } from "../../lib/dom.js";
import { openGuidelines } from "../guideline_part.js";
import { kindOf, signOf } from "./step_text.js";

/** @typedef {import("../state/labels.js").Key} Key */
/** @typedef {import("../state/labels.js").Value} Value */
/**
 * @typedef {{message_index: number | null, first: Value, key: Value, right: boolean, reason: string, note: string,
 *   topic: string, cases: string[]}} Feedback
 */

/**
 * @param {object} options
 * @param {import("../state/store.js").Store} options.store
 * @param {import("./view.js").View} options.view
 * @param {import("../navigation.js").Navigation} options.navigation
 * @param {readonly {code: string, title: string}[]} options.reasons
 * @param {string | undefined} options.url   where to ask; without it there is none
 */
export function makeFeedback({ store, view, navigation, reasons, url }) {
  const { words } = view;
  /** @type {Map<Key, Feedback>} what has been given, drawn or not */
  const given = new Map();
  let asking = false;

  /** Whether a stored label has no feedback yet. */
  function isDue() {
    const { labels, dirty } = store.get();
    return [...labels].some(([key, { value }]) => value !== null && !dirty.has(key) && !given.has(key));
  }

  /** Ask for what is due. @param {boolean} [aloud] */
  async function ask(aloud = true) {
    if (!url || asking || !isDue()) return;
    asking = true;
    const answer = await post(url, {});
    asking = false;
    if (!answer.ok || !answer.data) {
      window.addEventListener("online", () => void ask(), { once: true });
      return;
    }
    for (const one of answer.data.feedback) add(one, aloud);
    if (isDue()) setTimeout(() => void ask(), 1000); // a label whose answer was on its way
  }

  /** @param {Feedback} one @param {boolean} aloud */
  function add(one, aloud) {
    const key = one.message_index ?? "outcome";
    if (given.has(key)) return;
    given.set(key, one);
    draw(key, one);
    if (aloud) navigation.announce(`${nameOf(key)}: ${verdictOf(one)}`);
  }

  /** @param {Key} key */
  const nameOf = (key) =>
    key === "outcome" ? words("feedback_outcome") : words("feedback_step", { n: view.numberOf(key) });

  /** @param {Feedback} one */
  const verdictOf = ({ right, first, key }) =>
    words(right ? "feedback_right" : "feedback_wrong", { value: signOf(first), key: signOf(key) });

  /** @param {Key} key @param {Feedback} one */
  function draw(key, one) {
    if (!view.controlsOf(key)) return;
    const article = key === "outcome" ? null : view.steps.get(key)?.article;
    const box = article ? byRole(article, "controls", HTMLElement) : byRole(document, "outcome", HTMLElement);
    const shape = el("span", { class: "mark__shape", "aria-hidden": "true" });
    const sign = el("span", { class: "mark__sign" }, signOf(one.key));
    const verdict = el("p", { class: "feedback__verdict" }, verdictOf(one));
    if (!one.right) verdict.prepend(el("span", { class: `mark mark--${kindOf(one.key)}` }, shape, sign), " ");
    const reason = reasons.find(({ code }) => code === one.reason)?.title ?? "";
    const part = el("button", { type: "button", class: "link-button" }, words("feedback_part"));
    part.addEventListener("click", () => openGuidelines(store.get(), { ...one, value: one.key }));
    const shown = [reason, one.note]
      .filter(Boolean)
      .map((text) => el("p", { class: "feedback__why", dir: "auto" }, text));
    box.append(
      el(
        "section",
        {
          class: `feedback feedback--${one.right ? "right" : "wrong"}`,
          "aria-label": nameOf(key),
          "data-role": "feedback",
        },
        verdict,
        ...shown,
        el("p", { class: "feedback__part" }, part),
      ),
    );
  }

  if (url) store.subscribe(() => void ask());
  return {
    /** What was given before the page was opened. */
    begin: () => ask(false),
    /** Steps have come to the page. @param {readonly HTMLElement[]} added */
    placed(added) {
      for (const article of added) {
        const one = given.get(Number(article.dataset.step));
        if (one) draw(Number(article.dataset.step), one);
      }
    },
  };
}
