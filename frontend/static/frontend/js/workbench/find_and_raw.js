// @ts-check
/**
 * Reading on the workbench: the search within the trajectory, the user's last message pinned above the focused
 * step, and the search among the tools.
 */

import { byRole, makeWords, setText } from "../lib/dom.js";
import { following, matches, MOST } from "../lib/search.js";
import { toggleRaw, uncover } from "../pages/transcript.js";

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

/** @type {Range[]} */
let finds = [];
let at = -1;

const rail = byRole(document, "rail", HTMLElement);

/** The rail is short; to look through the whole run takes longer than a key may. */
function focusedStep() {
  const link = rail.querySelector("[aria-current]");
  return link instanceof HTMLElement ? document.getElementById(`m${link.dataset.goto}`) : null;
}

/** @param {string} query */
function collect(query) {
  finds = [];
  if (!query.trim()) return;
  for (const root of run?.querySelectorAll(".text, .md, .call__name, .call__arguments dt") ?? []) {
    if (root.parentElement?.closest(".text, .md") || root.closest("[hidden]")) continue;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const [start, end] of matches(node.nodeValue ?? "", query, MOST - finds.length)) {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        finds.push(range);
      }
    }
    if (finds.length >= MOST) return;
  }
}

function paint() {
  if (!("highlights" in CSS)) return;
  CSS.highlights.set("find", new Highlight(...finds));
  const here = finds[at];
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
function goTo(number) {
  at = number;
  const range = finds[number];
  if (range) {
    uncover(range.startContainer);
    const element = range.startContainer.parentElement;
    const inWindow = () => {
      const { top, bottom } = range.getBoundingClientRect();
      return top >= coveredTop() && bottom <= window.innerHeight - 80;
    };
    if (!inWindow()) element?.scrollIntoView({ block: "center" });
    if (!inWindow()) window.scrollBy(0, range.getBoundingClientRect().top - window.innerHeight / 2);
    if (!("highlights" in CSS)) {
      window.getSelection()?.removeAllRanges();
      window.getSelection()?.addRange(range);
    }
  }
  paint();
  tellCount();
}

function look() {
  collect(field.value);
  const from = focusedStep();
  const here = finds.findIndex(
    (range) => !from || from.compareDocumentPosition(range.startContainer) !== Node.DOCUMENT_POSITION_PRECEDING,
  );
  goTo(finds.length ? Math.max(here, 0) : -1);
}

export function openFind() {
  box.hidden = false;
  field.focus();
  field.select();
  if (field.value) look();
}

function closeFind() {
  const step = finds[at]?.startContainer.parentElement?.closest("[data-step]") ?? focusedStep();
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
    goTo(following(finds.length, at, event.shiftKey ? -1 : 1));
  } else return;
  event.stopPropagation();
});
box.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-find]") : null;
  if (!(button instanceof HTMLElement)) return;
  if (button.dataset.find === "close") closeFind();
  else goTo(following(finds.length, at, button.dataset.find === "next" ? 1 : -1));
});

/** The focused step and its results as they came, or laid out again. */
export function rawOfFocused() {
  const step = focusedStep();
  if (!(step instanceof HTMLElement)) return;
  const results = [...step.querySelectorAll("[data-message]")];
  toggleRaw([step, ...results].map((one) => (one instanceof HTMLElement ? (one.dataset.message ?? "") : "")));
}

// --- the user's last message ----------------------------------------------------------------------------

/** @type {Element | null} */
let pinned = null;
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting, boundingClientRect, rootBounds } of entries) {
      if (target === pinned) pin.hidden = isIntersecting || boundingClientRect.top > (rootBounds?.top ?? 0);
    }
  },
  { rootMargin: `-${Math.ceil(bar?.getBoundingClientRect().height ?? 0)}px 0px 0px 0px` },
);

function pinUser() {
  let message = focusedStep()?.previousElementSibling ?? null;
  while (message && !message.classList.contains("msg--user")) message = message.previousElementSibling;
  if (message === pinned) return;
  if (pinned) watcher.unobserve(pinned);
  pinned = message;
  pin.hidden = true;
  if (!message) return;
  const texts = [...message.querySelectorAll(":scope > .msg__body > .text")].map((text) => text.textContent);
  const calls = [...message.querySelectorAll(".call__name")].map((name) => `${name.textContent}()`);
  pinText.textContent = texts.concat(calls).join("\n").trim();
  pinGo.href = `#${message.id}`;
  pinGo.textContent = message.querySelector(".msg__index")?.textContent ?? "";
  expandPin(false);
  watcher.observe(message);
}

/** @param {boolean} open */
function expandPin(open) {
  pinOpen.setAttribute("aria-expanded", String(open));
  pin.classList.toggle("is-open", open);
}

pinOpen.addEventListener("click", () => expandPin(pinOpen.getAttribute("aria-expanded") !== "true"));
new MutationObserver(pinUser).observe(rail, { subtree: true, attributeFilter: ["aria-current"] });

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
