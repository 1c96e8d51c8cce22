// @ts-check
/**
 * The workbench: what happens on the page, handed to the commands and the state.
 */

import { ACTIONS } from "./commands.js";
import { current, dispatch, go, keys, rescue, reveal, saver, show, view, watchProposals, words } from "./store.js";
import { byRole, setText } from "../lib/dom.js";
import { drawHelp, nameShortcuts } from "./help.js";
import { focused } from "./selectors.js";
import { forgetMissing, giveBack, isLeaving } from "./submit.js";
import { begin as beginSuggestions } from "./suggestions.js";

/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Value} Value */

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
  const step = target.closest("[data-step]");
  if (step instanceof HTMLElement) return Number(step.dataset.step);
  return target.closest("[data-outcome]") ? "outcome" : null;
}

/** @param {Key | null} key */
const positionOf = (key) => current().steps.findIndex((step) => step.index === key);

const dialogs = [...document.querySelectorAll("dialog")];

document.addEventListener("keydown", (event) => {
  if (dialogs.some((dialog) => dialog.open)) return;
  const where = placeOf(event.target);
  if (event.key === "Escape" && where === "field") {
    reveal();
    return;
  }
  const action = keys.actionOf(event, where);
  if (action === null) return;
  event.preventDefault();
  if (action === "submit") keepOpenNote();
  if (event.repeat && action !== "next" && action !== "previous") return;
  if (action !== "submit") forgetMissing();
  ACTIONS[action](focused(current()));
});

/** Whether a button or finger is down: moving the focus then would move what it is about to let go of. */
let pressed = false;
for (const kind of ["pointerdown", "pointercancel", "click", "keydown"]) {
  document.addEventListener(kind, () => (pressed = kind === "pointerdown"), { capture: true, passive: true });
}

document.addEventListener("focusin", (event) => {
  if (pressed) return;
  const position = positionOf(keyOf(event.target));
  if (position >= 0) dispatch({ type: "focus", position });
});

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const link = target?.closest("[data-goto]");
  if (link instanceof HTMLElement) {
    event.preventDefault();
    go(positionOf(Number(link.dataset.goto)));
  }
  const key = keyOf(target);
  const position = positionOf(key);
  if (position >= 0) dispatch({ type: "focus", position });
  const button = target?.closest("[data-action]");
  const action = button instanceof HTMLElement ? button.dataset.action : undefined;
  if (action !== "submit") forgetMissing();
  if (action && action in ACTIONS) {
    ACTIONS[/** @type {import("./commands.js").Command} */ (action)](key ?? focused(current()));
  }
});

document.addEventListener("change", (event) => {
  const key = keyOf(event.target);
  if (key === null) return;
  const field = event.target;
  if (field instanceof HTMLInputElement && field.type === "radio") {
    dispatch({ type: "value", key, value: /** @type {Value} */ (Number(field.value)) });
  } else if (field instanceof HTMLSelectElement && key !== "outcome") {
    const { role } = field.dataset;
    if (role === "root") dispatch({ type: "root", key, root: Number(field.value) });
    if (role === "reason") dispatch({ type: "edit", key, change: { reason: field.value } });
    if (role === "closes") {
      const closes = /** @type {"" | "corrected" | "independent"} */ (field.value);
      dispatch({ type: "edit", key, change: { closes } });
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
  if (key !== null && current().open) dispatch({ type: "edit", key, change: { note: field.value } });
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
  if (!isLeaving() && saver.pending()) event.preventDefault();
});
window.addEventListener("pagehide", () => {
  if (!isLeaving()) saver.farewell();
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
  setText(problem, await giveBack(reason.value));
});

drawHelp(words);
nameShortcuts();
await rescue();
watchProposals();
show();
if (current().focus > 0) view.steps.get(focused(current()))?.article.scrollIntoView({ block: "start" });
if (window.matchMedia("(max-width: 60rem)").matches) {
  for (const panel of document.querySelectorAll("details[data-wide-open]")) panel.removeAttribute("open");
}
if (current().open) void saver.save();
void beginSuggestions();
document.documentElement.dataset.workbench = "ready";
