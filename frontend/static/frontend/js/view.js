// @ts-check
/**
 * Draws the state: only what has changed, and only by attributes and text nodes.
 */

import { make, offer, part, say, speaker } from "./dom.js";
import { focused, labelAt, runs } from "./selectors.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Value} Value */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./labels.js").Problem} Problem */
/** @typedef {import("./propagation.js").StepResult} StepResult */
/** @typedef {{code: string, value: Value, title: string}} Reason */

/** @type {Record<string, string>} */
const KINDS = { 1: "plus", 0: "zero", "-1": "minus" };
/** @type {Record<string, string>} */
const SIGNS = { 1: "+1", 0: "0", "-1": "−1" };

/** @param {Value | null} value */
export const signOf = (value) => (value === null ? "–" : (SIGNS[value] ?? "–"));
/** @param {Value | null} value */
const kindOf = (value) => (value === null ? "none" : (KINDS[value] ?? "none"));

/**
 * @param {{words: Readonly<Record<string, string>>, reasons: readonly Reason[]}} page
 * @param {import("./keys.js").Keys} keys
 */
export function makeView(page, { shortcut }) {
  const words = speaker(page.words);
  /** @type {Map<number, StepView>} */
  const steps = new Map();
  for (const article of document.querySelectorAll("[data-step]")) {
    if (article instanceof HTMLElement) steps.set(Number(article.dataset.step), stepView(article, shortcut));
  }
  const outcomeBox = document.querySelector("[data-outcome]");
  if (!(outcomeBox instanceof HTMLElement)) throw new Error("the page has no outcome");
  const outcome = judgeView(outcomeBox);
  outcome.radios.forEach((radio, i) => {
    const ids = /** @type {const} */ (["outcome_plus", "outcome_zero", "outcome_minus"]);
    radio.setAttribute("aria-keyshortcuts", shortcut(ids[i] ?? "outcome_plus"));
  });
  const progress = part(document, "progress", HTMLElement);
  /** @param {string} selector */
  const buttonsOf = (selector) => [...document.querySelectorAll(selector)].filter((one) => one instanceof HTMLButtonElement);
  const marks = buttonsOf("[data-mark]");
  const [undo] = buttonsOf('[data-action="undo"]');
  const [redo] = buttonsOf('[data-action="redo"]');
  /** @type {Map<number, number>} */
  const numbers = new Map([...steps.keys()].map((index, i) => [index, i + 1]));
  /** @type {Map<Key, {label: Label, problem: Problem | undefined, open: boolean, rule: string}>} */
  const drawn = new Map();
  let drawnFocus = -1;

  /**
   * Whether something is to be drawn anew. Labels are told apart as objects: the state keeps those that stay.
   * @param {Key} key
   * @param {Label} label
   * @param {Problem | undefined} problem
   * @param {boolean} open
   * @param {string} rule   what the rule says of it
   */
  function changed(key, label, problem, open, rule) {
    const was = drawn.get(key);
    if (was?.label === label && was.problem === problem && was.open === open && was.rule === rule) return false;
    drawn.set(key, { label, problem, open, rule });
    return true;
  }

  /** @param {number | null} index */
  const numberOf = (index) => (index === null ? 0 : (numbers.get(index) ?? 0));

  /** @param {State} state */
  function draw(state) {
    const { roots, closed } = runs(state);
    state.results.forEach((result, i) => drawStep(state, result, roots, closed[i] ?? null));
    drawOutcome(state);
    drawDesk(state);
    const done = state.results.filter((result) => result.value !== null).length;
    say(progress, words("progress", { done, all: state.results.length }));
    const index = focused(state);
    if (index !== drawnFocus) {
      steps.get(drawnFocus)?.focus(false);
      steps.get(index)?.focus(true);
      drawnFocus = index;
    }
  }

  /**
   * @param {State} state
   * @param {StepResult} result
   * @param {readonly number[]} allRoots
   * @param {number | null} closed    the root of the run that it closes
   */
  function drawStep(state, result, allRoots, closed) {
    const index = result.message_index;
    const view = steps.get(index);
    if (!view) return;
    const label = labelAt(state, index);
    const problem = state.problems.get(index);
    const roots = result.value === -1 ? allRoots.filter((root) => root < index) : [];
    const { proposal } = result;
    const rule = [result.value, result.source, result.root, proposal?.value, proposal?.root, closed, roots].join("|");
    if (!changed(index, label, problem, state.open, rule)) return;

    const value = proposal ? proposal.value : result.value;
    const kind = kindOf(value);
    const text = proposal
      ? words("proposed", { value: signOf(value) })
      : value === null
        ? words("no_label")
        : words(result.source === "propagated" ? "confirmed" : "labelled", { value: signOf(value) });
    view.article.dataset.value = kind;
    view.article.classList.toggle("is-proposed", proposal !== null);
    view.article.classList.toggle("is-labelled", result.value !== null);
    view.state.replaceChildren(mark(kind, proposal !== null, text));
    const marks = [
      label.unsure ? words("unsure") : "",
      label.flagged ? words("flagged") : "",
      label.note ? words("noted") : "",
    ].filter(Boolean);
    const origin = result.value === -1 && result.root !== null ? rootText(result.root, index) : "";
    view.marks.replaceChildren(
      ...(origin ? [make("span", { class: "badge" }, origin)] : []),
      ...marks.map((word) => make("span", { class: "badge badge--warn" }, word)),
    );
    view.railMark.className = `mark mark--${kind}${proposal ? " mark--proposal" : ""}`;
    view.railLink.classList.toggle("is-marked", marks.length > 0);
    say(view.railText, [text, origin, ...marks].filter(Boolean).join(", "));

    drawJudge(view.judge, label, state.open, problem);
    view.judge.box.dataset.proposed = proposal ? kind : "";
    say(view.proposal, proposal ? proposalText(proposal) : "");
    view.confirm.hidden = proposal === null || !state.open;
    const isRoot = result.value === -1 && (roots.length > 0 || result.root !== index);
    view.rootBox.hidden = !isRoot;
    if (isRoot) {
      const choices = [index, ...roots].map((root) => /** @type {const} */ ([String(root), rootText(root, index)]));
      offer(view.root, choices, String(result.root));
    }
    view.closesBox.hidden = closed === null;
    if (closed !== null) {
      const n = numberOf(closed);
      offer(
        view.closes,
        [
          ["", words("closes", { n })],
          ["corrected", words("corrected", { n })],
          ["independent", words("independent", { n })],
        ],
        label.closes,
      );
    }
    view.reasonBox.hidden = result.value === null;
    if (result.value !== null) {
      const fitting = page.reasons.filter((reason) => reason.value === result.value);
      offer(
        view.reason,
        [["", words("no_reason")], ...fitting.map(({ code, title }) => /** @type {const} */ ([code, title]))],
        label.reason,
      );
    }
    for (const select of [view.root, view.closes, view.reason]) select.disabled = !state.open;
  }

  /** @param {import("./propagation.js").Proposal} proposal */
  function proposalText({ value, root }) {
    return root === null
      ? words("proposal_carry", { value: signOf(value) })
      : words("proposal_from", { value: signOf(value), n: numberOf(root) });
  }

  /** @param {number} root @param {number} index */
  const rootText = (root, index) => (root === index ? words("root_self") : words("root_from", { n: numberOf(root) }));

  /** @param {State} state */
  function drawOutcome(state) {
    const label = labelAt(state, "outcome");
    const problem = state.problems.get("outcome");
    if (!changed("outcome", label, problem, state.open, "")) return;
    drawJudge(outcome, label, state.open, problem);
  }

  /** The buttons that belong to the whole trajectory. @param {State} state */
  function drawDesk(state) {
    for (const button of marks) {
      const on = state.marks[button.dataset.mark === "broken" ? "broken" : "needs_discussion"];
      if (button.getAttribute("aria-pressed") !== String(on)) button.setAttribute("aria-pressed", String(on));
      if (button.disabled === state.open) button.disabled = !state.open;
    }
    for (const [button, times] of /** @type {const} */ ([[undo, state.past], [redo, state.future]])) {
      const off = !state.open || !times.length;
      if (button && button.disabled !== off) button.disabled = off;
    }
  }

  /**
   * What steps and the outcome have in common.
   * @param {JudgeView} view
   * @param {Label} label
   * @param {boolean} open
   * @param {import("./labels.js").Problem | undefined} problem
   */
  function drawJudge(view, label, open, problem) {
    view.values.disabled = !open;
    for (const radio of view.radios) radio.checked = radio.value === String(label.value);
    for (const [name, button] of view.buttons) if (name !== "confirm") button.hidden = !open && name !== "note";
    const clear = view.buttons.get("clear");
    if (clear) clear.hidden = !open || label.value === null;
    view.buttons.get("unsure")?.setAttribute("aria-pressed", String(label.unsure));
    view.buttons.get("flag")?.setAttribute("aria-pressed", String(label.flagged));
    if (document.activeElement !== view.note && view.note.value !== label.note) view.note.value = label.note;
    if (label.note) openNote(view.note, view.buttons.get("note"), true);
    view.note.readOnly = !open;
    drawProblem(view.problem, problem, open);
  }

  /**
   * @param {HTMLElement} box
   * @param {import("./labels.js").Problem | undefined} problem
   * @param {boolean} open
   */
  function drawProblem(box, problem, open) {
    const value = signOf(problem?.mine.value ?? null);
    say(box, problem ? words(problem.kind, { value, reason: problem.reason }) : "");
    if (problem?.kind !== "stale" || !open) return;
    box.append(" ", make("button", { type: "button", class: "button button--small", "data-do": "mine" }, words("use_mine", { value })));
  }

  return { draw, words, steps, outcome, numberOf, rootText };
}

/**
 * @param {string} kind
 * @param {boolean} proposal
 * @param {string} text
 */
function mark(kind, proposal, text) {
  return make(
    "span",
    { class: `mark mark--chip mark--${kind}${proposal ? " mark--proposal" : ""}` },
    make("span", { class: "mark__shape", "aria-hidden": "true" }),
    make("span", { class: "mark__sign" }, text),
  );
}

/**
 * @param {HTMLTextAreaElement} note
 * @param {HTMLButtonElement | undefined} button
 * @param {boolean} open
 */
export function openNote(note, button, open) {
  note.hidden = !open;
  button?.setAttribute("aria-expanded", String(open));
}

/** @typedef {ReturnType<typeof judgeView>} JudgeView */
/** @typedef {ReturnType<typeof stepView>} StepView */

/** @param {HTMLElement} box */
function judgeView(box) {
  const values = part(box, "values", HTMLFieldSetElement);
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  for (const button of box.querySelectorAll("button[data-do]")) {
    if (button instanceof HTMLButtonElement) buttons.set(button.dataset.do ?? "", button);
  }
  return {
    box: values,
    values,
    radios: [...values.querySelectorAll("input")],
    buttons,
    note: part(box, "note", HTMLTextAreaElement),
    problem: part(box, "problem", HTMLElement),
  };
}

/**
 * @param {HTMLElement} article
 * @param {import("./keys.js").Keys["shortcut"]} shortcut
 */
function stepView(article, shortcut) {
  const index = Number(article.dataset.step);
  const railLink = document.querySelector(`[data-goto="${index}"]`);
  if (!(railLink instanceof HTMLElement)) throw new Error(`the rail has no step ${index}`);
  const judge = judgeView(article);
  judge.radios.forEach((radio, i) => {
    const ids = /** @type {const} */ (["plus", "zero", "minus"]);
    radio.setAttribute("aria-keyshortcuts", shortcut(ids[i] ?? "plus"));
  });
  judge.buttons.get("unsure")?.setAttribute("aria-keyshortcuts", shortcut("unsure"));
  judge.buttons.get("flag")?.setAttribute("aria-keyshortcuts", shortcut("flag"));
  judge.buttons.get("note")?.setAttribute("aria-keyshortcuts", shortcut("note"));
  judge.buttons.get("clear")?.setAttribute("aria-keyshortcuts", shortcut("clear"));
  return {
    article,
    judge,
    state: part(article, "state", HTMLElement),
    marks: part(article, "marks", HTMLElement),
    proposal: part(article, "proposal", HTMLElement),
    confirm: part(article, "confirm", HTMLButtonElement),
    rootBox: part(article, "root-box", HTMLElement),
    root: part(article, "root", HTMLSelectElement),
    closesBox: part(article, "closes-box", HTMLElement),
    closes: part(article, "closes", HTMLSelectElement),
    reasonBox: part(article, "reason-box", HTMLElement),
    reason: part(article, "reason", HTMLSelectElement),
    railLink,
    railMark: part(railLink, "rail-mark", HTMLElement),
    railText: part(railLink, "rail-text", HTMLElement),
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
