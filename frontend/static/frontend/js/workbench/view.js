// @ts-check
/**
 * Draws the state: only what has changed, and only by attributes and text nodes.
 *
 * The step that a key was about, and the one that gets the focus, are drawn at once. A −1 may change ninety proposals:
 * those on screen follow a frame later; those far away when they come near, or when the browser has nothing else to do.
 * So do the counters, and the choices beside a label (why, since when): filling a list takes longer than everything
 * else about a key.
 */

import { afterPaint, byRole, makeWords, setAttribute, setText, whenIdle } from "../lib/dom.js";
import { errorRuns, focused, labelAt } from "./selectors.js";
import { labelControls, makeRenderer, openNote, stepView } from "./step_view.js";

/** @typedef {import("./reducer.js").State} State */
/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./step_view.js").Shown} Shown */
/** @typedef {import("./step_view.js").StepView} StepView */

export { openNote };

/** How far from the window a step is drawn soon, and how far it gets its controls. */
const NEAR = "0px";
const FAR = "100% 0px";
/** How long after a page has come browsers have looked at its fields, in ms. */
const LOOKED = 1000;
/** Buttons of a step that a key does as well. @type {Record<string, import("./keys.js").Action>} */
const SHORTCUTS = { unsure: "unsure", flag: "flag", toggle_note: "note", clear: "clear", reveal: "suggestions" };

/**
 * @param {{words: Readonly<Record<string, string>>, reasons: readonly import("./step_view.js").Reason[]}} page
 * @param {import("./keys.js").Keys} keys
 */
export function makeView(page, { shortcut }) {
  const words = makeWords(page.words);
  const steps = stepViews(shortcut);
  const outcome = labelControls(byRole(document, "outcome", HTMLElement));
  nameKeys(outcome.radios, ["outcome_plus", "outcome_zero", "outcome_minus"], shortcut);
  const desk = deskView();
  /** @type {Map<number, number>} */
  const numbers = new Map([...steps.keys()].map((index, i) => [index, i + 1]));
  /** @param {number | null} index */
  const numberOf = (index) => (index === null ? 0 : (numbers.get(index) ?? 0));
  const { drawStep, drawWords, drawControls, drawChoices, drawLabel, rootText } = makeRenderer({ words, reasons: page.reasons, numberOf });

  /** @type {Map<number, Shown>} what each step shows */
  const drawn = new Map();
  /** @type {Map<number, Shown>} what far steps are to show */
  const late = new Map();
  /** @type {Set<number>} steps whose choices are not those of what they show */
  const unchosen = new Set();
  /** @type {Set<number>} steps without controls as yet */
  const unmade = new Set(steps.keys());
  /** @type {Set<number>} */
  const near = new Set();
  /** @type {Pick<Shown, "label" | "problem" | "open"> | null} */
  let drawnOutcome = null;
  let drawnFocus = -1;
  let waiting = false;
  /** @type {State | null} whose counters are to be drawn */
  let counted = null;

  whenNear(NEAR, (index, isNear) => {
    if (isNear) near.add(index);
    else near.delete(index);
    if (isNear) drawLate(index);
  });
  whenNear(FAR, (index, isNear) => {
    if (isNear) controlsOf(index);
  });

  /** @param {string} rootMargin @param {(index: number, isNear: boolean) => void} tell */
  function whenNear(rootMargin, tell) {
    const told = (/** @type {IntersectionObserverEntry[]} */ entries) => {
      for (const { target, isIntersecting } of entries) {
        if (target instanceof HTMLElement) tell(Number(target.dataset.step), isIntersecting);
      }
    };
    const watcher = new IntersectionObserver(told, { rootMargin });
    for (const { article } of steps.values()) watcher.observe(article);
  }

  /** The controls of a step or of the outcome. @param {Key} key */
  function controlsOf(key) {
    if (key === "outcome") return outcome;
    const view = steps.get(key);
    if (!view || view.made()) return view?.made();
    const controls = view.controls();
    unmade.delete(key);
    const shown = drawn.get(key);
    if (shown) drawControls(controls, shown);
    unchosen.add(key);
    rest();
    return controls;
  }

  /** @param {number} index */
  function drawLate(index) {
    const shown = late.get(index);
    const view = steps.get(index);
    late.delete(index);
    if (!shown || !view) return;
    drawStep(view, shown);
    const controls = view.made();
    if (controls) drawControls(controls, shown);
    unchosen.add(index);
  }

  function drawNear() {
    for (const index of near) drawLate(index);
  }

  // not before: browsers look at every field when a page has come, and would lay out every step for it
  let loaded = document.readyState === "complete";
  window.addEventListener("load", () => {
    setTimeout(() => {
      loaded = true;
      rest();
    }, LOOKED);
  });

  /** What is left to do, a little at a time: lists of choices, what is far away, controls there. */
  function rest() {
    if (waiting || !(counted || late.size || unchosen.size || (loaded && unmade.size))) return;
    waiting = true;
    whenIdle((more) => {
      waiting = false;
      if (counted) drawDesk(counted);
      counted = null;
      for (const index of unchosen) {
        if (!more()) break;
        unchosen.delete(index);
        const view = steps.get(index);
        const shown = drawn.get(index);
        const controls = view?.made();
        if (!view || !shown || late.has(index)) continue;
        drawWords(view, shown);
        if (controls) drawChoices(controls, shown);
      }
      for (const index of late.keys()) {
        if (!more()) break;
        drawLate(index);
      }
      for (const index of loaded ? unmade : []) {
        if (!more()) break;
        controlsOf(index);
      }
      rest();
      // laid out now, while there is time, or the next key would have to wait for it
      document.documentElement.getBoundingClientRect();
    });
  }

  /** @param {State} state */
  function draw(state) {
    const { roots, closed } = errorRuns(state);
    const first = drawn.size === 0;
    state.results.forEach((result, position) => {
      const index = result.message_index;
      /** @type {Shown} */
      const shown = {
        result,
        label: labelAt(state, index),
        problem: state.problems.get(index),
        open: state.open,
        roots: result.value === -1 ? roots.filter((root) => root < index) : [],
        closed: closed[position] ?? null,
      };
      const view = steps.get(index);
      if (!view || same(drawn.get(index), shown)) return;
      drawn.set(index, shown);
      late.set(index, shown);
      if (first || index === drawnFocus) drawLate(index);
    });
    const index = focused(state);
    drawLate(index);
    if (late.size) void afterPaint().then(drawNear);
    drawOutcome(state);
    counted = state;
    if (index !== drawnFocus) {
      steps.get(drawnFocus)?.focus(false);
      steps.get(index)?.focus(true);
      drawnFocus = index;
    }
    controlsOf(index);
    rest();
  }

  /** @param {State} state */
  function drawOutcome(state) {
    const label = labelAt(state, "outcome");
    const problem = state.problems.get("outcome");
    const { open } = state;
    if (drawnOutcome?.label === label && drawnOutcome.problem === problem && drawnOutcome.open === open) return;
    drawnOutcome = { label, problem, open };
    drawLabel(outcome, label, open, problem);
  }

  /** What belongs to the whole trajectory. @param {State} state */
  function drawDesk(state) {
    const done = state.results.filter((result) => result.value !== null).length;
    setText(desk.progress, words("progress", { done, all: state.results.length }));
    for (const button of desk.marks) {
      const on = state.marks[button.dataset.action === "mark_broken" ? "broken" : "needs_discussion"];
      setAttribute(button, "aria-pressed", String(on));
      if (button.disabled === state.open) button.disabled = !state.open;
    }
    for (const [buttons, times] of /** @type {const} */ ([[desk.undo, state.past], [desk.redo, state.future]])) {
      const off = !state.open || !times.length;
      for (const button of buttons) if (button.disabled !== off) button.disabled = off;
    }
  }

  /** Whether a step shows what it is to show. @param {number} index */
  const isDrawn = (index) => !late.has(index);

  return { draw, isDrawn, controlsOf, words, steps, outcome, numberOf, rootText };
}

/**
 * Labels, problems and results are told apart as objects: the state keeps those that stay.
 * @param {Shown | undefined} was
 * @param {Shown} now
 */
function same(was, now) {
  return (
    was !== undefined &&
    was.result === now.result &&
    was.label === now.label &&
    was.problem === now.problem &&
    was.open === now.open &&
    was.closed === now.closed &&
    was.roots.join() === now.roots.join()
  );
}

/**
 * Every step with its controls, by message index, in order.
 * @param {import("./keys.js").Keys["shortcut"]} shortcut
 */
function stepViews(shortcut) {
  const template = document.getElementById("label-controls");
  if (!(template instanceof HTMLTemplateElement)) throw new Error("the page has no label-controls");
  const { content } = template;
  nameKeys(content.querySelectorAll("input"), ["plus", "zero", "minus"], shortcut);
  for (const [action, id] of Object.entries(SHORTCUTS)) {
    content.querySelector(`[data-action="${action}"]`)?.setAttribute("aria-keyshortcuts", shortcut(id));
  }
  const articles = [...document.querySelectorAll("[data-step]")].filter((one) => one instanceof HTMLElement);
  return new Map(
    articles.map((article, i) => /** @type {const} */ ([Number(article.dataset.step), stepView(article, i + 1, content)])),
  );
}

/**
 * @param {Iterable<Element>} radios
 * @param {readonly import("./keys.js").Action[]} ids
 * @param {import("./keys.js").Keys["shortcut"]} shortcut
 */
function nameKeys(radios, ids, shortcut) {
  [...radios].forEach((radio, i) => radio.setAttribute("aria-keyshortcuts", shortcut(ids[i] ?? "plus")));
}

function deskView() {
  /** @param {string} selector */
  const buttonsOf = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => one instanceof HTMLButtonElement);
  return {
    progress: byRole(document, "progress", HTMLElement),
    marks: buttonsOf('[data-action^="mark_"]'),
    undo: buttonsOf('[data-action="undo"]'),
    redo: buttonsOf('[data-action="redo"]'),
  };
}
