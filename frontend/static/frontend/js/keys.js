// @ts-check
/**
 * The table of keys: the bindings, the help overlay and aria-keyshortcuts are all made from it.
 */

/**
 * One key. `key` is what it types; `code` also matches by place on the keyboard (digits on keyboards where they
 * need Shift). `shift` and `ctrl` must be held exactly when true; Ctrl may be the Mac's ⌘.
 * @typedef {{key: string, code?: string, shift?: true, ctrl?: true}} Key
 */
/** @typedef {"label" | "move" | "mark" | "rest"} Group */
/** @typedef {{id: Action, group: Group, keys: readonly Key[]}} Binding */
/**
 * @typedef {"plus" | "zero" | "minus" | "confirm" | "clear" | "root" | "outcome_plus" | "outcome_zero"
 *   | "outcome_minus" | "next" | "previous" | "next_unlabelled" | "unsure" | "flag" | "note" | "expand" | "undo"
 *   | "redo" | "guidelines" | "submit" | "help" | "raw" | "search"} Action
 */
/** The parts of a KeyboardEvent that matter.
 * @typedef {{key: string, code: string, shiftKey: boolean, ctrlKey: boolean, metaKey: boolean, altKey: boolean,
 *   isComposing?: boolean}} Press */

/** @type {readonly Binding[]} */
export const BINDINGS = [
  { id: "plus", group: "label", keys: [{ key: "1", code: "Digit1" }] },
  { id: "zero", group: "label", keys: [{ key: "0", code: "Digit0" }] },
  { id: "minus", group: "label", keys: [{ key: "-", code: "Minus" }] },
  { id: "confirm", group: "label", keys: [{ key: "Enter" }] },
  { id: "root", group: "label", keys: [{ key: "r" }] },
  { id: "clear", group: "label", keys: [{ key: "Backspace" }, { key: "Delete" }] },
  { id: "outcome_plus", group: "label", keys: [{ key: "1", code: "Digit1", shift: true }] },
  { id: "outcome_zero", group: "label", keys: [{ key: "0", code: "Digit0", shift: true }] },
  { id: "outcome_minus", group: "label", keys: [{ key: "-", code: "Minus", shift: true }] },
  { id: "next", group: "move", keys: [{ key: "j" }, { key: "ArrowDown" }] },
  { id: "previous", group: "move", keys: [{ key: "k" }, { key: "ArrowUp" }] },
  { id: "next_unlabelled", group: "move", keys: [{ key: "n" }] },
  { id: "unsure", group: "mark", keys: [{ key: "q" }] },
  { id: "flag", group: "mark", keys: [{ key: "f" }] },
  { id: "note", group: "mark", keys: [{ key: "m" }] },
  { id: "expand", group: "rest", keys: [{ key: "x" }] },
  { id: "raw", group: "rest", keys: [{ key: "v" }] },
  { id: "search", group: "rest", keys: [{ key: "/" }] },
  { id: "undo", group: "rest", keys: [{ key: "u" }] },
  { id: "redo", group: "rest", keys: [{ key: "u", shift: true }] },
  { id: "guidelines", group: "rest", keys: [{ key: "g" }] },
  { id: "submit", group: "rest", keys: [{ key: "Enter", ctrl: true }] },
  { id: "help", group: "rest", keys: [{ key: "?" }] },
];

/** Keys that act while a radio button has the focus do so natively: arrows choose among the three values. */
const NATIVE_IN_RADIO = new Set(["ArrowDown", "ArrowUp"]);
/** What a focused button or link does with a key of its own. */
const NATIVE_IN_CONTROL = new Set(["Enter", "Backspace", "Delete"]);

/**
 * @param {Key} key
 * @param {Press} press
 * @returns {boolean}
 */
function matches(key, press) {
  if (press.altKey || (press.ctrlKey || press.metaKey) !== Boolean(key.ctrl)) return false;
  if (key.key === "?" || key.key === "/") return press.key === key.key; // however a keyboard types it
  if (press.shiftKey !== Boolean(key.shift)) return false;
  return press.key.toLowerCase() === key.key.toLowerCase() || (key.code !== undefined && press.code === key.code);
}

/**
 * What a key press asks for.
 * @param {Press} press
 * @param {"" | "field" | "radio" | "control"} where what has the focus: nothing special, a field that is typed
 *   into, a radio button, or another control
 * @returns {Action | null}
 */
export function actionOf(press, where = "") {
  if (press.isComposing) return null;
  const found = BINDINGS.find((binding) => binding.keys.some((key) => matches(key, press)));
  if (!found) return null;
  if (found.id === "submit") return found.id;
  if (where === "field") return null;
  if (where === "radio" && NATIVE_IN_RADIO.has(press.key)) return null;
  if (where === "control" && NATIVE_IN_CONTROL.has(press.key)) return null;
  return found.id;
}

/**
 * A binding as aria-keyshortcuts wants it: "Shift+1", "Control+Enter"; alternatives with a space between.
 * @param {Action} id
 * @returns {string}
 */
export function shortcut(id) {
  const keys = BINDINGS.find((binding) => binding.id === id)?.keys ?? [];
  return keys
    .map((key) => [key.ctrl ? "Control" : "", key.shift ? "Shift" : "", key.key].filter(Boolean).join("+"))
    .join(" ");
}

/** @type {Readonly<Record<string, string>>} */
const CAPS = { ArrowDown: "↓", ArrowUp: "↑", Enter: "↵", Backspace: "⌫", Delete: "Del", "-": "−" };

/**
 * A binding as key caps to show: alternatives, each a list of caps pressed together.
 * @param {Action} id
 * @returns {string[][]}
 */
export function caps(id) {
  const keys = BINDINGS.find((binding) => binding.id === id)?.keys ?? [];
  return keys.map((key) => [
    ...(key.ctrl ? ["Ctrl"] : []),
    ...(key.shift ? ["Shift"] : []),
    CAPS[key.key] ?? key.key,
  ]);
}
