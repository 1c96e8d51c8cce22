// @ts-check
/**
 * The commands of keys and buttons.
 */

import { openFind, rawOfFocused } from "./find_and_raw.js";
import { openGuidelines } from "./guideline_part.js";
import {
  closedAt,
  confirmable,
  earlierRoots,
  focused,
  labelAt,
  nextUnlabelled,
  stepToExplain,
  whyNoOthers,
} from "./state/selectors.js";
import { openNote } from "./view/step_view.js";

/** @typedef {import("./state/labels.js").Key} Key */
/** @typedef {import("./state/labels.js").Value} Value */
/**
 * The command of a key, or of a button by its `data-action`. Some are for buttons alone.
 * @typedef {import("./keys.js").Action | "confirm_step" | "confirm_up_to_here" | "toggle_note" | "reveal" | "keep_mine"
 *   | "explain_corrected" | "explain_independent" | "explain_later" | "mark_needs_discussion"
 *   | "mark_broken" | "propagation_understood"} Command
 */

/**
 * @param {object} options
 * @param {import("./state/store.js").Store} options.store
 * @param {import("./view/view.js").View} options.view
 * @param {import("./navigation.js").Navigation} options.navigation
 * @param {import("./submit.js").Submission} options.submission
 * @param {import("./view/suggestions.js").Suggestions} options.suggestions
 * @param {{understood: () => void}} options.propagationNote
 * @param {(index: number) => void} options.openReasons
 * @returns {Record<Command, (key: Key) => unknown>} each takes the label that is meant: the focused step's, or the
 *   one whose button it is
 */
export function makeCommands({ store, view, navigation, submission, suggestions, propagationNote, openReasons }) {
  const { dispatch } = store;
  const { words } = view;
  const { announce, go, holdFocus, reveal } = navigation;

  /** @param {Value} value  for what is on the page: nobody judges what is still on its way */
  function label(value) {
    const { focus } = store.get();
    if (!view.steps.has(focused(store.get()))) {
      reveal();
      return;
    }
    dispatch({ type: "value", key: focused(store.get()), value }, { type: "focus", position: focus + 1 });
    reveal();
  }

  /** @param {boolean} [only]  the focused step alone */
  function confirm(only = false) {
    if (!only && isSubmitting()) return;
    const positions = confirmable(store.get());
    const count = only ? Number(positions[0] === store.get().focus) : positions.length;
    if (!count) {
      announce(words("nothing_to_confirm"));
      return;
    }
    dispatch(only ? { type: "confirm", only } : { type: "confirm" });
    announce(words("confirmed_n", { n: count }));
    reveal();
  }

  /** Whether the key that confirms submits: where steps are alternatives, and nothing is proposed. */
  function isSubmitting() {
    const { rules, results } = store.get();
    if (rules.propagates !== false || results.some((step) => step.proposal !== null)) return false;
    void submission.submit();
    return true;
  }

  /** Propose −1 for the options without a label, or take these proposals back; else say why not. */
  function others() {
    const why = store.get().open ? whyNoOthers(store.get()) : null;
    if (why !== null) {
      submission.say(words(why));
      return;
    }
    dispatch({ type: "others" });
    const count = store.get().results.filter((step) => step.proposal !== null).length;
    announce(count ? words("others_proposed", { n: count }) : words("others_withdrawn"));
    reveal();
  }

  /** Confirm what has been seen up to the focused step as well: a thumb takes the focus along with what is read. */
  function confirmUpToHere() {
    const { results, seen, focus } = store.get();
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
    const { last } = store.get();
    const index = focused(store.get());
    if (fits(index)) return index;
    return last !== null && fits(last) ? last : null;
  }

  function otherRoot() {
    const index = meant((one) => labelAt(store.get(), one).value === -1);
    if (index === null) return;
    const earlier = earlierRoots(store.get(), index).at(-1);
    const chosen = labelAt(store.get(), index).root === index ? earlier : index;
    if (chosen === undefined || !dispatch({ type: "root", key: index, root: chosen })) return;
    announce(`${words("step", { n: view.numberOf(index) })}: ${view.rootText(chosen, index)}`);
  }

  /** @param {"corrected" | "independent"} why  pressed again, it is taken back */
  function closes(why) {
    const index = meant((one) => closedAt(store.get(), one) !== null);
    if (index === null) return;
    const now = labelAt(store.get(), index).closes === why ? "" : why;
    dispatch({ type: "edit", key: index, change: { closes: now } });
    announce(words(now || "closes", { n: view.numberOf(closedAt(store.get(), index) ?? 0) }));
  }

  /** The reason of the step whose button it is, or of the one that a key means. @param {Key} key */
  function reason(key) {
    const index = key !== "outcome" && labelAt(store.get(), key).value !== null ? key : meant(isLabelled);
    if (index !== null && store.get().open) openReasons(index);
    else if (index === null) announce(words("reasons_label_first"));
  }

  const isLabelled = (/** @type {number} */ index) => labelAt(store.get(), index).value !== null;

  /** Answer why the error ended. @param {"corrected" | "independent"} why */
  function explain(why) {
    const key = stepToExplain(store.get());
    if (key === null) return;
    dispatch({ type: "edit", key, change: { closes: why } });
    holdFocus();
  }

  /** Leave the question why the error ended unanswered: the label stays, and its keys and its list still answer. */
  function explainLater() {
    if (!dispatch({ type: "unasked" })) return;
    announce(words("ask_left"));
    holdFocus();
  }

  /** @param {Key} key @param {"unsure" | "flagged"} name */
  function toggle(key, name) {
    dispatch({ type: "edit", key, change: { [name]: !labelAt(store.get(), key)[name] } });
  }

  /** @param {keyof import("./state/reducer.js").Marks} name */
  function toggleMark(name) {
    dispatch({ type: "mark", change: { [name]: !store.get().marks[name] } });
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
    const article = view.steps.get(focused(store.get()))?.article;
    const buttons = [...(article?.querySelectorAll("[data-unfold]") ?? [])];
    const some = buttons.some((button) => button.getAttribute("aria-expanded") !== "true");
    for (const button of buttons) {
      const open = button.getAttribute("aria-expanded") === "true";
      if (open !== some && button instanceof HTMLElement) button.click();
    }
  }

  function goToUnlabelled() {
    const position = nextUnlabelled(store.get(), store.get().focus);
    if (position === null) announce(words("nothing_left"));
    else go(position);
  }

  return {
    plus: () => label(1),
    zero: () => label(0),
    minus: () => label(-1),
    clear: (key) => dispatch({ type: "value", key, value: null }),
    keep_mine: (key) => dispatch({ type: "keepMine", key }),
    outcome_plus: () => dispatch({ type: "value", key: "outcome", value: 1 }),
    outcome_zero: () => dispatch({ type: "value", key: "outcome", value: 0 }),
    outcome_minus: () => dispatch({ type: "value", key: "outcome", value: -1 }),
    drop: () => dispatch({ type: "value", key: "outcome", value: -1 }),
    confirm: () => confirm(),
    confirm_step: () => confirm(true),
    confirm_up_to_here: confirmUpToHere,
    others,
    root: otherRoot,
    closes_corrected: () => closes("corrected"),
    closes_independent: () => closes("independent"),
    explain_corrected: () => explain("corrected"),
    explain_independent: () => explain("independent"),
    explain_later: explainLater,
    reason,
    unsure: (key) => toggle(key, "unsure"),
    flag: (key) => toggle(key, "flagged"),
    note: (key) => note(key),
    toggle_note: (key) => note(key, true),
    mark_needs_discussion: () => toggleMark("needs_discussion"),
    mark_broken: () => toggleMark("broken"),
    next: () => go(store.get().focus + 1),
    previous: () => go(store.get().focus - 1),
    next_unlabelled: goToUnlabelled,
    trajectory_next: () => submission.goToOwn("next"),
    trajectory_previous: () => submission.goToOwn("previous"),
    expand,
    raw: rawOfFocused,
    search: openFind,
    undo: () => undoRedo("undo"),
    redo: () => undoRedo("redo"),
    propagation_understood: propagationNote.understood,
    suggestions: suggestions.revealFocused,
    reveal: suggestions.reveal,
    guidelines: () => openGuidelines(store.get()),
    submit: submission.submit,
    help: () => openDialog("help"),
  };
}

/** @param {string} id */
function openDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}
