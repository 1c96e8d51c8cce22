// @ts-check
/**
 * Reading on the workbench: the search within the trajectory, the user's last message pinned above the focused
 * step, and the search among the tools.
 */

import { get } from "../lib/api.js";
import { byRole, makeWords, setText } from "../lib/dom.js";
import { inParts, messageHere, reach, settleOn, userBefore, whenPartsChange } from "../lib/run_parts.js";
import { findsIn } from "../lib/finds.js";
import { following, matches, MOST } from "../lib/search.js";
import { textOf, toggleRaw, uncover } from "../pages/transcript.js";

const run = document.querySelector(".run");
const bar = document.querySelector(".bar");
const box = byRole(document, "find", HTMLFormElement);
const field = byRole(document, "find-text", HTMLInputElement);
const count = byRole(document, "find-count", HTMLElement);
const banner = byRole(document, "banner", HTMLElement);
const pin = byRole(document, "pin", HTMLElement);
const pinOpen = byRole(document, "pin-open", HTMLButtonElement);
const pinText = byRole(document, "pin-text", HTMLElement);
const pinGo = byRole(document, "pin-go", HTMLAnchorElement);

/** The height in pixels of the window's top that is always covered. */
export function coveredTop() {
  const lowest = [bar, box, banner, pin].map((one) =>
    one instanceof HTMLElement && !one.hidden ? one.getBoundingClientRect().bottom : 0,
  );
  return Math.max(...lowest);
}

// --- search ---------------------------------------------------------------------------------------------

/** @typedef {import("../lib/finds.js").Find} Find */

/** @type {Find[]} */
let finds = [];
let at = -1;
let turns = 0;
/** @type {readonly [number, number][]} of a run in parts: the messages in which it stands, each with how often */
let elsewhere = [];

const rail = byRole(document, "rail", HTMLElement);

/** The rail is short; to look through the whole run takes longer than a key may. */
function focusedStep() {
  const link = rail.querySelector("[aria-current]");
  return link instanceof HTMLElement ? document.getElementById(`m${link.dataset.goto}`) : null;
}

/** What is on the page, and in their places the finds in messages that are not. */
function collect() {
  const here = findsIn(run, field.value);
  const away = elsewhere
    .filter(([message]) => !messageHere(message))
    .flatMap(([message, count]) => Array.from({ length: count }, (_, nth) => ({ message, nth, range: null })));
  finds = [...here, ...away].sort((a, b) => a.message - b.message || a.nth - b.nth).slice(0, MOST);
}

function paint() {
  if (!("highlights" in CSS)) return;
  CSS.highlights.set("find", new Highlight(...finds.flatMap(({ range }) => range ?? [])));
  const here = finds[at]?.range;
  const current = here ? new Highlight(here) : new Highlight();
  current.priority = 1;
  CSS.highlights.set("find-current", current);
}

function tellCount() {
  const speak = makeWords(/** @type {Record<string, string>} */ ({ ...count.dataset }));
  const all = finds.length >= MOST ? `${MOST}+` : finds.length;
  setText(count, !field.value.trim() ? "" : finds.length ? speak("some", { n: at + 1, all }) : speak("none"));
}

/** Bring a find on screen, and open what hides it. @param {number} number */
async function goTo(number) {
  at = number;
  const turn = (turns += 1);
  const wanted = finds[number];
  const fetched = wanted && !wanted.range ? await reach(wanted.message) : null;
  if (turn !== turns) return; // gone on meanwhile
  const range = finds[at]?.range;
  if (range) {
    uncover(range.startContainer);
    const element = range.startContainer.parentElement;
    const inWindow = () => {
      const { top, bottom } = range.getBoundingClientRect();
      return top >= coveredTop() && bottom <= window.innerHeight - 80;
    };
    if (fetched && element) settleOn(element, "center");
    else if (!inWindow()) element?.scrollIntoView({ block: "center" });
    if (!inWindow()) window.scrollBy(0, range.getBoundingClientRect().top - window.innerHeight / 2);
    if (!("highlights" in CSS)) {
      window.getSelection()?.removeAllRanges();
      window.getSelection()?.addRange(range);
    }
  }
  paint();
  tellCount();
}

async function look() {
  const query = field.value;
  const answer = inParts && query.trim() ? await get(`?find=${encodeURIComponent(query)}`) : null;
  if (query !== field.value || box.hidden) return;
  elsewhere = answer?.data?.found ?? [];
  collect();
  const from = Number(focusedStep()?.dataset.message ?? 0);
  await goTo(
    finds.length
      ? Math.max(
          finds.findIndex(({ message }) => message >= from),
          0,
        )
      : -1,
  );
}

whenPartsChange(() => {
  if (!finds.length) return;
  const was = finds[at];
  collect();
  const same = finds.findIndex(({ message, nth }) => message === was?.message && nth === was.nth);
  at = Math.min(
    Math.max(
      same,
      finds.findIndex(({ message }) => message === was?.message),
    ),
    finds.length - 1,
  );
  paint();
  tellCount();
});

export function openFind() {
  box.hidden = false;
  field.focus();
  field.select();
  if (field.value) void look();
}

function closeFind() {
  const step = finds[at]?.range?.startContainer.parentElement?.closest("[data-step]") ?? focusedStep();
  box.hidden = true;
  finds = [];
  at = -1;
  paint();
  if (step instanceof HTMLElement) step.focus({ preventScroll: true });
}

document.querySelector('[data-role="find-open"]')?.addEventListener("click", openFind);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
field.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(look, 120);
});
box.addEventListener("submit", (event) => event.preventDefault());
box.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    event.preventDefault();
    closeFind();
  } else if (event.key === "Enter" && event.target === field && !event.isComposing) {
    event.preventDefault();
    void goTo(following(finds.length, at, event.shiftKey ? -1 : 1));
  } else return;
  event.stopPropagation();
});
box.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-find]") : null;
  if (!(button instanceof HTMLElement)) return;
  if (button.dataset.find === "close") closeFind();
  else void goTo(following(finds.length, at, button.dataset.find === "next" ? 1 : -1));
});

/** The focused step and its results as they came, or laid out again. */
export function rawOfFocused() {
  const step = focusedStep();
  if (!(step instanceof HTMLElement)) return;
  const results = [...step.querySelectorAll("[data-message]")];
  toggleRaw([step, ...results].map((one) => (one instanceof HTMLElement ? (one.dataset.message ?? "") : "")));
}

// --- the user's last message ----------------------------------------------------------------------------

/** @type {Element | number | null} the message, or which it is, when it is not on the page */
let pinned = null;
/** All that the message says. */
let whole = "";
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting, boundingClientRect, rootBounds } of entries) {
      if (target === pinned) pin.hidden = isIntersecting || boundingClientRect.top > (rootBounds?.top ?? 0);
    }
  },
  { rootMargin: `-${Math.ceil(bar?.getBoundingClientRect().height ?? 0)}px 0px 0px 0px` },
);

/** The user's last message before the focused step, or which it is, when it is not on the page. */
function lastOfUser() {
  /** @type {Element | null} */
  let place = null;
  for (let at = focusedStep()?.previousElementSibling ?? null; at; at = at.previousElementSibling) {
    if (at.classList.contains("msg--user")) return at;
    if (!at.classList.contains("run__gap")) continue;
    if (place && at instanceof HTMLElement && !at.hidden) return userBefore(place);
    place = at;
  }
  return null;
}

function pinUser() {
  const message = lastOfUser();
  if (message === pinned) return;
  if (pinned instanceof Element) watcher.unobserve(pinned);
  pinned = message;
  pin.hidden = true;
  whole = "";
  expandPin(false);
  if (message === null) return;
  if (typeof message === "number") {
    pinGo.href = `#m${message}`;
    pinGo.textContent = `#${message}`;
    void textOf(message).then((text) => {
      if (pinned !== message) return;
      whole = text.trim();
      expandPin(false);
      pin.hidden = false;
    });
    return;
  }
  const texts = [...message.querySelectorAll(":scope > .msg__body > .text")].map((text) => text.textContent);
  const calls = [...message.querySelectorAll(".call__name")].map((name) => `${name.textContent}()`);
  whole = texts.concat(calls).join("\n").trim();
  expandPin(false);
  pinGo.href = `#${message.id}`;
  pinGo.textContent = message.querySelector(".msg__index")?.textContent ?? "";
  watcher.observe(message);
}

/**
 * Open, it says all; in one line it begins where the question does, after what all records say.
 * @param {boolean} open
 */
function expandPin(open) {
  const start = open || !pin.dataset.question ? 0 : whole.indexOf(pin.dataset.question);
  pinText.textContent = start > 0 ? `… ${whole.slice(start)}` : whole;
  pinOpen.setAttribute("aria-expanded", String(open));
  pin.classList.toggle("is-open", open);
}

pinOpen.addEventListener("click", () => expandPin(pinOpen.getAttribute("aria-expanded") !== "true"));
new MutationObserver(pinUser).observe(rail, { subtree: true, attributeFilter: ["aria-current"] });
whenPartsChange(pinUser);

// --- tools ----------------------------------------------------------------------------------------------

const tools = document.querySelector('[data-role="tools"]');
const toolField = tools?.querySelector('[data-role="tools-find"]');
const nothing = tools?.querySelector('[data-role="tools-none"]');
toolField?.addEventListener("input", () => {
  if (!(toolField instanceof HTMLInputElement)) return;
  let some = false;
  for (const tool of tools?.querySelectorAll(".tool") ?? []) {
    if (!(tool instanceof HTMLElement)) continue;
    tool.hidden = Boolean(toolField.value.trim()) && !matches(tool.textContent ?? "", toolField.value, 1).length;
    some ||= !tool.hidden;
  }
  if (nothing instanceof HTMLElement) nothing.hidden = some;
});
