// @ts-check
/**
 * Draws a step and its controls: attributes and text nodes, and only what has changed.
 */

import { el, setAttribute, setInvisible, setOptions, setText } from "../../lib/dom.js";
import { kindOf, signOf } from "./step_text.js";
import { openNote } from "./step_view.js";

/** @typedef {import("../../lib/dom.js").Words} Words */
/** @typedef {import("../state/labels.js").Label} Label */
/** @typedef {import("../state/labels.js").Problem} Problem */
/** @typedef {import("./step_text.js").StepText} StepText */
/** @typedef {import("./step_view.js").Controls} Controls */
/** @typedef {import("./step_view.js").LabelControls} LabelControls */
/** @typedef {import("./step_view.js").StepView} StepView */
/** @typedef {{code: string, value: import("../state/labels.js").Value, title: string}} Reason */
/**
 * The display of a step.
 * @typedef {object} StepDisplay
 * @property {import("../state/propagation_preview.js").StepResult} result
 * @property {Label} label
 * @property {Problem | undefined} problem
 * @property {boolean} open
 * @property {readonly number[]} roots   where earlier errors began, for a step that is one
 * @property {number | null} closed      the root of the run that it closes
 * @property {string} reach              the steps that the key for confirming takes from here on, "" for one or none
 */

/** @param {StepText} text @param {readonly Reason[]} reasons */
export function makeRenderer(text, reasons) {
  const { words, numberOf, rootText, originText, stateText, marksOf } = text;
  const titles = new Map(reasons.map(({ code, title }) => [code, title]));

  return {
    /** Draw the part of a step that is seen at once. @param {StepView} view @param {StepDisplay} display */
    drawStep(view, { result, label }) {
      const { proposal } = result;
      const kind = kindOf(proposal ? proposal.value : result.value);
      const hatched = proposal ? " mark--proposal" : "";
      setAttribute(view.article, "data-value", kind);
      view.article.classList.toggle("is-proposed", proposal !== null);
      view.article.classList.toggle("is-labelled", result.value !== null);
      setAttribute(view.state, "class", `mark mark--chip mark--${kind}${hatched}`);
      setText(view.stateText, stateText(result));
      view.state.hidden = false;
      const marks = marksOf(label);
      drawBadges(view.marks, originText(result), marks);
      const filled = result.source === "propagated" ? " mark--filled" : "";
      setAttribute(view.railMark, "class", `mark mark--${kind}${hatched}${filled}`);
      view.railLink.classList.toggle("is-flagged", label.flagged);
      view.railLink.classList.toggle("is-marked", marks.length > 0);
    },

    /** The same in words, in the rail, for who hears it. @param {StepView} view @param {StepDisplay} display */
    drawWords(view, { result, label }) {
      setText(view.railText, [stateText(result), originText(result), ...marksOf(label)].filter(Boolean).join(", "));
    },

    /** Its controls, but for the choices. @param {Controls} controls @param {StepDisplay} display */
    drawControls(controls, { result: { proposal }, label, open, problem, reach }) {
      drawLabel(controls, label, open, problem, words);
      setAttribute(controls.box, "data-proposed", proposal ? kindOf(proposal.value) : "");
      setText(controls.proposal, proposal ? text.proposalText(proposal) : "");
      const confirms = proposal !== null && open;
      if (controls.confirm.hidden === confirms) controls.confirm.hidden = !confirms;
      // at the focused step it does what its key does, and says how far that goes
      setAttribute(controls.confirm, "data-action", reach ? "confirm" : "confirm_step");
      setText(controls.confirmText, reach ? words("confirm_steps", { steps: reach }) : words("confirm"));
      if (controls.reason.hidden !== (proposal !== null)) controls.reason.hidden = proposal !== null;
    },

    /** Root, end and reason: filling lists takes longest. @param {Controls} controls @param {StepDisplay} display */
    drawChoices(controls, { result, label, open, roots, closed }) {
      const index = result.message_index;
      const isRoot = result.value === -1 && (roots.length > 0 || result.root !== index);
      if (controls.rootBox.hidden === isRoot) controls.rootBox.hidden = !isRoot;
      if (isRoot) {
        const choices = [index, ...roots].map((root) => choice(String(root), rootText(root, index)));
        setOptions(controls.root, choices, String(result.root));
      }
      if (controls.closesBox.hidden === (closed !== null)) controls.closesBox.hidden = closed === null;
      if (closed !== null) {
        const n = numberOf(closed);
        const choices = ["closes", "corrected", "independent"].map((end) =>
          choice(end === "closes" ? "" : end, words(end, { n })),
        );
        setOptions(controls.closes, choices, label.closes);
      }
      setInvisible(controls.reason, result.value === null);
      const reason = titles.get(label.reason);
      setText(controls.reasonText, reason ?? words("no_reason"));
      setAttribute(controls.reason, "aria-label", reason ? words("reason_is", { reason }) : words("no_reason"));
      for (const select of [controls.root, controls.closes, controls.reason]) {
        if (select.disabled === open) select.disabled = !open;
      }
    },
  };
}

/** An option of a list. @param {string} value @param {string} text @returns {readonly [string, string]} */
const choice = (value, text) => [value, text];

/** @param {HTMLElement} box @param {string} origin @param {readonly string[]} marks */
function drawBadges(box, origin, marks) {
  const wanted = origin ? [origin, ...marks] : marks;
  if ([...box.children].map((badge) => badge.textContent).join("|") === wanted.join("|")) return;
  box.replaceChildren(
    ...(origin ? [el("span", { class: "badge" }, origin)] : []),
    ...marks.map((word) => el("span", { class: "badge badge--warn" }, word)),
  );
}

/**
 * Draw the controls common to steps and the outcome.
 * @param {LabelControls} controls
 * @param {Label} label
 * @param {boolean} open
 * @param {Problem | undefined} problem
 * @param {Words} words
 */
export function drawLabel(controls, label, open, problem, words) {
  if (controls.values.disabled === open) controls.values.disabled = !open;
  for (const radio of controls.radios) {
    const on = radio.value === String(label.value);
    if (radio.checked !== on) radio.checked = on;
  }
  for (const name of ["unsure", "flag"]) {
    const button = controls.buttons.get(name);
    if (!button) continue;
    if (button.hidden === open) button.hidden = !open;
    setAttribute(button, "aria-pressed", String(name === "flag" ? label.flagged : label.unsure));
  }
  const clear = controls.buttons.get("clear");
  if (clear) setInvisible(clear, !open || label.value === null);
  const { note } = controls;
  if (document.activeElement !== note && note.value !== label.note) note.value = label.note;
  if (label.note) openNote(note, controls.buttons.get("toggle_note"), true);
  if (note.readOnly === open) note.readOnly = !open;
  drawProblem(controls.problem, problem, open, words);
}

/**
 * @param {HTMLElement} box
 * @param {Problem | undefined} problem
 * @param {boolean} open
 * @param {Words} words
 */
function drawProblem(box, problem, open, words) {
  const value = signOf(problem?.mine.value ?? null);
  setText(box, problem ? words(problem.kind, { value, reason: problem.reason }) : "");
  if (problem?.kind !== "stale" || !open) return;
  const mine = { type: "button", class: "button button--small", "data-action": "keep_mine" };
  box.append(" ", el("button", mine, words("use_mine", { value })));
}
