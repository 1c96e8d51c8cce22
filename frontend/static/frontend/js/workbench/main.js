// @ts-check
/**
 * The workbench, put together: the store with what draws and saves it, and what happens on the page, handed to the
 * commands and the store.
 */

import { byRole, setText } from "../lib/dom.js";
import { inParts, keepPartsWith, reach, settleOn, whenPartsChange } from "../lib/run_parts.js";
import { ownStorage } from "../lib/storage.js";
import { reportWorkTime } from "./saving/activity.js";
import { makeClosingReason } from "./view/closing_reason.js";
import { makeCommands } from "./commands.js";
import { coveredTop } from "./find_and_raw.js";
import { drawHelp, nameShortcuts } from "./help.js";
import { makeKeys } from "./keys.js";
import { drawMobileBar, followTouch, visibleBottom } from "./view/mobile_bar.js";
import { makeFeedback } from "./view/feedback.js";
import { makeNavigation } from "./navigation.js";
import { makeReasons } from "./view/reasons.js";
import { makePropagationNote } from "./view/propagation_note.js";
import { startSaving } from "./saving/saving.js";
import { focused } from "./state/selectors.js";
import { createStore } from "./state/store.js";
import { makeSubmission } from "./submit.js";
import { makeSuggestions } from "./view/suggestions.js";
import { makeView, stepsIn } from "./view/view.js";
import { watchVisibility } from "./view/visibility.js";

/** @typedef {import("./state/labels.js").Key} Key */
/** @typedef {import("./state/labels.js").Value} Value */

const page = JSON.parse(document.getElementById("workbench-state")?.textContent ?? "{}");
const keys = makeKeys(page.keys);
const store = createStore(page);
const view = makeView(page, keys);
const { steps, words } = view;
keepPartsWith((message) => message.contains(steps.get(focused(store.get()))?.article ?? null));
const navigation = makeNavigation(store, steps);
const drawClosingReason = makeClosingReason({ view, navigation, keys });
const propagationNote = makePropagationNote({ view, storage: ownStorage() });
const visibility = watchVisibility({
  wanted: (index) =>
    !store.get().seen.has(index) &&
    view.isDrawn(index) &&
    store.get().results.some((step) => step.message_index === index && step.proposal !== null),
  seen: (index) => store.dispatch({ type: "seen", index }),
  coveredTop,
  visibleBottom,
});

/** Alternatives are named, for their places say nothing. */
function drawBar() {
  const state = store.get();
  const named = state.rules.propagates === false;
  drawMobileBar(state, named ? words("step", { n: view.numberOf(focused(state)) }) : "");
}

/** @param {import("./state/reducer.js").State} state */
function draw(state) {
  view.draw(state);
  drawClosingReason(state);
  propagationNote.draw(state);
  drawBar();
  visibility.ask();
}
store.subscribe(draw); // before saving: a key is drawn first

const saving = startSaving({ store, page, words });
const { saver } = saving;
const reportTime = reportWorkTime(page, words);
const submission = makeSubmission({ store, view, navigation, saving, reportTime, urls: page.urls });
const suggestions = makeSuggestions({
  store,
  view,
  navigation,
  saver,
  policy: String(page.suggestions),
  url: page.urls.reveals,
});
const feedback = makeFeedback({ store, view, navigation, reasons: page.reasons, url: page.urls.feedback });
const openReasons = makeReasons({ store, view, reasons: page.reasons });
const commands = makeCommands({ store, view, navigation, submission, suggestions, propagationNote, openReasons });

// --- what happens on the page ---------------------------------------------------------------------------

/** @param {EventTarget | null} target @returns {"" | "field" | "radio" | "control"} */
function placeOf(target) {
  if (target instanceof HTMLInputElement) return target.type === "radio" ? "radio" : "field";
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return "field";
  if (target instanceof HTMLElement && target.isContentEditable) return "field";
  return target instanceof Element && target.closest("button, a, summary") ? "control" : "";
}

/** @param {EventTarget | null} target @returns {Key | null} whose controls these are */
function keyOf(target) {
  if (!(target instanceof Element)) return null;
  // answering leaves the focus where it is
  if (target.closest('[data-role="closing-reason"], [data-role="propagation-note"]')) return null;
  const step = target.closest("[data-step]");
  if (step instanceof HTMLElement) return Number(step.dataset.step);
  return target.closest("[data-outcome]") ? "outcome" : null;
}

/** @param {Key | null} key */
const positionOf = (key) => store.get().steps.findIndex((step) => step.index === key);

const dialogs = [...document.querySelectorAll("dialog")];

document.addEventListener("keydown", (event) => {
  if (dialogs.some((dialog) => dialog.open)) return;
  const where = placeOf(event.target);
  if (event.key === "Escape") {
    if (where === "field") navigation.reveal();
    else if (!event.defaultPrevented && !document.querySelector(":popover-open"))
      commands.explain_later(focused(store.get()));
    return;
  }
  const action = keys.actionOf(event, where);
  if (action === null) return;
  event.preventDefault();
  if (action === "submit") keepOpenNote();
  if (event.repeat && action !== "next" && action !== "previous") return;
  if (action !== "submit") submission.forgetMissing();
  commands[action](focused(store.get()));
});

/** Whether a button or finger is down: moving the focus then would move what it is about to let go of. */
let pressed = false;
for (const kind of ["pointerdown", "pointercancel", "click", "keydown"]) {
  document.addEventListener(kind, () => (pressed = kind === "pointerdown"), { capture: true, passive: true });
}

document.addEventListener("focusin", (event) => {
  if (pressed) return;
  const position = positionOf(keyOf(event.target));
  if (position >= 0) store.dispatch({ type: "focus", position });
});

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const link = target?.closest("[data-goto]");
  if (link instanceof HTMLElement) {
    event.preventDefault();
    navigation.go(positionOf(Number(link.dataset.goto)));
  }
  const key = keyOf(target);
  const position = positionOf(key);
  if (position >= 0) store.dispatch({ type: "focus", position });
  const button = target?.closest("[data-action]");
  const action = button instanceof HTMLElement ? button.dataset.action : undefined;
  if (action !== "submit") submission.forgetMissing();
  if (action && action in commands) {
    commands[/** @type {import("./commands.js").Command} */ (action)](key ?? focused(store.get()));
  }
});

document.addEventListener("change", (event) => {
  const key = keyOf(event.target);
  if (key === null) return;
  const field = event.target;
  if (field instanceof HTMLInputElement && field.type === "radio") {
    store.dispatch({ type: "value", key, value: /** @type {Value} */ (Number(field.value)) });
  } else if (field instanceof HTMLSelectElement && key !== "outcome") {
    const { role } = field.dataset;
    if (role === "root") store.dispatch({ type: "root", key, root: Number(field.value) });
    if (role === "closes") {
      const closes = /** @type {"" | "corrected" | "independent"} */ (field.value);
      store.dispatch({ type: "edit", key, change: { closes } });
    }
  } else if (field instanceof HTMLTextAreaElement) {
    keepNote(field);
  }
});

/** @type {ReturnType<typeof setTimeout> | undefined} */
let writing;

/** @param {HTMLTextAreaElement} field */
function keepNote(field) {
  clearTimeout(writing);
  const key = keyOf(field);
  if (key !== null && store.get().open) store.dispatch({ type: "edit", key, change: { note: field.value } });
}

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLTextAreaElement) || keyOf(field) === null) return;
  clearTimeout(writing);
  writing = setTimeout(keepNote, 700, field);
});

/** A note that is being written counts as well. */
function keepOpenNote() {
  if (document.activeElement instanceof HTMLTextAreaElement) keepNote(document.activeElement);
}

window.addEventListener("beforeunload", (event) => {
  keepOpenNote();
  if (!submission.isLeaving() && saver.pending()) event.preventDefault();
});
window.addEventListener("pagehide", () => {
  if (!submission.isLeaving()) saver.farewell();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) keepOpenNote();
  else void saver.refresh();
});
window.addEventListener("online", () => void saver.save());

const form = document.querySelector('[data-role="return-form"]');
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const reason = document.getElementById("return-reason");
  const problem = byRole(document, "return-problem", HTMLElement);
  if (!(reason instanceof HTMLTextAreaElement)) return;
  setText(problem, await submission.giveBack(reason.value));
});

// --- begin ----------------------------------------------------------------------------------------------

drawHelp(keys, words);
nameShortcuts(keys, words);
await saving.rescue();
for (const [index, { article }] of steps) visibility.add(index, article);
whenPartsChange((added, removed) => {
  view.remove(stepsIn(removed));
  for (const article of stepsIn(removed)) visibility.remove(Number(article.dataset.step), article);
  view.add(stepsIn(added));
  for (const article of stepsIn(added)) visibility.add(Number(article.dataset.step), article);
  suggestions.placed(stepsIn(added), stepsIn(removed));
  feedback.placed(stepsIn(added));
  draw(store.get());
  steps.get(focused(store.get()))?.focus(true); // the list of steps has moved under it
});
followTouch({ store, step: (index) => steps.get(index)?.article, coveredTop, draw: drawBar });
draw(store.get());
const led = window.location.hash.startsWith("#m"); // to a message, which the browser scrolls to
if (store.get().focus > 0 && !led)
  void reach(focused(store.get())).then((step) => {
    if (inParts && step) settleOn(step);
    else step?.scrollIntoView({ block: "start" });
  });
if (window.matchMedia("(max-width: 60rem)").matches) {
  for (const panel of document.querySelectorAll("details[data-wide-open]")) panel.removeAttribute("open");
}
if (store.get().open) void saver.save();
void suggestions.begin();
void feedback.begin();
document.documentElement.dataset.workbench = "ready";
