// @ts-check
/**
 * The steps of a case on its page: what is said and decided of each, drawn into its card, the rail and the bar of
 * narrow screens.
 */

import { byRole, el, makeWords, setAttribute, setText } from "../lib/dom.js";
import { kindOf, signOf } from "../workbench/view/step_text.js";
import { effectOf } from "./effects.js";

/** @typedef {import("../workbench/state/propagation_preview.js").Value} Value */
/** @typedef {{value: Value | null, root: number | null, reason: string}} Label   root: a message index */
/**
 * @typedef {object} Said
 * @property {Record<string, Label>} says   what each letter says now
 * @property {Value | null} agreed
 * @property {number | null} named          the root on which all agree who say −1
 * @property {Value | null} decided
 */
/** @typedef {Said & {index: number, number: number, after_user_turn: boolean}} StepState */
/**
 * @typedef {object} Item
 * @property {HTMLElement} card
 * @property {Said} said
 * @property {number | null} index   null: the outcome
 * @property {boolean} disputed
 * @property {HTMLFormElement | null} form
 */

export const page = JSON.parse(document.getElementById("case-state")?.textContent ?? "{}");
export const words = makeWords(page.words);
const progress = byRole(document, "progress", HTMLElement);
const here = byRole(document, "mobile-here", HTMLElement);
/** @type {StepState[]} */
const steps = page.steps;
/** @type {Map<number, number>} */
const numbers = new Map(steps.map((step) => [step.index, step.number]));

/** @type {Item[]} the steps in order, the outcome last */
export const items = [...document.querySelectorAll("[data-step]")].flatMap((card) => {
  if (!(card instanceof HTMLElement)) return [];
  const index = card.dataset.step === "outcome" ? null : Number(card.dataset.step);
  const said = index === null ? page.outcome : steps.find((step) => step.index === index);
  const form = card.querySelector("form[data-decide]");
  const disputed = card.dataset.disputed !== undefined;
  return [{ card, said, index, disputed, form: form instanceof HTMLFormElement ? form : null }];
});
/** The value in the consensus so far. @param {Item} item @returns {Value | null} */
export const valueOf = ({ said }) => said.decided ?? said.agreed;
/** The root and the reason of an error, as a form asks them. @param {Item} item @param {"root" | "reason"} name */
export function originField({ card }, name) {
  const field = card.querySelector(`.origin select[name="${name}"]`);
  return field instanceof HTMLSelectElement ? field : null;
}
/** The root that a −1 has or would have; null where nobody names one. @param {Item} item */
export function rootOf(item) {
  const chosen = originField(item, "root")?.value;
  return chosen ? Number(chosen) : item.said.named;
}
/** Items that are disputed and not decided yet. */
export const undecided = () => items.filter((item) => item.disputed && valueOf(item) === null);

/** @param {readonly number[]} indexes */
const listed = (indexes) => indexes.map((index) => numbers.get(index)).join(", ");

/** @param {import("./effects.js").ErrorRun} run */
function runText({ root, members, proposed }) {
  const n = numbers.get(root) ?? 0;
  const run = members.length ? words("run_with", { n, list: listed(members) }) : words("run", { n });
  return proposed.length ? words("run_proposed", { run, list: listed(proposed) }) : run;
}

/** The effect of a value on the errors of the consensus so far. @param {Item} item @param {Value} value */
export function effectOn(item, value) {
  const consensus = items.flatMap((one) => {
    const step = steps.find((state) => state.index === one.index);
    return step ? [{ ...step, value: valueOf(one), root: rootOf(one) }] : [];
  });
  return effectOf(consensus, item.index ?? -1, value, page.rules, rootOf(item));
}

/** Show the effect of each value on the errors, beside the decision. @param {Item} item */
function drawEffects(item) {
  const { card, index } = item;
  const box = card.querySelector('[data-role="effects"]');
  if (!(box instanceof HTMLElement) || index === null) return;
  const rows = /** @type {Value[]} */ ([1, 0, -1]).flatMap((value) => {
    const { what, root, runs } = effectOn(item, value);
    const own = words(`effect_${what}`, { n: numbers.get(root ?? index) ?? 0 });
    const all = runs.length ? words("runs", { list: runs.map(runText).join("; ") }) : words("runs_none");
    const mark = el(
      "span",
      { class: `mark mark--${kindOf(value)}` },
      el("span", { class: "mark__sign" }, signOf(value)),
    );
    return [el("dt", {}, mark), el("dd", {}, own, el("span", { class: "soft" }, ` · ${all}`))];
  });
  box.replaceChildren(...rows);
  box.hidden = false;
}

/** All at once, also those out of sight: nothing moves under a finger that has just touched a step. */
export function drawAllEffects() {
  for (const item of items) if (item.disputed) drawEffects(item);
}

/** @param {Item} item */
export function drawItem(item) {
  const value = valueOf(item);
  item.card.classList.toggle("is-labelled", value !== null);
  if (value === null) delete item.card.dataset.value;
  else item.card.dataset.value = kindOf(value);
  const link = document.querySelector(`.rail [data-goto="${item.index ?? "outcome"}"]`);
  const mark = link?.querySelector('[data-role="rail-mark"]');
  if (mark) {
    mark.className = `mark mark--${kindOf(value)}`;
    const sign = mark.querySelector(".mark__sign");
    if (sign) sign.textContent = value === null ? "" : signOf(value);
  }
  for (const sealed of item.card.querySelectorAll('[data-role="sealed"]')) {
    if (sealed instanceof HTMLElement) sealed.hidden = item.said.decided !== null;
  }
  for (const button of item.card.querySelectorAll("[data-reveal] button")) {
    if (button instanceof HTMLButtonElement) button.disabled = item.said.decided === null;
  }
}

/** The errors of the consensus so far, as the server has them. @param {readonly string[]} texts */
export function drawErrors(texts) {
  document.querySelector('[data-role="errors"] ul')?.replaceChildren(...texts.map((text) => el("li", {}, text)));
}

export function drawProgress() {
  const all = items.filter((item) => item.disputed).length;
  setText(progress, words("progress", { done: all - undecided().length, all }));
}

/** The focused item, on the page, in the rail and in the bar of narrow screens. @param {number} at */
export function drawFocused(at) {
  const item = items[at];
  items.forEach((one, i) => one.card.classList.toggle("is-focused", i === at));
  for (const link of document.querySelectorAll(".rail [data-goto]")) {
    const mine = link instanceof HTMLElement && link.dataset.goto === String(item?.index ?? "outcome");
    if (mine) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (!item) return;
  const number = item.index === null ? null : numbers.get(item.index);
  setText(here, number ? words("step", { n: number }) : words("outcome"));
  for (const button of document.querySelectorAll(".thumb [data-value], .thumb [data-action^=take]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    button.disabled = !item.form;
    if (button.dataset.value)
      setAttribute(button, "aria-pressed", String(button.dataset.value === String(valueOf(item))));
  }
}
