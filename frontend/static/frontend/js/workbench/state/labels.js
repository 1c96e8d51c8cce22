// @ts-check
/** Labels as the page keeps them. Pure. */

/** @typedef {import("./propagation_preview.js").Value} Value */
/** @typedef {import("./propagation_preview.js").Source} Source */
/** @typedef {import("./propagation_preview.js").Rules} Rules */
/** @typedef {import("./propagation_preview.js").StepResult} StepResult */
/**
 * The content of one label: annotation/core/label_fields.py without its version. An outcome has the same form; source,
 * root and closes mean nothing there.
 * @typedef {object} Label
 * @property {Value | null} value
 * @property {Source | null} source
 * @property {number | null} root
 * @property {boolean} root_pinned
 * @property {"" | "corrected" | "independent"} closes
 * @property {boolean} unsure
 * @property {boolean} flagged
 * @property {string} note
 * @property {string} reason
 */
/** @typedef {{index: number, afterUserTurn: boolean}} StepRef a step: its message index */
/** @typedef {number | "outcome"} Key which label: a step's message index, or the outcome */
/** @typedef {ReadonlyMap<Key, Label>} Labels */
/** @typedef {{kind: "stale" | "refused" | "elsewhere", mine: Label, reason: string}} Problem
 *   judged differently elsewhere; refused; or simply changed elsewhere. `mine` is what was judged here. */

/** @type {Label} */
export const NO_LABEL = Object.freeze({
  value: null,
  source: null,
  root: null,
  root_pinned: false,
  closes: "",
  unsure: false,
  flagged: false,
  note: "",
  reason: "",
});

/**
 * @param {any} stored  a label as the server sends it
 * @returns {Label}
 */
export function labelOf(stored) {
  const fields = Object.entries(NO_LABEL).map(([name, none]) => [name, stored[name] ?? none]);
  return /** @type {Label} */ (Object.fromEntries(fields));
}

/**
 * @param {Label} a
 * @param {Label} b
 */
export function sameLabel(a, b) {
  return Object.keys(NO_LABEL).every(
    (name) => a[/** @type {keyof Label} */ (name)] === b[/** @type {keyof Label} */ (name)],
  );
}
