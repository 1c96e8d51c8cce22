// @ts-check
/**
 * Reading a trajectory, on every page that shows one: long texts open in place; any message can be copied, seen
 * as it came, or as Markdown. Everything is written as text nodes.
 */

import { get } from "../lib/api.js";
import { el, makeWords, setText } from "../lib/dom.js";
import { markAsked } from "../lib/finds.js";
import { whenPartsChange } from "../lib/run_parts.js";
import "../lib/run_strip.js";

/** @typedef {string | TreeElement} TreeNode */
/** @typedef {[string, ...(string | TreeElement)[]]} TreeElement  a tag and what stands in it */
/** @typedef {{json: string, exact: boolean, withheld: boolean, text: string}} Source */

const TAGS = new Set("p br hr ul ol li blockquote pre code em strong span table thead tbody tr th td".split(" "));

/** @param {Element} text @param {boolean} open */
export function unfold(text, open) {
  const button = text.nextElementSibling;
  if (!(button instanceof HTMLElement) || !button.matches("[data-unfold]")) return;
  text.classList.toggle("text--folded", !open);
  text.scrollTop = 0;
  button.setAttribute("aria-expanded", String(open));
  for (const words of button.querySelectorAll("[data-when]")) {
    if (words instanceof HTMLElement) words.hidden = (words.dataset.when === "open") !== open;
  }
}

/** Open everything that hides a node. @param {Node} node */
export function uncover(node) {
  for (let at = node.parentElement; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
    if (at.classList.contains("text--folded")) unfold(at, true);
  }
}

// The browser's own search scrolls what it finds inside a folded text into view: then it may as well be open.
document.addEventListener(
  "scroll",
  ({ target }) => {
    const folded = target instanceof Element ? target.closest(".text--folded") : null;
    if (folded && target instanceof Element && target.scrollTop > 0) {
      target.scrollTop = 0;
      unfold(folded, true);
    }
  },
  { capture: true, passive: true },
);

const menu = document.getElementById("message-menu");
const words = makeWords(/** @type {Record<string, string>} */ ({ ...menu?.dataset }));
let chosen = "";

/** @param {string} text */
function showToast(text) {
  const box = document.querySelector('[data-role="transcript-said"]');
  if (!(box instanceof HTMLElement)) return;
  setText(box, text);
  setTimeout(() => box.textContent === text && setText(box, ""), 4000);
}

/** The longest time for a message, in ms: some are large. */
const TIMEOUT = 60_000;

/** @type {Map<string, Promise<any>>} */
const fetched = new Map();

/** @param {string} index @param {string} query @returns {Promise<any>} null when it could not be had */
function load(index, query = "") {
  const url = `${menu?.dataset.url?.replace(/0\/$/, "")}${index}/${query}`;
  const answer = fetched.get(url) ?? get(url, { timeout: TIMEOUT }).then(({ ok, data }) => (ok ? data : null));
  fetched.set(url, answer);
  void answer.then((data) => {
    if (data) return;
    fetched.delete(url);
    showToast(words("failed"));
  });
  return answer;
}

/** The text of a message that need not be on the page. @param {number} index @returns {Promise<string>} */
export const textOf = async (index) => (await load(String(index)))?.text ?? "";

/** @param {string} index @returns {HTMLElement | null} where the contents of a message stand */
function bodyOf(index) {
  const message = document.querySelector(`[data-message="${index}"]`);
  const body = message?.classList.contains("result")
    ? message
    : message?.querySelector(":scope > .msg__body, :scope > .panel__body");
  if (message instanceof HTMLDetailsElement) message.open = true;
  return body instanceof HTMLElement ? body : null;
}

/** @param {HTMLElement} body @param {"raw" | "markdown"} kind */
const panelIn = (body, kind) => body.querySelector(`:scope > .source[data-source="${kind}"]`);

/** @param {HTMLElement} body @param {"raw" | "markdown"} kind */
function shut(body, kind) {
  panelIn(body, kind)?.remove();
  if (kind === "markdown") body.classList.remove("is-markdown");
}

/**
 * @param {HTMLElement} body
 * @param {"raw" | "markdown"} kind
 * @param {...Node} contents
 */
function panel(body, kind, ...contents) {
  shut(body, kind);
  const close = el("button", { type: "button", class: "link-button source__close" }, words("close"));
  close.addEventListener("click", () => shut(body, kind));
  const section = el("div", { class: "source", "data-source": kind }, close, ...contents);
  const head = body.querySelector(":scope > .result__head, :scope > .msg__more");
  if (head) head.after(section);
  else body.prepend(section);
}

/** @param {string} title @param {string} text */
const exactly = (title, text) => [
  el("p", { class: "source__title" }, title),
  el("div", { class: "text text--code source__text", role: "group", tabindex: "0", "aria-label": title }, text),
];

/** @param {string} index */
async function openRaw(index) {
  const body = bodyOf(index);
  /** @type {Source | null} */
  const source = await load(index);
  if (!body || !source || panelIn(body, "raw")) return;
  const title = words(source.exact ? "exact" : source.withheld ? "withheld" : "rewritten", { n: index });
  const content = body.classList.contains("result") && source.text ? exactly(words("content"), source.text) : [];
  panel(body, "raw", ...content, ...exactly(title, source.json));
}

/** Show messages as they came, or, when all of them are shown so, no more. @param {readonly string[]} indexes */
export function toggleRaw(indexes) {
  const bodies = indexes.flatMap((index) => bodyOf(index) ?? []);
  if (bodies.every((body) => panelIn(body, "raw"))) bodies.forEach((body) => shut(body, "raw"));
  else for (const index of indexes) void openRaw(index);
}

/** @param {TreeNode} node @returns {Node} */
function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, ...inside] = node;
  const children = inside.map(build);
  if (/^h[1-6]$/.test(tag)) return el("p", { class: "md__heading" }, ...children);
  return el(/** @type {"p"} */ (TAGS.has(tag) ? tag : "span"), {}, ...children);
}

/** @param {string} index */
async function toggleMarkdown(index) {
  const body = bodyOf(index);
  if (!body) return;
  if (panelIn(body, "markdown")) {
    shut(body, "markdown");
    return;
  }
  /** @type {{markdown: TreeNode[]} | null} */
  const answer = await load(index, "?as=markdown");
  if (!answer) return;
  const title = el("p", { class: "source__title" }, words("markdown"));
  panel(body, "markdown", title, el("div", { class: "md", dir: "auto" }, ...answer.markdown.map(build)));
  body.classList.add("is-markdown");
}

/** @param {string} index */
async function copy(index) {
  /** @type {Source | null} */
  const source = await load(index);
  if (!source) return;
  try {
    await navigator.clipboard.writeText(source.text || source.json);
    showToast(words("copied"));
  } catch {
    await openRaw(index);
    const shown = bodyOf(index)?.querySelector(".source__text");
    if (shown) window.getSelection()?.selectAllChildren(shown);
    showToast(words("notCopied"));
  }
}

/** @param {HTMLElement} button */
function openMenu(button) {
  if (!menu) return;
  chosen = button.dataset.messageMenu ?? "";
  const isStep = button.closest("[data-message]")?.classList.contains("msg--step");
  const history = menu.querySelector('[data-role="message-history"]');
  if (history instanceof HTMLAnchorElement) history.search = `?step=${chosen}`;
  for (const one of [history, menu.querySelector('[data-role="message-remark"]')]) {
    if (one instanceof HTMLElement) one.hidden = !isStep;
  }
  menu.showPopover();
  const box = button.getBoundingClientRect();
  const left = Math.min(box.right, document.documentElement.clientWidth - 8) - menu.offsetWidth;
  const below = box.bottom + 4 + menu.offsetHeight < window.innerHeight;
  menu.style.left = `${Math.max(8, left)}px`;
  menu.style.top = `${below ? box.bottom + 4 : box.top - 4 - menu.offsetHeight}px`;
  menu.querySelector("button")?.focus();
}

/** Ask an admin to look at a step; without one, the dialog is about the whole. @param {string} index */
function openRemark(index) {
  const dialog = document.getElementById("remark");
  const field = dialog?.querySelector('[name="message_index"]');
  if (!(dialog instanceof HTMLDialogElement) || !(field instanceof HTMLInputElement)) return;
  field.value = index;
  dialog.addEventListener("close", () => (field.value = ""), { once: true });
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const more = target?.closest("[data-message-menu]");
  if (more instanceof HTMLElement) openMenu(more);
  const fold = target?.closest("[data-unfold]");
  if (fold?.previousElementSibling) {
    unfold(fold.previousElementSibling, fold.getAttribute("aria-expanded") !== "true");
  }
  const task = target?.closest("[data-message-do]");
  if (!(task instanceof HTMLElement)) return;
  menu?.hidePopover();
  if (task.dataset.messageDo === "copy") void copy(chosen);
  if (task.dataset.messageDo === "remark") openRemark(chosen);
  if (task.dataset.messageDo === "raw") toggleRaw([chosen]);
  if (task.dataset.messageDo === "markdown") void toggleMarkdown(chosen);
});

markAsked(uncover);
whenPartsChange(() => markAsked(uncover));
