// @ts-check
/**
 * The view of the state: what each step is to show, told to the render queue when it is another; the outcome; and what
 * belongs to the whole trajectory.
 */

import { byRole, makeWords, setAttribute, setText } from "../../lib/dom.js";
import { drawStrip, hasStrip } from "../../lib/run_strip.js";
import { nameCaps, nameShortcut } from "../help.js";
import { makeRenderQueue } from "./render_queue.js";
import { closedRun, isRoot } from "../state/propagation_preview.js";
import { confirmable, focused, labelAt, presetOutcome } from "../state/selectors.js";
import { drawLabel, makeRenderer } from "./step_renderer.js";
import { kindOf, letterOf, makeStepText, signOf } from "./step_text.js";
import { labelControls, stepView } from "./step_view.js";

/** @typedef {import("../state/reducer.js").State} State */
/** @typedef {import("../state/labels.js").Key} Key */
/** @typedef {import("./step_renderer.js").StepDisplay} StepDisplay */
/** @typedef {import("./step_view.js").StepView} StepView */
/** @typedef {ReturnType<typeof makeView>} View */

/** Buttons of a step that a key does as well. @type {Record<string, import("../keys.js").Action>} */
const SHORTCUTS = {
  unsure: "unsure",
  flag: "flag",
  toggle_note: "note",
  reason: "reason",
  clear: "clear",
  reveal: "suggestions",
};

/**
 * @param {{
 *   words: Readonly<Record<string, string>>,
 *   reasons: readonly import("./step_renderer.js").Reason[],
 *   steps: readonly {message_index: number, ordinal?: number}[],
 *   rules: import("../state/propagation_preview.js").Rules,
 * }} page
 * @param {import("../keys.js").Keys} keys
 */
export function makeView(page, keys) {
  const words = makeWords(page.words);
  const template = controlsTemplate(keys, words);
  /** @type {Map<number, StepView>} those on the page, by message index */
  const steps = new Map();
  const outcome = labelControls(byRole(document, "outcome", HTMLElement));
  nameKeys(outcome.radios, ["outcome_plus", "outcome_zero", "outcome_minus"], keys, words);
  const drawWhole = wholeView(words);
  /** @type {Map<number, number>} */
  const numbers = new Map(page.steps.map(({ message_index: index, ordinal }, i) => [index, (ordinal ?? i) + 1]));
  /** The number of a step, from 1. @param {number | null} index */
  const numberOf = (index) => (index === null ? 0 : (numbers.get(index) ?? 0));
  const text = makeStepText(words, numberOf, page.rules.propagates !== false);
  const renderer = makeRenderer(text, page.reasons);

  /** @type {Map<number, StepDisplay>} what each step is to show; it may be drawn later */
  const shown = new Map();
  /** @type {Pick<StepDisplay, "label" | "problem" | "open"> | null} */
  let drawnOutcome = null;
  let drawnFocus = -1;
  /** @type {State | null} */
  let latest = null;

  const queue = makeRenderQueue({
    step(index) {
      const [view, what] = [steps.get(index), shown.get(index)];
      if (!view || !what) return;
      renderer.drawStep(view, what);
      const controls = view.made();
      if (controls) renderer.drawControls(controls, what);
    },
    details(index) {
      const [view, what] = [steps.get(index), shown.get(index)];
      if (!view || !what) return;
      renderer.drawWords(view, what);
      const controls = view.made();
      if (controls) renderer.drawChoices(controls, what);
    },
    controls: (index) => void controlsOf(index),
    counters: () => latest && drawWhole(latest),
  });

  /** The controls of a step or of the outcome, made when they are asked for. @param {Key} key */
  function controlsOf(key) {
    if (key === "outcome") return outcome;
    const view = steps.get(key);
    if (!view || view.made()) return view?.made();
    const controls = view.controls();
    const what = shown.get(key);
    if (what) renderer.drawControls(controls, what);
    queue.controlsMade(key);
    return controls;
  }

  /** @param {State} state */
  function draw(state) {
    latest = state;
    drawSteps(state);
    const index = focused(state);
    queue.drawNow(index);
    drawOutcome(state);
    if (index !== drawnFocus) {
      steps.get(drawnFocus)?.focus(false);
      steps.get(index)?.focus(true);
      drawnFocus = index;
    }
    controlsOf(index);
    queue.flush();
  }

  /** @param {State} state */
  function drawSteps(state) {
    for (const [index, what] of displays(state, (index) => steps.has(index))) {
      const was = shown.get(index);
      if (same(was, what)) continue;
      shown.set(index, what);
      queue.changed(index);
      if (!was || index === drawnFocus) queue.drawNow(index);
    }
  }

  /** Take up steps that have come to the page. @param {Iterable<HTMLElement>} articles */
  function add(articles) {
    for (const article of articles) {
      const index = Number(article.dataset.step);
      const view = stepView(article, numberOf(index), template);
      steps.set(index, view);
      queue.add(index, article);
      if (index === drawnFocus) view.focus(true);
    }
    if (latest) drawSteps(latest);
  }

  /** Forget steps that have left the page. @param {Iterable<HTMLElement>} articles */
  function remove(articles) {
    for (const article of articles) {
      const index = Number(article.dataset.step);
      steps.delete(index);
      shown.delete(index);
      queue.remove(index, article);
    }
  }

  /** @param {State} state */
  function drawOutcome(state) {
    const label = labelAt(state, "outcome");
    const problem = state.problems.get("outcome");
    const { open } = state;
    if (drawnOutcome?.label === label && drawnOutcome.problem === problem && drawnOutcome.open === open) return;
    drawnOutcome = { label, problem, open };
    drawLabel(outcome, label, open, problem, words);
    drawPreset(state);
  }

  /** The outcome that is submitted with: set, or standing there beforehand. @param {State} state */
  function drawPreset(state) {
    const preset = presetOutcome(state);
    const value = preset ?? labelAt(state, "outcome").value;
    setAttribute(outcome.box, "data-proposed", preset === null ? "" : kindOf(preset));
    for (const note of document.querySelectorAll('[data-role="preset"]')) {
      if (note instanceof HTMLElement) note.hidden = preset === null;
    }
    for (const part of document.querySelectorAll('[data-role="submit-as"]')) {
      setText(/** @type {HTMLElement} */ (part), value === null ? "" : words(`outcome_${value}`));
    }
    for (const part of document.querySelectorAll('[data-role="submit-sign"]')) {
      setText(/** @type {HTMLElement} */ (part), signOf(value));
    }
  }

  add(stepsIn([...document.querySelectorAll("[data-step]")]));
  return {
    draw,
    add,
    remove,
    isDrawn: queue.isDrawn,
    controlsOf,
    words,
    steps,
    outcome,
    numberOf,
    rootText: text.rootText,
  };
}

/** @param {readonly Element[]} elements @returns {HTMLElement[]} those that are steps */
export const stepsIn = (elements) =>
  elements.filter((one) => one instanceof HTMLElement).filter((one) => one.dataset.step !== undefined);

/**
 * The display of steps, by message index.
 * @param {State} state
 * @param {(index: number) => boolean} wanted
 * @returns {[number, StepDisplay][]}
 */
function displays(state, wanted) {
  const all = state.rules.propagates === false ? [] : state.results.filter(isRoot);
  const roots = all.map((step) => step.message_index);
  const confirmed = confirmable(state);
  const reach = confirmed.length > 1 ? `${Number(confirmed[0]) + 1}–${Number(confirmed.at(-1)) + 1}` : "";
  return state.results.flatMap((result, position) => {
    const index = result.message_index;
    if (!wanted(index)) return [];
    /** @type {StepDisplay} */
    const display = {
      result,
      label: labelAt(state, index),
      problem: state.problems.get(index),
      open: state.open,
      roots: result.value === -1 ? roots.filter((root) => root < index) : [],
      closed: closedRun(result),
      reach: position === state.focus ? reach : "",
    };
    return [[index, display]];
  });
}

/**
 * Labels, problems and results are told apart as objects: the state keeps those that stay.
 * @param {StepDisplay | undefined} was
 * @param {StepDisplay} now
 */
function same(was, now) {
  return (
    was !== undefined &&
    was.result === now.result &&
    was.label === now.label &&
    was.problem === now.problem &&
    was.open === now.open &&
    was.closed === now.closed &&
    was.reach === now.reach &&
    was.roots.join() === now.roots.join()
  );
}

/**
 * The controls that every step gets a copy of, with the keys that do the same.
 * @param {import("../keys.js").Keys} keys
 * @param {import("../../lib/dom.js").Words} words
 */
function controlsTemplate(keys, words) {
  const template = document.getElementById("label-controls");
  if (!(template instanceof HTMLTemplateElement)) throw new Error("the page has no label-controls");
  const { content } = template;
  nameKeys(content.querySelectorAll("input"), ["plus", "zero", "minus"], keys, words);
  for (const [action, id] of Object.entries(SHORTCUTS)) {
    const button = content.querySelector(`[data-action="${action}"]`);
    if (button instanceof HTMLElement) nameShortcut(button, id, keys, words);
  }
  nameCaps(content, keys);
  return content;
}

/**
 * @param {Iterable<Element>} radios
 * @param {readonly import("../keys.js").Action[]} ids
 * @param {import("../keys.js").Keys} keys
 * @param {import("../../lib/dom.js").Words} words
 */
function nameKeys(radios, ids, keys, words) {
  [...radios].forEach((radio, i) => {
    const id = ids[i] ?? "plus";
    radio.setAttribute("aria-keyshortcuts", keys.shortcut(id));
    const label = radio.closest("label");
    if (label) label.title = words("tooltip", { name: words(`key_${id}`), key: keys.named(id) });
  });
}

/** Parts for the whole trajectory: progress, flags, undo. @param {import("../../lib/dom.js").Words} words */
function wholeView(words) {
  /** @param {string} selector */
  const buttonsOf = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => one instanceof HTMLButtonElement);
  const progress = byRole(document, "progress", HTMLElement);
  const marks = buttonsOf('[data-action^="mark_"]');
  const undo = buttonsOf('[data-action="undo"]');
  const redo = buttonsOf('[data-action="redo"]');

  /** @param {State} state */
  return (state) => {
    const done = state.results.filter((result) => result.value !== null).length;
    setText(progress, words("progress", { done, all: state.results.length }));
    if (hasStrip) {
      const stored = [...state.results].sort((one, other) => one.message_index - other.message_index);
      drawStrip(stored.map(({ value }) => letterOf(value)).join(""));
    }
    for (const button of marks) {
      const on = state.marks[button.dataset.action === "mark_broken" ? "broken" : "needs_discussion"];
      setAttribute(button, "aria-pressed", String(on));
      if (button.disabled === state.open) button.disabled = !state.open;
    }
    for (const [buttons, times] of /** @type {const} */ ([
      [undo, state.past],
      [redo, state.future],
    ])) {
      const off = !state.open || !times.length;
      for (const button of buttons) if (button.disabled !== off) button.disabled = off;
    }
  };
}
