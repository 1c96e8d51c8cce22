// @ts-check
/** Questions to the workbench's state. Pure. */

import { NO_LABEL } from "./labels.js";
import { closedRun, isRightSomewhere, isRoot } from "./propagation_preview.js";

/** @typedef {import("./reducer.js").State} State */
/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Label} Label */

/**
 * The label of a key; every key of the page has one.
 * @param {State} state
 * @param {Key} key
 * @returns {Label}
 */
export const labelAt = (state, key) => state.labels.get(key) ?? NO_LABEL;

/** @param {State} state @returns {number} the message index of the focused step */
export const focused = (state) => state.steps[state.focus]?.index ?? -1;

/**
 * The position of the next step without a label of its own (a proposal counts as none), going round; null when
 * every step has one.
 * @param {State} state
 * @param {number} from position to start after
 * @returns {number | null}
 */
export function nextUnlabelled(state, from) {
  const count = state.steps.length;
  for (let i = 1; i <= count; i++) {
    const position = (from + i + count) % count;
    if (state.results[position]?.value === null) return position;
  }
  return null;
}

/**
 * The position that a key about the step's suggestions means: the focused step; or the one before it, when they can
 * be shown for that one only and it was judged last (the focus has just moved on from it).
 * @param {State} state
 * @param {(index: number) => boolean} open  whether they can be shown for a step
 * @returns {number}
 */
export function suggestionTarget(state, open) {
  const before = state.steps[state.focus - 1]?.index;
  const moved = before !== undefined && before === state.last && open(before) && !open(focused(state));
  return moved ? state.focus - 1 : state.focus;
}

/**
 * The outcome that stands on the screen although nobody has set it: it is submitted with, and no label before.
 * @param {State} state
 */
export const presetOutcome = (state) => (state.open && labelAt(state, "outcome").value === null ? state.preset : null);

/** @param {State} state */
const lacksOutcome = (state) => labelAt(state, "outcome").value === null && presetOutcome(state) === null;

/**
 * The first missing part of a submission: the first step without a label (by position), else the outcome, else null.
 * @param {State} state
 * @returns {number | "outcome" | null}
 */
export function firstMissing(state) {
  return nextUnlabelled(state, -1) ?? (lacksOutcome(state) ? "outcome" : null);
}

/**
 * All missing parts of a submission: positions of steps, and the outcome.
 * @param {State} state
 * @returns {(number | "outcome")[]}
 */
export function allMissing(state) {
  const steps = state.results.flatMap((step, position) => (step.value === null ? [position] : []));
  return lacksOutcome(state) ? [...steps, "outcome"] : steps;
}

/**
 * The guidelines for the focused step: how errors propagate, where it is or may be a consequence of one;
 * the outcome, when nothing else is left to do at the end; the frequent cases otherwise.
 * @param {State} state
 * @returns {"propagation" | "outcome" | "cases"}
 */
export function guidelineTopic(state) {
  const step = state.results[state.focus];
  if (state.focus === state.steps.length - 1 && firstMissing(state) === "outcome") return "outcome";
  if (state.rules.propagates === false) return "cases";
  if (step?.proposal?.value === -1) return "propagation";
  if (step?.value === -1 && !isRoot(step)) return "propagation";
  return labelAt(state, focused(state)).closes ? "propagation" : "cases";
}

/**
 * Why −1 cannot be proposed for the other options, as the name of a sentence; null where it can.
 * @param {State} state
 * @returns {"others_pair" | "others_first" | "others_none" | null}
 */
export function whyNoOthers(state) {
  if (!state.rules.others) return "others_pair";
  if (state.results.every((step) => step.value !== null)) return "others_none";
  return isRightSomewhere(state.results) ? null : "others_first";
}

/**
 * The contradiction of outcome and steps, if any: a success that ends with an error, a failure without one.
 * @param {State} state
 * @returns {"odd_success" | "odd_failure" | null}
 */
export function oddity(state) {
  const { value } = labelAt(state, "outcome");
  if (state.rules.propagates === false) return null; // alternatives say nothing of whether the item is fit
  if (value === 1 && state.results.at(-1)?.value === -1) return "odd_success";
  if (value === -1 && !state.results.some((step) => step.value === -1)) return "odd_failure";
  return null;
}

/**
 * The earlier errors a −1 may be a consequence of: message indexes of the roots before it.
 * @param {State} state
 * @param {number} index
 * @returns {number[]}
 */
export function earlierRoots(state, index) {
  if (state.rules.propagates === false) return [];
  return state.results.filter((step) => step.message_index < index && isRoot(step)).map((step) => step.message_index);
}

/**
 * The root of the run that a step's explicit +1 closes, or null when none is open there.
 * @param {State} state
 * @param {number} index
 * @returns {number | null}
 */
export function closedAt(state, index) {
  const step = state.results.find((result) => result.message_index === index);
  return step ? closedRun(step) : null;
}

/**
 * The step that closes an error run without saying why, by message index, if it is the one judged last: there the page
 * asks, unless nobody wants to be asked. Null when there is nothing to ask.
 * @param {State} state
 */
export function stepToExplain(state) {
  const { last } = state;
  const asks =
    state.open &&
    !state.unasked &&
    last !== null &&
    closedAt(state, last) !== null &&
    labelAt(state, last).closes === "";
  return asks ? last : null;
}

/**
 * The positions that Enter would confirm: from the focused step on, every proposal that has been seen, up to the
 * first that has not.
 * @param {State} state
 * @returns {number[]}
 */
export function confirmable(state) {
  const positions = [];
  for (let i = state.focus; i < state.steps.length; i++) {
    const step = state.results[i];
    if (!step?.proposal) continue;
    if (!state.seen.has(step.message_index)) break;
    positions.push(i);
  }
  return positions;
}
