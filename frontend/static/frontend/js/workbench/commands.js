// @ts-check
/**
 * What the keys and buttons do.
 */

import { announce, current, dispatch, go, reveal, view, words } from "./store.js";
import { openFind, rawOfFocused } from "./find_and_raw.js";
import { closedRun, confirmable, earlierRoots, focused, labelAt, nextUnlabelled } from "./selectors.js";
import { submit } from "./submit.js";
import { reveal as revealSuggestions, revealFocused } from "./suggestions.js";
import { stepToExplain } from "./closing_reason.js";
import { openNote } from "./view.js";

/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Value} Value */
/**
 * What a key does, or a button by its `data-action`. Some are for buttons alone.
 * @typedef {import("./keys.js").Action | "confirm_step" | "confirm_up_to_here" | "toggle_note" | "reveal" | "keep_mine"
 *   | "explain_corrected" | "explain_independent" | "mark_needs_discussion" | "mark_broken"} Command
 */

/** @param {Value} value */
function label(value) {
  const { focus } = current();
  dispatch({ type: "value", key: focused(current()), value }, { type: "focus", position: focus + 1 });
  reveal();
}

/** @param {boolean} [only]  the focused step alone */
function confirm(only = false) {
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
function confirmUpToHere() {
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
function undoRedo(type) {
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
function closes(why) {
  const index = meant((one) => closedRun(current(), one) !== null);
  if (index === null) return;
  const now = labelAt(current(), index).closes === why ? "" : why;
  dispatch({ type: "edit", key: index, change: { closes: now } });
  announce(words(now || "closes", { n: view.numberOf(closedRun(current(), index) ?? 0) }));
}

/** Answer why the error ended. @param {"corrected" | "independent"} why */
function explain(why) {
  const key = stepToExplain(current());
  if (key !== null) dispatch({ type: "edit", key, change: { closes: why } });
}

/** @param {keyof import("./reducer.js").Marks} name */
function toggleMark(name) {
  dispatch({ type: "mark", change: { [name]: !current().marks[name] } });
}

/** @param {Key} key @param {"unsure" | "flagged"} name */
function toggle(key, name) {
  dispatch({ type: "edit", key, change: { [name]: !labelAt(current(), key)[name] } });
}

/** @param {Key} key @param {boolean} [shut] whether an open note may be shut */
function note(key, shut = false) {
  const controls = view.controlsOf(key);
  if (!controls) return;
  const open = controls.note.hidden || !shut;
  openNote(controls.note, controls.buttons.get("toggle_note"), open);
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

/** By the label that is meant: the focused step's, or the one whose button it is. @type {Record<Command, (key: Key) => unknown>} */
export const ACTIONS = {
  plus: () => label(1),
  zero: () => label(0),
  minus: () => label(-1),
  confirm: () => confirm(),
  confirm_step: () => confirm(true),
  confirm_up_to_here: confirmUpToHere,
  clear: (key) => dispatch({ type: "value", key, value: null }),
  keep_mine: (key) => dispatch({ type: "keepMine", key }),
  root: otherRoot,
  closes_corrected: () => closes("corrected"),
  closes_independent: () => closes("independent"),
  explain_corrected: () => explain("corrected"),
  explain_independent: () => explain("independent"),
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
  unsure: (key) => toggle(key, "unsure"),
  flag: (key) => toggle(key, "flagged"),
  note: (key) => note(key),
  toggle_note: (key) => note(key, true),
  mark_needs_discussion: () => toggleMark("needs_discussion"),
  mark_broken: () => toggleMark("broken"),
  expand,
  raw: rawOfFocused,
  search: openFind,
  undo: () => undoRedo("undo"),
  redo: () => undoRedo("redo"),
  suggestions: revealFocused,
  reveal: revealSuggestions,
  guidelines: () => openDialog("guidelines"),
  submit,
  help: () => openDialog("help"),
};
