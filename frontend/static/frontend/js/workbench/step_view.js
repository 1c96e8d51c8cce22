// @ts-check
/**
 * One step on the page: its controls, which are copied into it, and what it shows of its label.
 */

import { byRole, el, setAttribute, setInvisible, setOptions, setText } from "../lib/dom.js";

/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./labels.js").Problem} Problem */
/** @typedef {import("./labels.js").Value} Value */
/** @typedef {import("./propagation.js").Proposal} Proposal */
/** @typedef {import("./propagation.js").StepResult} StepResult */
/** @typedef {{code: string, value: Value, title: string}} Reason */
/** @typedef {(name: string, values?: Record<string, string | number>) => string} Words */
/**
 * Everything that a step shows.
 * @typedef {object} Shown
 * @property {StepResult} result
 * @property {Label} label
 * @property {Problem | undefined} problem
 * @property {boolean} open
 * @property {readonly number[]} roots   where earlier errors began, for a step that is one
 * @property {number | null} closed      the root of the run that it closes
 */

/** @type {Record<string, string>} */
const KINDS = { 1: "plus", 0: "zero", "-1": "minus" };
/** @type {Record<string, string>} */
const SIGNS = { 1: "+1", 0: "0", "-1": "−1" };

/** @param {Value | null} value */
export const signOf = (value) => (value === null ? "–" : (SIGNS[value] ?? "–"));
/** @param {Value | null} value */
export const kindOf = (value) => (value === null ? "none" : (KINDS[value] ?? "none"));

/** @typedef {ReturnType<typeof labelControls>} LabelControls */
/** @typedef {ReturnType<typeof stepView>} StepView */

/** @param {HTMLElement} box */
export function labelControls(box) {
  const values = byRole(box, "values", HTMLFieldSetElement);
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  for (const button of box.querySelectorAll("button[data-action]")) {
    if (button instanceof HTMLButtonElement) buttons.set(button.dataset.action ?? "", button);
  }
  return {
    box: values,
    values,
    radios: [...values.querySelectorAll("input")],
    buttons,
    note: byRole(box, "note", HTMLTextAreaElement),
    problem: byRole(box, "problem", HTMLElement),
  };
}

/** @typedef {ReturnType<typeof controlsIn>} Controls */

/**
 * Copy the controls into a step.
 * @param {HTMLElement} article
 * @param {number} number     of the step, from 1
 * @param {DocumentFragment} copy   of the template
 */
function controlsIn(article, number, copy) {
  const box = byRole(article, "controls", HTMLElement);
  for (const radio of copy.querySelectorAll("input")) radio.name = `v-${article.dataset.step}`;
  const legend = copy.querySelector("legend");
  if (legend) legend.textContent = withNumber(legend.textContent, number);
  const note = byRole(copy, "note", HTMLTextAreaElement);
  note.setAttribute("aria-label", withNumber(note.getAttribute("aria-label"), number));
  box.append(copy);
  return {
    ...labelControls(box),
    proposal: byRole(box, "proposal", HTMLElement),
    confirm: byRole(box, "confirm", HTMLButtonElement),
    rootBox: byRole(box, "root-box", HTMLElement),
    root: byRole(box, "root", HTMLSelectElement),
    closesBox: byRole(box, "closes-box", HTMLElement),
    closes: byRole(box, "closes", HTMLSelectElement),
    reasonBox: byRole(box, "reason-box", HTMLElement),
    reason: byRole(box, "reason", HTMLSelectElement),
  };
}

/**
 * A step of the page. Its controls are made when they are first asked for: browsers look at every field of a page
 * (to fill in names and passwords) and lay out for it what would not be laid out otherwise.
 * @param {HTMLElement} article
 * @param {number} number
 * @param {DocumentFragment} template
 */
export function stepView(article, number, template) {
  const railLink = document.querySelector(`.rail [data-goto="${article.dataset.step}"]`);
  if (!(railLink instanceof HTMLElement)) throw new Error(`the rail has no step ${article.dataset.step}`);
  /** @type {Controls | null} */
  let made = null;
  return {
    article,
    /** The controls, if they have been made. */
    made: () => made,
    controls: () => (made ??= controlsIn(article, number, document.importNode(template, true))),
    state: byRole(article, "state", HTMLElement),
    stateText: byRole(article, "state-text", HTMLElement),
    marks: byRole(article, "marks", HTMLElement),
    railLink,
    railMark: byRole(railLink, "rail-mark", HTMLElement),
    railText: byRole(railLink, "rail-text", HTMLElement),
    /** @param {boolean} on */
    focus(on) {
      article.classList.toggle("is-focused", on);
      if (!on) {
        railLink.removeAttribute("aria-current");
        return;
      }
      railLink.setAttribute("aria-current", "step");
      // in the next frame: asking for sizes now would lay the page out an extra time
      requestAnimationFrame(() => {
        const rail = railLink.closest(".rail");
        if (rail && railLink.hasAttribute("aria-current") && rail.scrollHeight > rail.clientHeight) {
          rail.scrollTop = railLink.offsetTop - rail.clientHeight / 2;
        }
      });
    },
  };
}

/** @param {string | null} text @param {number} number */
const withNumber = (text, number) => (text ?? "").replace("{n}", String(number));

/**
 * @param {HTMLTextAreaElement} note
 * @param {HTMLButtonElement | undefined} button
 * @param {boolean} open
 */
export function openNote(note, button, open) {
  if (note.hidden === open) note.hidden = !open;
  if (button) setAttribute(button, "aria-expanded", String(open));
}

/**
 * What draws steps and the outcome, in the words of the page.
 * @param {{words: Words, reasons: readonly Reason[], numberOf: (index: number | null) => number}} page
 */
export function makeRenderer({ words, reasons, numberOf }) {
  /** @param {number} root @param {number} index */
  const rootText = (root, index) => (root === index ? words("root_self") : words("root_from", { n: numberOf(root) }));

  /** @param {Proposal} proposal */
  const proposalText = ({ value, root }) =>
    root === null
      ? words("proposal_carry", { value: signOf(value) })
      : words("proposal_from", { value: signOf(value), n: numberOf(root) });

  /** @param {StepResult} result */
  function stateText({ proposal, value, source }) {
    if (proposal) return words("proposed", { value: signOf(proposal.value) });
    if (value === null) return words("no_label");
    return words(source === "propagated" ? "confirmed" : "labelled", { value: signOf(value) });
  }

  /** @param {Label} label */
  const marksOf = ({ unsure, flagged, note }) =>
    [unsure ? words("unsure") : "", flagged ? words("flagged") : "", note ? words("noted") : ""].filter(Boolean);

  /** @param {StepView} view @param {Shown} shown */
  function drawStep(view, shown) {
    const { result, label } = shown;
    const index = result.message_index;
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
    const origin = result.value === -1 && result.root !== null ? rootText(result.root, index) : "";
    drawBadges(view.marks, origin, marks);
    const filled = result.source === "propagated" ? " mark--filled" : "";
    setAttribute(view.railMark, "class", `mark mark--${kind}${hatched}${filled}`);
    view.railLink.classList.toggle("is-flagged", label.flagged);
    view.railLink.classList.toggle("is-marked", marks.length > 0);
  }

  /** The same in words, in the rail, for who hears it. @param {StepView} view @param {Shown} shown */
  function drawWords(view, { result, label }) {
    const origin = result.value === -1 && result.root !== null ? rootText(result.root, result.message_index) : "";
    setText(view.railText, [stateText(result), origin, ...marksOf(label)].filter(Boolean).join(", "));
  }

  /** Its controls, but for the choices. @param {Controls} view @param {Shown} shown */
  function drawControls(view, { result: { proposal }, label, open, problem }) {
    drawLabel(view, label, open, problem);
    setAttribute(view.box, "data-proposed", proposal ? kindOf(proposal.value) : "");
    setText(view.proposal, proposal ? proposalText(proposal) : "");
    const confirms = proposal !== null && open;
    if (view.confirm.hidden === confirms) view.confirm.hidden = !confirms;
    if (view.reasonBox.hidden !== (proposal !== null)) view.reasonBox.hidden = proposal !== null;
  }

  /** @param {HTMLElement} box @param {string} origin @param {readonly string[]} marks */
  function drawBadges(box, origin, marks) {
    const wanted = origin ? [origin, ...marks] : marks;
    if ([...box.children].map((badge) => badge.textContent).join("|") === wanted.join("|")) return;
    box.replaceChildren(
      ...(origin ? [el("span", { class: "badge" }, origin)] : []),
      ...marks.map((word) => el("span", { class: "badge badge--warn" }, word)),
    );
  }

  /** Root, end and reason. @param {Controls} view @param {Shown} shown */
  function drawChoices(view, { result, label, open, roots, closed }) {
    const index = result.message_index;
    const isRoot = result.value === -1 && (roots.length > 0 || result.root !== index);
    if (view.rootBox.hidden === isRoot) view.rootBox.hidden = !isRoot;
    if (isRoot) {
      const choices = [index, ...roots].map((root) => /** @type {const} */ ([String(root), rootText(root, index)]));
      setOptions(view.root, choices, String(result.root));
    }
    if (view.closesBox.hidden === (closed !== null)) view.closesBox.hidden = closed === null;
    if (closed !== null) {
      const n = numberOf(closed);
      const ends = /** @type {const} */ (["closes", "corrected", "independent"]);
      setOptions(
        view.closes,
        ends.map((end) => /** @type {const} */ ([end === "closes" ? "" : end, words(end, { n })])),
        label.closes,
      );
    }
    setInvisible(view.reasonBox, result.value === null);
    if (result.value !== null) {
      const fitting = reasons.filter((reason) => reason.value === result.value);
      setOptions(
        view.reason,
        [["", words("no_reason")], ...fitting.map(({ code, title }) => /** @type {const} */ ([code, title]))],
        label.reason,
      );
    }
    for (const select of [view.root, view.closes, view.reason]) {
      if (select.disabled === open) select.disabled = !open;
    }
  }

  /**
   * What steps and the outcome have in common.
   * @param {LabelControls} view
   * @param {Label} label
   * @param {boolean} open
   * @param {Problem | undefined} problem
   */
  function drawLabel(view, label, open, problem) {
    if (view.values.disabled === open) view.values.disabled = !open;
    for (const radio of view.radios) {
      const on = radio.value === String(label.value);
      if (radio.checked !== on) radio.checked = on;
    }
    for (const name of ["unsure", "flag"]) {
      const button = view.buttons.get(name);
      if (!button) continue;
      if (button.hidden === open) button.hidden = !open;
      setAttribute(button, "aria-pressed", String(name === "flag" ? label.flagged : label.unsure));
    }
    const clear = view.buttons.get("clear");
    if (clear) setInvisible(clear, !open || label.value === null);
    if (document.activeElement !== view.note && view.note.value !== label.note) view.note.value = label.note;
    if (label.note) openNote(view.note, view.buttons.get("toggle_note"), true);
    if (view.note.readOnly === open) view.note.readOnly = !open;
    drawProblem(view.problem, problem, open);
  }

  /**
   * @param {HTMLElement} box
   * @param {Problem | undefined} problem
   * @param {boolean} open
   */
  function drawProblem(box, problem, open) {
    const value = signOf(problem?.mine.value ?? null);
    setText(box, problem ? words(problem.kind, { value, reason: problem.reason }) : "");
    if (problem?.kind !== "stale" || !open) return;
    const mine = { type: "button", class: "button button--small", "data-action": "keep_mine" };
    box.append(" ", el("button", mine, words("use_mine", { value })));
  }

  return { drawStep, drawWords, drawControls, drawChoices, drawLabel, rootText };
}
