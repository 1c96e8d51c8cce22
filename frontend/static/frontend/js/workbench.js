// @ts-check
/**
 * The workbench: wires the state, the view, the keys and the saver together.
 */

import { post, reasonOf } from "./api.js";
import { make, part, say } from "./dom.js";
import { BINDINGS, actionOf, caps, shortcut } from "./keys.js";
import { makeSaver } from "./saver.js";
import { watch } from "./seen.js";
import { confirmable, earlierRoots, focused, labelAt, missing, nextUnlabelled } from "./selectors.js";
import { initial, reduce } from "./state.js";
import { makeView, openNote } from "./view.js";

/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Value} Value */
/** @typedef {import("./keys.js").Action} KeyAction */

const page = JSON.parse(document.getElementById("workbench-state")?.textContent ?? "{}");
const csrf = document.querySelector('input[name="csrfmiddlewaretoken"]');
const token = csrf instanceof HTMLInputElement ? csrf.value : "";
const view = makeView(page);
const { words } = view;
const live = part(document, "live", HTMLElement);
const banner = part(document, "banner", HTMLElement);
const saveBadge = part(document, "save", HTMLElement);
const bar = document.querySelector(".bar");

let state = initial(page);
let leaving = false;
/** @type {() => void} */
let lookAgain = () => {};

const saver = makeSaver({
  get: () => state,
  set(next) {
    state = next;
    show();
  },
  tell,
  url: page.urls.labels,
  csrf: token,
});

function show() {
  view.draw(state);
  lookAgain();
}

/**
 * @param {import("./state.js").Action} action
 * @returns {boolean} whether it changed anything
 */
function dispatch(action) {
  const next = reduce(state, action);
  if (next === state) return false;
  state = next;
  show();
  if (state.dirty.size) void saver.save();
  return true;
}

/**
 * @param {import("./saver.js").Status} status
 * @param {string} reason
 */
function tell(status, reason) {
  saveBadge.dataset.status = status;
  say(saveBadge, status === "saved" ? words("saved") : status === "saving" ? words("saving") : words("unsaved"));
  const trouble = status === "saved" || status === "saving" ? "" : words(status, { reason });
  if (status !== "saving") say(banner, trouble);
  if (status === "closed") dispatch({ type: "close" });
}

/** @param {string} text */
function announce(text) {
  live.textContent = text;
}

// --- moving ------------------------------------------------------------------------------------------------

/** Bring the focused step into view and give it the keyboard. */
function reveal() {
  const article = view.steps.get(focused(state))?.article;
  if (!article) return;
  article.focus({ preventScroll: true });
  const top = bar instanceof HTMLElement ? bar.getBoundingClientRect().bottom : 0;
  const box = article.getBoundingClientRect();
  if (box.top < top || box.bottom > window.innerHeight) article.scrollIntoView({ block: "start" });
}

/** @param {number} position */
function go(position) {
  dispatch({ type: "focus", position });
  reveal();
}

// --- what the keys and buttons do ------------------------------------------------------------------------------

/** @param {Value} value */
function label(value) {
  dispatch({ type: "value", key: focused(state), value });
  go(state.focus + 1);
}

/** @param {boolean} [only]  the focused step alone */
function confirm(only = false) {
  const positions = confirmable(state);
  const count = only ? Number(positions[0] === state.focus) : positions.length;
  if (!count) {
    announce(words("nothing_to_confirm"));
    return;
  }
  dispatch(only ? { type: "confirm", only } : { type: "confirm" });
  announce(words("confirmed_n", { n: count }));
  reveal();
}

/** @param {"undo" | "redo"} type */
function travel(type) {
  announce(dispatch({ type }) ? words("undone") : words("nothing_to_undo"));
  reveal();
}

function otherRoot() {
  const index = focused(state);
  const { value, root } = labelAt(state, index);
  if (value !== -1) return;
  const earlier = earlierRoots(state, index).at(-1);
  const chosen = root === index ? earlier : index;
  if (chosen !== undefined) dispatch({ type: "root", key: index, root: chosen });
}

/** @param {Key} key @param {"unsure" | "flagged"} name */
function toggle(key, name) {
  dispatch({ type: "edit", key, change: { [name]: !labelAt(state, key)[name] } });
}

/** @param {Key} key */
function judgeOf(key) {
  return key === "outcome" ? view.outcome : view.steps.get(key)?.judge;
}

/** @param {Key} key @param {boolean} [shut] whether an open note may be shut */
function note(key, shut = false) {
  const judge = judgeOf(key);
  if (!judge) return;
  const open = judge.note.hidden || !shut;
  openNote(judge.note, judge.buttons.get("note"), open);
  if (open) judge.note.focus();
}

function expand() {
  const buttons = [...(view.steps.get(focused(state))?.article.querySelectorAll("[data-unfold]") ?? [])];
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

/** @param {number | "outcome"} lacking */
function goToMissing(lacking) {
  const box = part(document, "missing", HTMLElement);
  if (lacking === "outcome") {
    say(box, words("missing_outcome"));
    view.outcome.radios[0]?.focus();
    return;
  }
  const proposed = state.results[lacking]?.proposal;
  say(box, words(proposed ? "missing_confirm" : "missing_step", { n: lacking + 1 }));
  go(lacking);
}

async function submit() {
  if (!state.open || leaving) return;
  const lacking = missing(state);
  if (lacking !== null) {
    goToMissing(lacking);
    return;
  }
  await saver.save();
  const box = part(document, "missing", HTMLElement);
  if (saver.pending()) {
    say(box, words("wait"));
    return;
  }
  const answer = await post(page.urls.submit, {}, token);
  if (answer.ok) {
    leave();
    return;
  }
  const first = answer.data?.error?.details?.missing?.[0];
  const position = state.places.findIndex((place) => place.index === first);
  if (position >= 0) goToMissing(position);
  else say(box, answer.reached ? reasonOf(answer, String(answer.status)) : words("offline"));
}

function leave() {
  leaving = true;
  window.location.assign(page.urls.done);
}

/** @type {Record<KeyAction, () => unknown>} */
const ACTIONS = {
  plus: () => label(1),
  zero: () => label(0),
  minus: () => label(-1),
  confirm: () => confirm(),
  clear: () => dispatch({ type: "value", key: focused(state), value: null }),
  root: otherRoot,
  outcome_plus: () => dispatch({ type: "value", key: "outcome", value: 1 }),
  outcome_zero: () => dispatch({ type: "value", key: "outcome", value: 0 }),
  outcome_minus: () => dispatch({ type: "value", key: "outcome", value: -1 }),
  next: () => go(state.focus + 1),
  previous: () => go(state.focus - 1),
  next_unlabelled() {
    const position = nextUnlabelled(state, state.focus);
    if (position === null) announce(words("nothing_left"));
    else go(position);
  },
  unsure: () => toggle(focused(state), "unsure"),
  flag: () => toggle(focused(state), "flagged"),
  note: () => note(focused(state)),
  expand,
  undo: () => travel("undo"),
  redo: () => travel("redo"),
  guidelines: () => openDialog("guidelines"),
  submit,
  help: () => openDialog("help"),
};

// --- events ------------------------------------------------------------------------------------------------

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
const positionOf = (key) => state.places.findIndex((place) => place.index === key);

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  const where = placeOf(event.target);
  if (event.key === "Escape" && where === "field") {
    reveal();
    return;
  }
  const action = actionOf(event, where);
  if (action === null) return;
  event.preventDefault();
  if (event.repeat && action !== "next" && action !== "previous") return;
  ACTIONS[action]();
});

document.addEventListener("focusin", (event) => {
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
  const button = target?.closest("[data-do]");
  if (!(button instanceof HTMLElement)) return;
  if (button.dataset.do === "submit") void submit();
  if (key === null) return;
  if (button.dataset.do === "confirm") confirm(true);
  if (button.dataset.do === "clear") dispatch({ type: "value", key, value: null });
  if (button.dataset.do === "unsure") toggle(key, "unsure");
  if (button.dataset.do === "flag") toggle(key, "flagged");
  if (button.dataset.do === "note") note(key, true);
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
  if (key !== null && state.open) dispatch({ type: "edit", key, change: { note: field.value } });
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
  if (!leaving && saver.pending()) event.preventDefault();
});
window.addEventListener("pagehide", () => {
  if (!leaving) saver.farewell();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) keepOpenNote();
});
window.addEventListener("online", () => void saver.save());

const form = document.querySelector('[data-role="return-form"]');
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const reason = document.getElementById("return-reason");
  const problem = part(document, "return-problem", HTMLElement);
  if (!(reason instanceof HTMLTextAreaElement)) return;
  await saver.save();
  const answer = await post(page.urls.return, { reason: reason.value }, token);
  if (answer.ok) leave();
  else say(problem, answer.reached ? reasonOf(answer, String(answer.status)) : words("offline"));
});

// --- beginning -----------------------------------------------------------------------------------------------

function drawHelp() {
  const groups = /** @type {const} */ (["label", "move", "mark", "rest"]);
  part(document, "keys", HTMLElement).replaceChildren(
    ...groups.map((group) =>
      make(
        "section",
        { class: "keys__group" },
        make("h3", {}, words(`group_${group}`)),
        make(
          "dl",
          {},
          ...BINDINGS.filter((binding) => binding.group === group).flatMap(({ id }) => [
            make("dt", {}, ...capsOf(id)),
            make("dd", {}, words(`key_${id}`)),
          ]),
        ),
      ),
    ),
  );
}

/** @param {KeyAction} id */
function capsOf(id) {
  return caps(id).flatMap((together, i) => [
    ...(i ? [" "] : []),
    make("span", { class: "keys__press" }, ...together.map((cap) => make("kbd", {}, cap))),
  ]);
}

drawHelp();
for (const [selector, id] of /** @type {const} */ ([
  ['[data-do="submit"]', "submit"],
  ['[data-dialog="help"]', "help"],
  ['[data-dialog="guidelines"]', "guidelines"],
])) {
  document.querySelector(selector)?.setAttribute("aria-keyshortcuts", shortcut(id));
}
lookAgain = watch({
  elements: new Map([...view.steps].map(([index, { article }]) => [index, article])),
  wanted: (index) =>
    !state.seen.has(index) && state.results.some((step) => step.message_index === index && step.proposal !== null),
  seen: (index) => dispatch({ type: "seen", index }),
  covered: () => (bar instanceof HTMLElement ? bar.getBoundingClientRect().bottom : 0),
});
show();
if (state.focus > 0) view.steps.get(focused(state))?.article.scrollIntoView({ block: "start" });
if (window.matchMedia("(max-width: 60rem)").matches) {
  for (const panel of document.querySelectorAll("details[data-wide-open]")) panel.removeAttribute("open");
}
if (state.open) void saver.save();
document.documentElement.dataset.workbench = "ready";
