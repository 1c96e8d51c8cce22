// @ts-check
/**
 * Suggestions of judges. The page knows nothing of them until the server, asked for one step, has noted that they are
 * seen; a label goes to the server first, so that it is the blind one.
 */

import { get, post, reasonOf } from "../../lib/api.js";
import { byRole, el } from "../../lib/dom.js";
import { labelAt, suggestionTarget } from "../state/selectors.js";
import { kindOf, signOf } from "./step_text.js";

/** @typedef {import("../state/labels.js").Key} Key */
/** @typedef {import("../state/labels.js").Value | null} Suggested */
/** @typedef {{judge: string, value: Suggested, recalibrated: Suggested, reason: string}} JudgeSuggestion */
/** @typedef {{message_index: number | null, suggestions: JudgeSuggestion[]}} Revealed */
/** @typedef {ReturnType<typeof makeSuggestions>} Suggestions */

/**
 * @param {object} options
 * @param {import("../state/store.js").Store} options.store
 * @param {import("./view.js").View} options.view
 * @param {import("../navigation.js").Navigation} options.navigation
 * @param {import("../saving/saver.js").Saver} options.saver
 * @param {string} options.policy    the one in force, or "all" for admins who are done
 * @param {string} options.url       where to ask
 */
export function makeSuggestions({ store, view, navigation, saver, policy, url }) {
  const { words } = view;
  /** @type {Map<Key, readonly JudgeSuggestion[]>} what has been revealed, drawn or not */
  const revealed = new Map();
  /** @type {Set<Key>} */
  const drawn = new Set();
  /** @type {Set<Key>} */
  const asking = new Set();

  /** @param {Key} key */
  const nameOf = (key) =>
    key === "outcome" ? words("suggestions_outcome") : words("suggestions_step", { n: view.numberOf(key) });

  /** The reason why asking is of no use; empty when it is. @param {Key} key */
  function refusal(key) {
    if (policy === "never") return words("suggestions_never");
    if (policy === "after_submit" && store.get().open) return words("suggestions_submit");
    if (policy !== "after_label" || labelAt(store.get(), key).value !== null) return "";
    return words(key === "outcome" ? "suggestions_outcome_first" : "suggestions_label_first");
  }

  /** The key: the focused step, or the one just judged. */
  function revealFocused() {
    const position = suggestionTarget(store.get(), (index) => revealed.has(index) || refusal(index) === "");
    const step = store.get().steps[position];
    if (step === undefined) return;
    navigation.go(position);
    void reveal(step.index);
  }

  /** Show what is suggested for a step or the outcome. @param {Key} key */
  async function reveal(key) {
    const known = revealed.get(key);
    if (known) {
      show(key, known);
      return;
    }
    const no = refusal(key);
    if (no || asking.has(key)) {
      if (no) refuse(key, no);
      return;
    }
    asking.add(key);
    await saver.save();
    if (saver.pending()) refuse(key, words("suggestions_unsaved"));
    else {
      const answer = await post(url, key === "outcome" ? { outcome: true } : { message_index: key });
      if (answer.ok && answer.data) for (const one of answer.data.revealed) add(one, true);
      else refuse(key, answer.reached ? reasonOf(answer, String(answer.status)) : words("suggestions_offline"));
    }
    asking.delete(key);
  }

  /** @param {Revealed} one @param {boolean} now whether somebody waits for it */
  function add({ message_index, suggestions }, now) {
    const key = message_index ?? "outcome";
    const saysSomething = suggestions.some(({ value, reason }) => value !== null || reason !== "");
    if (!saysSomething) {
      if (now) refuse(key, words("suggestions_none"));
      return;
    }
    revealed.set(key, suggestions);
    if (now) show(key, suggestions);
    else if (key === "outcome") draw(key, suggestions);
    else drawWhenNear(key);
  }

  /** Draw it if need be, and say it. @param {Key} key @param {readonly JudgeSuggestion[]} suggestions */
  function show(key, suggestions) {
    draw(key, suggestions);
    const spoken = suggestions.map(({ judge, value, recalibrated }) => {
      const raw = `${judge}: ${value === null ? words("no_suggestion") : signOf(value)}`;
      return recalibrated === null ? raw : `${raw}, ${words("recalibrated")} ${signOf(recalibrated)}`;
    });
    navigation.announce(`${nameOf(key)}: ${spoken.join(", ")}`);
  }

  /** Steps are drawn when they come near: there may be a hundred. */
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const key = target instanceof HTMLElement ? Number(target.dataset.step) : -1;
        const suggestions = revealed.get(key);
        if (isIntersecting && suggestions) draw(key, suggestions);
      }
    },
    { rootMargin: "50% 0px" },
  );

  /** @param {number} key */
  function drawWhenNear(key) {
    const article = view.steps.get(key)?.article;
    if (article && !drawn.has(key)) watcher.observe(article);
  }

  /** The box with the controls of a label. @param {Key} key @returns {HTMLElement | null} */
  function boxOf(key) {
    if (!view.controlsOf(key)) return null;
    if (key === "outcome") return byRole(document, "outcome", HTMLElement);
    const article = view.steps.get(key)?.article;
    return article ? byRole(article, "controls", HTMLElement) : null;
  }

  /** @param {Key} key @param {readonly JudgeSuggestion[]} suggestions */
  function draw(key, suggestions) {
    const box = drawn.has(key) ? null : boxOf(key);
    if (!box) return;
    drawn.add(key);
    const step = key === "outcome" ? undefined : view.steps.get(key);
    if (step) watcher.unobserve(step.article);
    box.querySelector('[data-role="refused"]')?.remove();
    box.querySelector('[data-action="reveal"]')?.remove();
    const rows = suggestions.map(({ judge, value, recalibrated, reason }) =>
      el(
        "div",
        { class: "suggestions__judge" },
        el("dt", {}, judge),
        el("dd", {}, chip(value), " ", beside(recalibrated), " ", reasonText(reason)),
      ),
    );
    const heading = el(step ? "h4" : "h3", { class: "suggestions__title" }, words("suggestions"));
    const region = {
      class: "suggestions",
      role: "region",
      "aria-label": nameOf(key),
      tabindex: "0",
      "data-role": "suggestions",
    };
    box.append(el("section", region, heading, el("dl", {}, ...rows)));
    step?.marks.after(el("span", { class: "badge badge--outline", "data-role": "seen" }, words("suggestions_seen")));
  }

  /** @param {JudgeSuggestion["value"]} value */
  function chip(value) {
    if (value === null) return el("span", { class: "soft" }, words("no_suggestion"));
    const shape = el("span", { class: "mark__shape", "aria-hidden": "true" });
    const sign = el("span", { class: "mark__sign" }, signOf(value));
    return el("span", { class: `mark mark--${kindOf(value)}` }, shape, sign);
  }

  /** The recalibrated value, marked as such. @param {Suggested} value */
  function beside(value) {
    if (value === null) return "";
    return el("span", { class: "suggestions__recalibrated" }, words("recalibrated"), " ", chip(value));
  }

  /**
   * Steps have come to the page or left it.
   * @param {readonly HTMLElement[]} added
   * @param {readonly HTMLElement[]} removed
   */
  function placed(added, removed) {
    for (const article of removed) {
      watcher.unobserve(article);
      drawn.delete(Number(article.dataset.step));
    }
    for (const article of added) {
      if (revealed.has(Number(article.dataset.step))) drawWhenNear(Number(article.dataset.step));
    }
  }

  /** Refuse beside the controls and aloud, until something else happens. @param {Key} key @param {string} why */
  function refuse(key, why) {
    navigation.announce(why);
    const box = boxOf(key);
    box?.querySelector('[data-role="refused"]')?.remove();
    const refusedText = el("p", { class: "suggestions__refused", "data-role": "refused" }, why);
    box?.append(refusedText);
    // not when a finger comes down: what it points at must not move away under it
    for (const name of ["keydown", "click"]) {
      document.addEventListener(name, () => refusedText.remove(), { once: true, capture: true });
    }
  }

  /** Bring back earlier reveals; where everything is shown from the start, ask for it once. */
  async function begin() {
    if (policy === "never") return;
    const all = policy === "always";
    const answer = all ? await post(url, { all: true }) : await get(url);
    if (answer.ok && answer.data) for (const one of answer.data.revealed) add(one, false);
    else if (!answer.reached) {
      if (all) navigation.announce(words("suggestions_offline"));
      window.addEventListener("online", () => void begin(), { once: true });
    }
  }

  return { begin, placed, reveal, revealFocused };
}

/** @param {string} reason */
const reasonText = (reason) => (reason ? el("span", { class: "suggestions__reason", dir: "auto" }, reason) : "");
