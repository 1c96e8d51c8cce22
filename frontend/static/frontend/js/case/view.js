// @ts-check
/**
 * The steps of a case on its page: what is said and decided of each, drawn into its card, the rail and the bar of
 * narrow screens.
 */

import { byRole, el, makeWords, setAttribute, setText, whenIdle } from "../lib/dom.js";
import { drawStrip, hasStrip } from "../lib/run_strip.js";
import { kindOf, letterOf, signOf } from "../workbench/view/step_text.js";
import { effectOf } from "./effects.js";

/** @typedef {import("../workbench/state/propagation_preview.js").Value} Value */
/** @typedef {{value: Value | null, root: number | null, reason: string}} Label   root: a message index */
/**
 * @typedef {object} Said
 * @property {Record<string, Label>} says   what each letter says now
 * @property {Value | null} agreed
 * @property {number | null} named          the root on which all agree who say −1
 * @property {Value | null} decided
 * @property {number | null} root           where the error of a decided −1 began
 * @property {boolean} disputed
 */
/** @typedef {Said & {index: number, number: number, after_user_turn: boolean}} StepState */
/**
 * A step or, with the index null, the outcome. Its card and form are null while it is not on the page.
 * @typedef {object} Item
 * @property {Said} said
 * @property {number | null} index
 * @property {boolean} disputed
 * @property {HTMLElement | null} card
 * @property {HTMLFormElement | null} form
 */

/** So many steps, times those of which the effects are drawn, are gone through at once. */
const AT_ONCE = 10_000;

export const page = JSON.parse(document.getElementById("case-state")?.textContent ?? "{}");
export const words = makeWords(page.words);
const progress = byRole(document, "progress", HTMLElement);
const here = byRole(document, "mobile-here", HTMLElement);
/** @type {StepState[]} */
const steps = page.steps;
/** @type {Map<number, number>} */
const numbers = new Map(steps.map((step) => [step.index, step.number]));

/** @param {Said} said @param {number | null} index @returns {Item} */
function itemOf(said, index) {
  return {
    said,
    index,
    disputed: said.disputed,
    get card() {
      return document.getElementById(index === null ? "outcome" : `m${index}`);
    },
    get form() {
      const form = this.card?.querySelector("form[data-decide]");
      return form instanceof HTMLFormElement ? form : null;
    },
  };
}

/** @type {Item[]} the steps in order, the outcome last */
export const items = [...steps.map((step) => itemOf(step, step.index)), itemOf(page.outcome, null)];
/** The value in the consensus so far. @param {Item} item @returns {Value | null} */
export const valueOf = ({ said }) => said.decided ?? said.agreed;
/** The root and the reason of an error, as a form asks them. @param {Item} item @param {"root" | "reason"} name */
export function originField({ card }, name) {
  const field = card?.querySelector(`.origin select[name="${name}"]`);
  return field instanceof HTMLSelectElement ? field : null;
}
/**
 * Choose where an error began; a step that is too far away to be offered is offered then.
 * @param {HTMLSelectElement} field
 * @param {number | null} index
 */
export function chooseRoot(field, index) {
  field.value = String(index ?? "");
  if (index === null || field.value) return;
  field.add(el("option", { value: String(index) }, words("began_at", { n: numbers.get(index) ?? 0 })), 1);
  field.value = String(index);
}
/** The root that a −1 has or would have; null where nobody names one. @param {Item} item */
export function rootOf(item) {
  const chosen = item.card ? originField(item, "root")?.value : item.said.root;
  return chosen || chosen === 0 ? Number(chosen) : item.said.named;
}
/** @param {Item} item */
const open = (item) => item.disputed && valueOf(item) === null;
/** Items that are disputed and not decided yet. */
export const undecided = () => items.filter(open);

/** So many steps of an error are named one by one; of more, those that follow each other as a range. */
const EACH_NUMBER = 12;

/** @param {readonly number[]} indexes */
function listed(indexes) {
  const all = indexes.map((index) => numbers.get(index) ?? 0);
  if (all.length <= EACH_NUMBER) return all.join(", ");
  /** @type {[number, number][]} */
  const ranges = [];
  for (const number of all) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(", ");
}

/** @param {import("./effects.js").ErrorRun} run */
function runText({ root, members, proposed }) {
  const n = numbers.get(root) ?? 0;
  const run = members.length ? words("run_with", { n, list: listed(members) }) : words("run", { n });
  return proposed.length ? words("run_proposed", { run, list: listed(proposed) }) : run;
}

/** The effect of a value on the errors of the consensus so far. @param {Item} item @param {Value} value */
export function effectOn(item, value) {
  const consensus = steps.flatMap((step, position) => {
    const one = items[position];
    return one ? [{ ...step, value: valueOf(one), root: rootOf(one) }] : [];
  });
  return effectOf(consensus, item.index ?? -1, value, page.rules, rootOf(item));
}

/** Show the effect of each value on the errors, beside the decision. @param {Item} item */
function drawEffects(item) {
  const { card, index } = item;
  const box = card?.querySelector('[data-role="effects"]');
  if (!(box instanceof HTMLElement) || index === null || page.rules.propagates === false) return;
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

/** @type {Set<Item>} */
const undrawn = new Set();

/**
 * All at once, also those out of sight: nothing moves under a finger that has just touched a step. Where that is much
 * work, those that are not in the window follow when there is time.
 */
export function drawAllEffects() {
  const disputed = items.filter((item) => item.disputed && item.card);
  const atOnce = disputed.length * steps.length <= AT_ONCE;
  for (const item of disputed) {
    if (atOnce || inWindow(item)) drawEffects(item);
    else undrawn.add(item);
  }
  if (undrawn.size) whenIdle(drawMore);
}

/** @param {() => boolean} more */
function drawMore(more) {
  for (const item of undrawn) {
    if (!more()) break;
    undrawn.delete(item);
    drawEffects(item);
  }
  if (undrawn.size) whenIdle(drawMore);
}

/** @param {Item} item */
function inWindow({ card }) {
  const box = card?.getBoundingClientRect();
  return box !== undefined && box.bottom > 0 && box.top < window.innerHeight;
}

/** @param {Item} item */
export function drawItem(item) {
  const { card } = item;
  if (!card) return;
  const value = valueOf(item);
  card.classList.toggle("is-labelled", value !== null);
  if (value === null) delete card.dataset.value;
  else card.dataset.value = kindOf(value);
  const link = document.querySelector(`.rail__step[data-goto="${item.index ?? "outcome"}"]`);
  const mark = link?.querySelector('[data-role="rail-mark"]');
  if (mark) {
    mark.className = `mark mark--${kindOf(value)}`;
    const sign = mark.querySelector(".mark__sign");
    if (sign) sign.textContent = value === null ? "" : signOf(value);
  }
  for (const sealed of card.querySelectorAll('[data-role="sealed"]')) {
    if (sealed instanceof HTMLElement) sealed.hidden = item.said.decided !== null;
  }
  for (const button of card.querySelectorAll("[data-reveal] button")) {
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
  if (!hasStrip) return;
  const letters = items.slice(0, -1).map((item) => (open(item) ? "d" : letterOf(valueOf(item))));
  drawStrip(letters.join(""));
}

/** The focused item, on the page, in the rail and in the bar of narrow screens. @param {number} at */
export function drawFocused(at) {
  const item = items[at];
  for (const card of document.querySelectorAll(".is-focused[data-step]")) card.classList.remove("is-focused");
  item?.card?.classList.add("is-focused");
  for (const link of document.querySelectorAll(".rail__step")) {
    const mine = link instanceof HTMLElement && link.dataset.goto === String(item?.index ?? "outcome");
    if (mine) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (!item) return;
  const number = item.index === null ? null : numbers.get(item.index);
  setText(here, number ? words("step", { n: number }) : words("outcome"));
  for (const button of document.querySelectorAll(".thumb [data-value], .thumb [data-action^=take]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    button.disabled = item.card !== null && !item.form;
    if (button.dataset.value)
      setAttribute(button, "aria-pressed", String(button.dataset.value === String(valueOf(item))));
  }
}
