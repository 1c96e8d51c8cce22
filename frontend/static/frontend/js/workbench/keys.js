// @ts-check
/**
 * The table of keys: the bindings, the help overlay and aria-keyshortcuts are all made from it.
 *
 * The table itself is annotation/core/keys.json; it comes with the page, with the keys that a person has changed.
 */

/**
 * One key. `key` is what it types; `code` also matches by place on the keyboard (digits on keyboards where they
 * need Shift); `alike` is what it types with Shift on some. `shift` and `ctrl` must be held exactly when true; Ctrl may
 * be the Mac's ⌘.
 * @typedef {{key: string, code?: string, shift?: true, ctrl?: true, alike?: string}} Key
 */
/** @typedef {"label" | "move" | "mark" | "rest"} Group */
/** @typedef {{id: Action, group: Group, keys: readonly Key[]}} Binding */
/**
 * @typedef {"plus" | "zero" | "minus" | "confirm" | "others" | "clear" | "root" | "outcome_plus" | "outcome_zero"
 *   | "outcome_minus" | "drop" | "next" | "previous" | "trajectory_next" | "trajectory_previous" | "next_unlabelled"
 *   | "unsure" | "flag" | "note" | "expand" | "undo" | "redo" | "guidelines" | "submit" | "help" | "raw"
 *   | "search" | "reason" | "closes_corrected" | "closes_independent" | "suggestions"} Action
 */
/** The parts of a KeyboardEvent that matter.
 * @typedef {{key: string, code: string, shiftKey: boolean, ctrlKey: boolean, metaKey: boolean, altKey: boolean,
 *   isComposing?: boolean}} Press */

/** Keys that act while a radio button has the focus do so natively: arrows choose among the three values. */
const NATIVE_IN_RADIO = new Set(["ArrowDown", "ArrowUp"]);
/** Keys that a focused button or link uses itself. */
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
  if (press.key === key.alike) return true;
  return press.key.toLowerCase() === key.key.toLowerCase() || (key.code !== undefined && press.code === key.code);
}

/** @type {Readonly<Record<string, string>>} */
const CAPS = { ArrowDown: "↓", ArrowUp: "↑", Enter: "↵", Backspace: "⌫", Delete: "Del", "-": "−" };

/** @param {readonly Binding[]} bindings  the table */
export function makeKeys(bindings) {
  /** @param {Action} id */
  const keysOf = (id) => bindings.find((binding) => binding.id === id)?.keys ?? [];

  /**
   * A binding as key caps to show: alternatives, each a list of caps pressed together.
   * @param {Action} id
   * @returns {string[][]}
   */
  const caps = (id) =>
    keysOf(id).map((key) => [...(key.ctrl ? ["Ctrl"] : []), ...(key.shift ? ["Shift"] : []), CAPS[key.key] ?? key.key]);

  return {
    bindings,
    /**
     * The action of a key press.
     * @param {Press} press
     * @param {"" | "field" | "radio" | "control"} where what has the focus: nothing special, a field that is
     *   typed into, a radio button, or another control
     * @returns {Action | null}
     */
    actionOf(press, where = "") {
      if (press.isComposing) return null;
      const found = bindings.find((binding) => binding.keys.some((key) => matches(key, press)));
      if (!found) return null;
      if (found.id === "submit" && (press.ctrlKey || press.metaKey)) return found.id;
      if (where === "field") return null;
      if (where === "radio" && NATIVE_IN_RADIO.has(press.key)) return null;
      if (where === "control" && NATIVE_IN_CONTROL.has(press.key)) return null;
      return found.id;
    },
    /**
     * A binding as aria-keyshortcuts wants it: "Shift+1", "Control+Enter"; alternatives with a space between.
     * @param {Action} id
     * @returns {string}
     */
    shortcut(id) {
      return keysOf(id)
        .map((key) => [key.ctrl ? "Control" : "", key.shift ? "Shift" : "", key.key].filter(Boolean).join("+"))
        .join(" ");
    },
    caps,
    /**
     * A binding in a sentence or a tooltip: "j / ↓", "Ctrl+↵".
     * @param {Action} id
     */
    named: (id) =>
      caps(id)
        .map((together) => together.join("+"))
        .join(" / "),
  };
}

/** @typedef {ReturnType<typeof makeKeys>} Keys */
