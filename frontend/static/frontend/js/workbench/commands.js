// @ts-check
/**
 * What the keys and buttons do.
 */

import { announce, current, dispatch, go, reveal, view, words } from "./store.js";
import { openFind, rawOfFocused } from "./find_and_raw.js";
import { closedRun, confirmable, earlierRoots, focused, labelAt, nextUnlabelled } from "./selectors.js";
import { submit } from "./submit.js";
import { revealFocused } from "./suggestions.js";
import { openNote } from "./view.js";

/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Value} Value */

/** @param {Value} value */
function label(value) {
  const { focus } = current();
  dispatch({ type: "value", key: focused(current()), value }, { type: "focus", position: focus + 1 });
  reveal();
}

/** @param {boolean} [only]  the focused step alone */
export function confirm(only = false) {
  const positions = confirmable(current());
  const count = only ? Number(positions[0] === current().focus) : positions.length;
  if (!count) {
    announce(words("nothing_to_confirm"));
    return;
  }
  dispatch(only ? { type: "confirm", only } : { type: "confirm" });
  announce(words("confirmed_n", { n: count }));
  reveal();
}

/** Confirm what has been seen up to the focused step as well: under a thumb the focus goes along with what is read. */
export function confirmUpToHere() {
  const { results, seen, focus } = current();
  const open = (/** @type {number} */ position) => {
    const step = results[position];
    return Boolean(step?.proposal) && seen.has(step?.message_index ?? -1);
  };
  let position = focus;
  while (position > 0 && open(position - 1)) position -= 1;
  dispatch({ type: "focus", position });
  confirm();
}

/** @param {"undo" | "redo"} type */
function travel(type) {
  announce(dispatch({ type }) ? words("undone") : words("nothing_to_undo"));
  reveal();
}

/**
 * The step that a key about a label means: the focused one, else the one that was judged last (the focus has
 * moved on from it).
 * @param {(index: number) => boolean} fits
 */
function meant(fits) {
  const { last } = current();
  const index = focused(current());
  if (fits(index)) return index;
  return last !== null && fits(last) ? last : null;
}

function otherRoot() {
  const index = meant((one) => labelAt(current(), one).value === -1);
  if (index === null) return;
  const earlier = earlierRoots(current(), index).at(-1);
  const chosen = labelAt(current(), index).root === index ? earlier : index;
  if (chosen === undefined || !dispatch({ type: "root", key: index, root: chosen })) return;
  announce(`${words("step", { n: view.numberOf(index) })}: ${view.rootText(chosen, index)}`);
}

/** @param {"corrected" | "independent"} why  pressed again, it is taken back */
export function closes(why) {
  const index = meant((one) => closedRun(current(), one) !== null);
  if (index === null) return;
  const now = labelAt(current(), index).closes === why ? "" : why;
  dispatch({ type: "edit", key: index, change: { closes: now } });
  announce(words(now || "closes", { n: view.numberOf(closedRun(current(), index) ?? 0) }));
}

/** @param {Key} key @param {"unsure" | "flagged"} name */
export function toggle(key, name) {
  dispatch({ type: "edit", key, change: { [name]: !labelAt(current(), key)[name] } });
}

/** @param {Key} key @param {boolean} [shut] whether an open note may be shut */
export function note(key, shut = false) {
  const controls = view.controlsOf(key);
  if (!controls) return;
  const open = controls.note.hidden || !shut;
  openNote(controls.note, controls.buttons.get("note"), open);
  if (open) controls.note.focus();
}

function expand() {
  const buttons = [...(view.steps.get(focused(current()))?.article.querySelectorAll("[data-unfold]") ?? [])];
  const some = buttons.some((button) => button.getAttribute("aria-expanded") !== "true");
  for (const button of buttons) {
    const open = button.getAttribute("aria-expanded") === "true";
    if (open !== some && button instanceof HTMLElement) button.click();
  }
}

/** @param {string} id */
function openDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

/** @type {Record<import("./keys.js").Action, () => unknown>} */
export const ACTIONS = {
  plus: () => label(1),
  zero: () => label(0),
  minus: () => label(-1),
  confirm: () => confirm(),
  clear: () => dispatch({ type: "value", key: focused(current()), value: null }),
  root: otherRoot,
  closes_corrected: () => closes("corrected"),
  closes_independent: () => closes("independent"),
  outcome_plus: () => dispatch({ type: "value", key: "outcome", value: 1 }),
  outcome_zero: () => dispatch({ type: "value", key: "outcome", value: 0 }),
  outcome_minus: () => dispatch({ type: "value", key: "outcome", value: -1 }),
  next: () => go(current().focus + 1),
  previous: () => go(current().focus - 1),
  next_unlabelled() {
    const position = nextUnlabelled(current(), current().focus);
    if (position === null) announce(words("nothing_left"));
    else go(position);
  },
  unsure: () => toggle(focused(current()), "unsure"),
  flag: () => toggle(focused(current()), "flagged"),
  note: () => note(focused(current())),
  expand,
  raw: rawOfFocused,
  search: openFind,
  undo: () => travel("undo"),
  redo: () => travel("redo"),
  suggestions: revealFocused,
  guidelines: () => openDialog("guidelines"),
  submit,
  help: () => openDialog("help"),
};
