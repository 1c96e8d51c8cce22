// @ts-check
/**
 * The desk everything stands on: the one state of the page, what changes it, and what is drawn and saved then.
 */

import { measure } from "./activity.js";
import { newOpId, post } from "../lib/api.js";
import { drawClosingReason } from "./closing_reason.js";
import { byRole, setText } from "../lib/dom.js";
import { makeKeys } from "./keys.js";
import { makeLocalBackup } from "./local_backup.js";
import { takeAnswer } from "./sync.js";
import { coveredTop } from "./find_and_raw.js";
import { makeSaver } from "./saver.js";
import { watch } from "./visibility.js";
import { focused } from "./selectors.js";
import { initialState, reduce } from "./reducer.js";
import { drawMobileBar, followTouch, visibleBottom } from "./mobile_bar.js";
import { holdOn, ifGone, joinTabs } from "./tabs.js";
import { makeView } from "./view.js";

/** @typedef {import("./reducer.js").State} State */

export const page = JSON.parse(document.getElementById("workbench-state")?.textContent ?? "{}");

let state = initialState(page);
/** @returns {State} */
export const current = () => state;

export const keys = makeKeys(page.keys);
export const view = makeView(page, keys);
export const { words } = view;
const live = byRole(document, "live", HTMLElement);
const banner = byRole(document, "banner", HTMLElement);
const elsewhere = byRole(document, "elsewhere", HTMLElement);
const saveBadge = byRole(document, "save", HTMLElement);
/** Whether the browser keeps what is not saved yet. */
let kept = true;
/** A save that takes longer is told, in ms. */
const SLOW_SAVE = 300;
/** @type {() => void} */
let lookAgain = () => {};

/** @param {State} next */
function set(next) {
  if (next === state) return;
  state = next;
  show();
}

const id = newOpId();
const outbox = makeLocalBackup({ storage: ownStorage(), user: page.user, assignment: page.assignment, id });
const tabs = joinTabs({
  id,
  name: `tristep:${page.user}:${page.assignment}`,
  count: (others) => setText(elsewhere, others && state.open ? words("elsewhere_open") : ""),
  saved: (answer) => set(takeAnswer(state, null, answer)),
  closed: () => saver.stop(),
});

export const saver = makeSaver({
  get: () => state,
  set,
  tell,
  keep: (waiting) => (kept = outbox.write(waiting)),
  spread: (answer) => tabs.tell({ type: "saved", answer }),
  urls: page.urls,
});

/** Other windows with this trajectory learn that it is not open any more. */
export const tellClosed = () => tabs.tell({ type: "closed" });

/** Storage may be refused altogether. */
function ownStorage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

/** Take up what pages that are gone have left behind, and look again from time to time. */
export async function rescue() {
  if (!state.open) return;
  for (const name of outbox.others()) {
    await ifGone(name, () => tabs.knows(name.split(":").at(-1) ?? ""), () => {
      const kept = outbox.read(name);
      if (kept) saver.restore(kept);
      outbox.remove(name);
    });
  }
}
holdOn(outbox.own);
setInterval(() => void rescue(), 5000);

export function show() {
  view.draw(state);
  drawClosingReason(state, view);
  drawMobileBar(state);
  lookAgain();
}

/**
 * @param {import("./reducer.js").Action[]} actions   drawn at once
 * @returns {boolean} whether they changed anything
 */
export function dispatch(...actions) {
  const next = actions.reduce(reduce, state);
  if (next === state) return false;
  state = next;
  show();
  if (state.dirty.size || state.marksDirty) void saver.changed();
  return true;
}

/**
 * @param {import("./saver.js").Status} status
 * @param {string} reason
 */
function tell(status, reason) {
  setStatus(status);
  const calm = status === "saved" || status === "saving" || status === "conflict";
  const net = kept || status === "closed" ? "" : ` ${words("unkept")}`;
  const trouble = calm ? "" : words(status, { reason }) + net;
  if (status !== "saving") setText(banner, trouble);
  if (status === "closed") dispatch({ type: "close" });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let slow;

/**
 * Most saves take a few milliseconds: to say so each time would be noise. One that takes longer is told.
 * @param {import("./saver.js").Status} status
 */
function setStatus(status) {
  const calm = status === "saved" || status === "conflict";
  clearTimeout(slow);
  saveBadge.dataset.status = status;
  if (status === "saving") slow = setTimeout(() => setText(saveBadge, words("saving")), SLOW_SAVE);
  else setText(saveBadge, words(calm ? status : "unsaved"));
}

const time = byRole(document, "time", HTMLElement);
let activeMs = page.active_ms;
const tellTime = () => setText(time, words("time", { n: Math.round(activeMs / 60_000) }));
tellTime();

/** Report the time at work until now. It is measured while the trajectory is open. */
export const reportTime = page.open
  ? measure(async (ms, last) => {
      const answer = await post(page.urls.activity, { active_ms: ms }, { last });
      if (!answer.ok) return answer.reached;
      activeMs += ms;
      tellTime();
      return true;
    })
  : async () => {};

/** @param {string} text */
export function announce(text) {
  live.textContent = text;
}

/** Bring the focused step into view and give it the keyboard. */
export function reveal() {
  const article = view.steps.get(focused(state))?.article;
  if (!article) return;
  const box = article.getBoundingClientRect();
  if (box.top < coveredTop() || box.bottom > visibleBottom()) article.scrollIntoView({ block: "start" });
  // after the sizes were read: focusing changes styles, and reading would lay the page out again
  article.focus({ preventScroll: true });
}

/** @param {number} position */
export function go(position) {
  dispatch({ type: "focus", position });
  reveal();
}

/** Watch which proposals come on screen, from now on. */
export function watchProposals() {
  lookAgain = watch({
    elements: new Map([...view.steps].map(([index, { article }]) => [index, article])),
    wanted: (index) =>
      !state.seen.has(index) &&
      view.isDrawn(index) &&
      state.results.some((step) => step.message_index === index && step.proposal !== null),
    seen: (index) => dispatch({ type: "seen", index }),
    coveredTop,
    visibleBottom,
  });
  followTouch({
    current,
    step: (index) => view.steps.get(index)?.article,
    take: (position) => dispatch({ type: "focus", position }),
    coveredTop,
    show,
  });
}
