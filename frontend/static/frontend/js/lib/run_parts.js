// @ts-check
/**
 * A long run is on the page in parts: the one in sight is there, the others are a link each. A part is fetched when its
 * place comes in sight, or when somebody goes to one of its messages; one that is far away, and in which nobody works,
 * makes room. The place of a part that is not there is as high as the part was, or about as high as it will be.
 */

import { getDocument } from "./api.js";

/** How many windows away a part may be to be fetched, and to stay. */
const FETCH_WITHIN = 10;
const KEEP_WITHIN = 20;
/** How long after a part could not be had it is asked for again, in ms. */
const PAUSE = 5000;
/** How long a part stays at least, in ms: who has asked for it is about to go there. */
const STAY = 3000;
/** How long messages that were fetched take to get their height, in ms. */
const SETTLING = 1500;

/**
 * @typedef {object} Part
 * @property {HTMLElement} gap          its place, hidden while the part is there
 * @property {HTMLElement | null} rail  its place in the list of steps
 * @property {number} from              its first message
 * @property {number} last
 * @property {number | null} user       the user's last message before it
 * @property {HTMLElement[]} nodes      its messages, none while it is not there
 * @property {HTMLElement[]} links      its steps in the list
 * @property {Promise<void> | null} coming
 * @property {number} came              when it came to the page
 * @property {number} failed            when it could not be had
 * @property {number} height            how high it was; 0: never seen
 */

const run = document.querySelector(".run");
/** @type {Part[]} in the order of the run; none when all of it is on the page */
const parts = childrenOf(run, ".run__gap").map((gap) => {
  const rail = document.querySelector(`.rail > .rail__gap[data-from="${gap.dataset.from}"]`);
  return {
    gap,
    rail: rail instanceof HTMLElement ? rail : null,
    from: Number(gap.dataset.from),
    last: Number(gap.dataset.last),
    user: gap.dataset.user ? Number(gap.dataset.user) : null,
    nodes: gap.hidden ? following(gap, "[data-message]") : [],
    links: gap.hidden && rail ? following(rail, ":not(.rail__gap, .rail__outcome)") : [],
    coming: null,
    came: 0,
    failed: -PAUSE,
    height: 0,
  };
});

/** @type {((added: readonly HTMLElement[], removed: readonly HTMLElement[]) => void)[]} */
const listeners = [];
/** @type {((message: HTMLElement) => boolean)[]} */
const rules = [(message) => message.contains(document.activeElement)];

/** Whether the run is in parts. */
export const inParts = parts.length > 0;

/** Be told when messages came to the page or left it. @param {(typeof listeners)[number]} listener */
export const whenPartsChange = (listener) => void listeners.push(listener);

/** A message for which the rule holds stays, and the part it is in. @param {(typeof rules)[number]} rule */
export const keepPartsWith = (rule) => void rules.push(rule);

/** @param {number} index @returns {HTMLElement | null} a message, if it is on the page */
export const messageHere = (index) => document.getElementById(`m${index}`);

/** The user's last message before the part whose place this is. @param {Element} gap @returns {number | null} */
export const userBefore = (gap) => parts.find((part) => part.gap === gap)?.user ?? null;

/**
 * A message of the run, fetched when it is not on the page.
 * @param {number} index
 * @returns {Promise<HTMLElement | null>} null when it could not be had
 */
export async function reach(index) {
  const here = messageHere(index);
  if (here) return here;
  const part = parts.find(({ from, last }) => from <= index && index <= last);
  if (part) await fetched(part);
  return messageHere(index);
}

/**
 * Bring something into the window, and hold it there while what was fetched around it gets its real height; until
 * somebody does something.
 * @param {Element} element
 * @param {ScrollLogicalPosition} [block]   where in the window
 */
export function settleOn(element, block = "start") {
  element.scrollIntoView({ block });
  const top = element.getBoundingClientRect().top;
  const until = performance.now() + SETTLING;
  const left = new AbortController();
  for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) {
    document.addEventListener(kind, () => left.abort(), { capture: true, passive: true, signal: left.signal });
  }
  let scrolled = window.scrollY;
  const hold = () => {
    const moved = Math.abs(element.getBoundingClientRect().top - top) > 1;
    if (moved && Math.abs(window.scrollY - scrolled) > 1) left.abort(); // somebody else has scrolled
    if (left.signal.aborted) return;
    if (moved) window.scrollBy({ top: element.getBoundingClientRect().top - top, behavior: "instant" });
    scrolled = window.scrollY;
    if (performance.now() < until && element.isConnected) requestAnimationFrame(hold);
    else left.abort();
  };
  requestAnimationFrame(hold);
}

/** @param {Element | null} parent @param {string} selector */
function childrenOf(parent, selector) {
  return [...(parent?.children ?? [])]
    .filter((one) => one instanceof HTMLElement)
    .filter((one) => one.matches(selector));
}

/** What directly follows an element, as long as it matches. @param {Element} element @param {string} selector */
function following(element, selector) {
  /** @type {HTMLElement[]} */
  const found = [];
  let next = element.nextElementSibling;
  while (next instanceof HTMLElement && next.matches(selector)) {
    found.push(next);
    next = next.nextElementSibling;
  }
  return found;
}

/** @param {Part} part */
function fetched(part) {
  if (part.nodes.length) return Promise.resolve();
  part.coming ??= bring(part).finally(() => {
    part.coming = null;
  });
  return part.coming;
}

/** @param {Part} part */
async function bring(part) {
  part.gap.classList.add("is-coming");
  const answer = await getDocument(`${window.location.pathname}?at=${part.from}&only=run`);
  part.gap.classList.remove("is-coming");
  const found = answer?.querySelector(`[data-part="${part.from}"]`);
  if (!found) {
    part.failed = performance.now();
    return;
  }
  const nodes = childrenOf(found, "[data-message]").map((node) => document.adoptNode(node));
  const links = childrenOf(answer?.querySelector(".rail") ?? null, "li").map((node) => document.adoptNode(node));
  held(() => {
    part.nodes = nodes;
    part.links = links;
    part.came = performance.now();
    part.gap.after(...nodes);
    part.rail?.after(...links);
    part.gap.hidden = true;
    if (part.rail) part.rail.hidden = true;
    for (const tell of listeners) tell(nodes, []);
  });
  estimate();
  look();
  setTimeout(ask, STAY); // others may have to make room by then
}

/** @param {Part} part */
function drop(part) {
  const { nodes, links } = part;
  part.height = heightOf(part);
  held(() => {
    part.nodes = [];
    part.links = [];
    for (const node of [...nodes, ...links]) node.remove();
    part.gap.style.blockSize = `${part.height}px`;
    part.gap.hidden = false;
    if (part.rail) part.rail.hidden = links.length === 0;
    for (const tell of listeners) tell([], nodes);
  });
}

/** Change the run, and hold in its place what is in the window: not every browser does. @param {() => void} change */
function held(change) {
  const fixed = parts.flatMap(({ nodes }) => nodes).find((node) => node.getBoundingClientRect().bottom > 0);
  const top = fixed?.getBoundingClientRect().top ?? 0;
  const inWindow = fixed && top < window.innerHeight;
  change();
  if (inWindow && fixed.isConnected)
    window.scrollBy({ top: fixed.getBoundingClientRect().top - top, behavior: "instant" });
}

/** @param {Part} part */
function heightOf({ nodes: [first, ...rest] }) {
  if (!first) return 0;
  return (rest.at(-1) ?? first).getBoundingClientRect().bottom - first.getBoundingClientRect().top;
}

/** Give the places of parts that were never seen about the height that they will have. */
function estimate() {
  const here = parts.filter(({ nodes }) => nodes.length);
  const messages = here.reduce((sum, { from, last }) => sum + last - from + 1, 0);
  const each = here.reduce((sum, part) => sum + heightOf(part), 0) / Math.max(messages, 1);
  for (const { gap, from, last, nodes, height } of parts) {
    if (!nodes.length && !height) gap.style.blockSize = `${Math.round(each * (last - from + 1))}px`;
  }
}

/** How far a part or its place is from the window, in pixels; 0: it is in it. @param {Part} part */
function distance({ gap, nodes }) {
  const [first, last] = nodes.length ? [nodes[0], nodes.at(-1)] : [gap, gap];
  const top = first?.getBoundingClientRect().top ?? 0;
  const bottom = last?.getBoundingClientRect().bottom ?? 0;
  return Math.max(0, top - window.innerHeight, -bottom);
}

let asked = false;

/** Fetch what has come near, and let go of what is far. */
function look() {
  asked = false;
  const now = performance.now();
  for (const part of parts) {
    if (!part.nodes.length || now - part.came < STAY) continue;
    const far = distance(part) > KEEP_WITHIN * window.innerHeight;
    if (far && !part.nodes.some((node) => rules.some((rule) => rule(node)))) drop(part);
  }
  if (parts.some(({ coming }) => coming)) return;
  const near = parts
    .filter(({ nodes, failed }) => !nodes.length && now - failed >= PAUSE)
    .map((part) => /** @type {const} */ ([distance(part), part]))
    .filter(([away]) => away <= FETCH_WITHIN * window.innerHeight)
    .sort(([a], [b]) => a - b);
  const [next] = near;
  if (next) void fetched(next[1]);
}

function ask() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(look);
}

/** The message that an address on this page leads to. @param {{pathname: string, hash: string}} address */
function messageIn({ pathname, hash }) {
  const index = /^#m(\d+)$/.exec(hash)?.[1];
  return index !== undefined && pathname === window.location.pathname ? Number(index) : null;
}

/** @param {number} index */
async function show(index) {
  const message = await reach(index);
  if (!message) return;
  settleOn(message);
  message.focus({ preventScroll: true }); // as the browser does for a message that is there already
}

function followHash() {
  const index = messageIn(window.location);
  if (index !== null && !messageHere(index)) void show(index);
}

if (inParts) {
  estimate();
  window.addEventListener("scroll", ask, { passive: true });
  window.addEventListener("resize", ask, { passive: true });
  window.addEventListener("hashchange", followHash);
  // after every other listener: a page may know better what to do with a link
  window.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const index = link && messageIn(link);
    if (index === null || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (messageHere(index) && link?.search === window.location.search) return;
    event.preventDefault();
    void show(index);
  });
  followHash();
  ask();
}
