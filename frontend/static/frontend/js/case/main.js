// @ts-check
/**
 * The page of a case: moving among the steps, deciding with one key, and what a decision would do to the errors.
 * Without this the same forms work with their own buttons.
 */

import { byRole } from "../lib/dom.js";
import { keepPartsWith, reach, settleOn, whenPartsChange } from "../lib/run_parts.js";
import "../pages/drafts.js";
import { coveredTop, openFind, rawOfFocused } from "../workbench/find_and_raw.js";
import { drawHelp, nameShortcuts } from "../workbench/help.js";
import { makeKeys } from "../workbench/keys.js";
import { visibleBottom } from "../workbench/view/mobile_bar.js";
import { choose, makeDecisions } from "./decisions.js";
import {
  chooseRoot,
  drawAllEffects,
  drawErrors,
  drawFocused,
  drawItem,
  drawProgress,
  effectOn,
  items,
  originField,
  page,
  undecided,
  valueOf,
  words,
} from "./view.js";

/** @typedef {import("../workbench/state/propagation_preview.js").Value} Value */
/** @typedef {import("./view.js").Item} Item */

const keys = makeKeys(page.keys);
const live = byRole(document, "live", HTMLElement);
let at = -1;

/** @param {string} text */
function announce(text) {
  live.textContent = text;
}

// --- moving ---------------------------------------------------------------------------------------------

/** @param {number} position @param {{start?: boolean}} [options] `start`: bring its head to the window's top */
function go(position, { start = false } = {}) {
  const item = items[position];
  if (!item) return;
  at = position;
  drawFocused(at);
  const { card, index } = item;
  if (!card) {
    void reach(index ?? 0).then((there) => {
      if (!there || at !== position) return;
      settleOn(there);
      there.focus({ preventScroll: true });
    });
    return;
  }
  const box = card.getBoundingClientRect();
  if (start || box.top < coveredTop() || box.bottom > visibleBottom()) card.scrollIntoView({ block: "start" });
  card.focus({ preventScroll: true });
}

/**
 * The nearest item of a kind before or after the focused one; from the last on to the first.
 * @param {(item: Item) => boolean} fits
 * @param {1 | -1} direction
 * @param {string} otherwise  what to say when there is none
 */
function goToNext(fits, direction, otherwise) {
  for (let away = 1; away <= items.length; away += 1) {
    const position = (at + direction * away + 2 * items.length) % items.length;
    const item = items[position];
    if (item && fits(item)) return go(position, { start: true });
  }
  return announce(words(otherwise));
}

// --- deciding -------------------------------------------------------------------------------------------

/** @type {Map<Item, Value | null>} what the server holds, while something else is on its way */
const kept = new Map(items.map((item) => [item, item.said.decided]));

const decisions = makeDecisions({
  words,
  stored(form, { value, errors }) {
    const item = itemOf(form);
    if (!item) return;
    kept.set(item, value);
    const root = originField(item, "root")?.value;
    item.said.root = value === -1 && root ? Number(root) : null;
    show(item, value);
    if (errors) drawErrors(errors);
  },
  refused(form) {
    const item = itemOf(form);
    if (!item) return;
    show(item, kept.get(item) ?? null);
    go(items.indexOf(item));
  },
});

/** @param {HTMLFormElement} form */
function itemOf(form) {
  return items[positionOf(form)];
}

/** @param {Item} item @param {Value | null} value */
function show(item, value) {
  item.said.decided = value;
  drawItem(item);
  drawProgress();
  drawAllEffects();
  drawFocused(at);
}

/**
 * A decision by hand, which is no majority's any more; an error whose beginning nobody names begins where the rule
 * says, as the preview has said.
 * @param {Item} item
 * @param {Value} value
 */
function byHand(item, value) {
  item.form?.removeAttribute("data-by-majority");
  const root = originField(item, "root");
  if (value !== -1 || !root || root.value || item.said.named !== null) return;
  chooseRoot(root, effectOn(item, -1).root);
}

/**
 * @param {Item | undefined} item
 * @param {Value | null | undefined} value
 * @param {import("./view.js").Label} [label]   whose root and reason are taken too
 */
function decide(item, value, label) {
  if (item && !item.card) {
    go(items.indexOf(item), { start: true }); // nobody decides what is still on its way
    return;
  }
  if (!item?.form || value === null || value === undefined) {
    announce(words("not_disputed"));
    return;
  }
  const root = originField(item, "root");
  const reason = originField(item, "reason");
  if (label && root && reason) {
    chooseRoot(root, value === -1 ? label.root : null);
    reason.value = value === -1 ? label.reason : "";
  }
  byHand(item, value);
  choose(item.form, value);
  void decisions.save(item.form);
  show(item, value);
  if (items[at] !== item) return;
  if (undecided().length) goToNext((one) => one.disputed && valueOf(one) === null, 1, "all_decided");
  else announce(words("all_decided"));
}

/** @param {string} letter */
function take(letter) {
  const item = items[at];
  const label = item?.said.says[letter];
  if (item?.form && !label) announce(words("no_such", { letter }));
  else decide(item, label?.value, label);
}

const outcome = items.at(-1);

/** @param {HTMLElement | null | undefined} card */
function unfoldAll(card) {
  if (card instanceof HTMLDetailsElement && !card.open) {
    card.open = true;
    return;
  }
  const buttons = [...(card?.querySelectorAll("[data-unfold]") ?? [])];
  if (card instanceof HTMLDetailsElement && !buttons.length) card.open = false;
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

const finish = document.querySelector("form[data-finish]");

/** @type {Record<string, () => unknown>} */
const commands = {
  plus: () => decide(items[at], 1),
  zero: () => decide(items[at], 0),
  minus: () => decide(items[at], -1),
  take_a: () => take("A"),
  take_b: () => take("B"),
  take_c: () => take("C"),
  outcome_plus: () => decide(outcome, 1),
  outcome_zero: () => decide(outcome, 0),
  outcome_minus: () => decide(outcome, -1),
  clear: () => {
    const form = items[at]?.card?.querySelector("form[data-decide], form[data-origin]");
    if (form instanceof HTMLFormElement && items[at]?.said.decided !== null) void decisions.withdraw(form);
    else announce(words("nothing_decided"));
  },
  next: () => go(Math.min(at + 1, items.length - 1)),
  previous: () => go(Math.max(at - 1, 0)),
  next_disagreement: () => goToNext((item) => item.disputed, 1, "no_disagreement"),
  previous_disagreement: () => goToNext((item) => item.disputed, -1, "no_disagreement"),
  next_unlabelled: () => goToNext((item) => item.disputed && valueOf(item) === null, 1, "all_decided"),
  note: () => {
    const note = items[at]?.form?.elements.namedItem("note");
    if (note instanceof HTMLTextAreaElement) note.focus();
  },
  suggestions: () => {
    const form = items[at]?.card?.querySelector("form[data-reveal]");
    if (form instanceof HTMLFormElement && items[at]?.said.decided !== null) form.requestSubmit();
    else if (form) announce(words("decide_first"));
  },
  expand: () => unfoldAll(items[at]?.card),
  raw: () => {
    const card = items[at]?.card;
    if (card instanceof HTMLDetailsElement) card.open = true;
    rawOfFocused();
  },
  search: openFind,
  guidelines: () => openDialog("guidelines"),
  help: () => openDialog("help"),
  escape: () => go(at),
  submit: () => {
    // a note that is being written counts as well
    if (document.activeElement instanceof HTMLTextAreaElement) document.activeElement.blur();
    if (finish instanceof HTMLFormElement) finish.requestSubmit(finish.querySelector("button"));
  },
};

/** The form of a text to others, which is then sent. @param {EventTarget | null} target */
function letterAt(target) {
  const form = target instanceof HTMLTextAreaElement ? target.form : null;
  const own = form === finish || form?.dataset.decide !== undefined || form?.dataset.origin !== undefined;
  return own || form?.method !== "post" ? null : form;
}

// --- what happens on the page ---------------------------------------------------------------------------

/** @param {EventTarget | null} target @returns {"" | "field" | "radio" | "control"} */
function placeOf(target) {
  if (target instanceof HTMLInputElement) return target.type === "radio" ? "radio" : "field";
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return "field";
  return target instanceof Element && target.closest("button, a, summary") ? "control" : "";
}

/** @param {EventTarget | null} target */
function positionOf(target) {
  const card = target instanceof Element ? target.closest("[data-step]") : null;
  if (!(card instanceof HTMLElement)) return -1;
  return items.findIndex(({ index }) => String(index ?? "outcome") === card.dataset.step);
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  const where = placeOf(event.target);
  if (event.key === "Escape" && where === "field") {
    go(at);
    return;
  }
  const action = keys.actionOf(event, where);
  const command = action === null ? undefined : commands[action];
  if (!command || (event.repeat && action !== "next" && action !== "previous")) return;
  event.preventDefault();
  const letter = action === "submit" ? letterAt(event.target) : null;
  if (letter) letter.requestSubmit();
  else command();
});

document.addEventListener("focusin", (event) => {
  const position = positionOf(event.target);
  if (position < 0 || position === at) return;
  at = position;
  drawFocused(at);
});

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const position = positionOf(target);
  if (position >= 0 && position !== at) {
    at = position;
    drawFocused(at);
  }
  const link = target?.closest("[data-goto]");
  if (link instanceof HTMLElement) {
    event.preventDefault();
    go(
      items.findIndex((item) => String(item.index ?? "outcome") === link.dataset.goto),
      { start: true },
    );
  }
  const button = target?.closest("[data-action]");
  if (button instanceof HTMLElement) commands[button.dataset.action ?? ""]?.();
});

document.addEventListener("change", (event) => {
  const field = event.target;
  const form = field instanceof Element ? field.closest("form[data-decide], form[data-origin]") : null;
  if (!(form instanceof HTMLFormElement)) return;
  const item = itemOf(form);
  if (item && field instanceof HTMLInputElement) byHand(item, /** @type {Value} */ (Number(field.value)));
  void decisions.save(form);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  if (form.dataset.decide !== undefined || form.dataset.origin !== undefined) {
    event.preventDefault();
    const act = event.submitter?.dataset ?? {};
    if (act.majority !== undefined) void decisions.majority(form);
    else if (act.withdraw !== undefined) void decisions.withdraw(form);
    else void decisions.save(form);
  } else if (decisions.any() && (form === finish || form.dataset.reveal !== undefined)) {
    // What is being saved comes first; what is refused is looked at before anything else is done.
    event.preventDefault();
    const { submitter } = event;
    void decisions.settled().then((stored) => stored && form.requestSubmit(submitter));
  }
});

// --- begin ----------------------------------------------------------------------------------------------

drawHelp(keys, words);
nameShortcuts(keys, words);
function drawAll() {
  for (const item of items) drawItem(item);
  drawAllEffects();
}
drawAll();
drawProgress();
/** @param {HTMLElement} message */
const isWorkedIn = (message) =>
  decisions.any() ||
  message.contains(items[at]?.card ?? null) ||
  message.querySelector('[data-role="problem"]:not([hidden])') !== null;
keepPartsWith(isWorkedIn);
whenPartsChange(() => {
  drawAll();
  drawFocused(at);
});
document.body.classList.add("has-script");
if (window.matchMedia("(max-width: 60rem)").matches) {
  for (const panel of document.querySelectorAll("details[data-wide-open]")) panel.removeAttribute("open");
}
const pointed = /^#(?:m(\d+)|outcome)$/.exec(window.location.hash);
const asked = pointed ? items.findIndex(({ index }) => index === (pointed[1] ? Number(pointed[1]) : null)) : -1;
const [first] = [...undecided(), ...items.filter((item) => item.disputed), ...items];
go(asked >= 0 ? asked : items.indexOf(/** @type {Item} */ (first)), { start: true });
document.documentElement.dataset.case = "ready";
