// @ts-check
/**
 * The command palette of every page (Ctrl+K, or `/` where that does not search the trajectory) and the list of keys
 * (`?`). The server says where its reader can go; what is typed is looked for in that, and asked for in the project.
 */

import { get } from "../lib/api.js";
import { el, setText } from "../lib/dom.js";

/** @typedef {{title: string, detail: string, url: string}} Entry */

const dialog = document.getElementById("palette");
const field = dialog?.querySelector("input");
const list = document.getElementById("palette-list");
const foot = dialog?.querySelector('[role="status"]');
const MOST = 30;

/** @type {Entry[] | null} */
let pages = null;
/** @type {Entry[]} */
let named = [];
let chosen = 0;

/** @param {Record<string, string>} asked @returns {Promise<Entry[]>} */
async function ask(asked) {
  const query = new URLSearchParams({ project: dialog?.dataset.project ?? "", ...asked });
  return (await get(`${dialog?.dataset.url}?${query}`)).data?.entries ?? [];
}

/** @returns {Entry[]} */
function fitting() {
  const words = (field?.value ?? "").toLowerCase().split(/\s+/u).filter(Boolean);
  const held = (pages ?? []).filter(({ title, detail }) => {
    const text = `${title} ${detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return [...held, ...named].slice(0, MOST);
}

function draw() {
  if (!list || !field || !(foot instanceof HTMLElement) || !(dialog instanceof HTMLElement)) return;
  const entries = fitting();
  chosen = Math.max(0, Math.min(chosen, entries.length - 1));
  list.replaceChildren(
    ...entries.map(({ title, detail, url }, i) =>
      el(
        "a",
        { id: `palette-${i}`, role: "option", "aria-selected": String(i === chosen), href: url, tabindex: "-1" },
        el("span", {}, title),
        el("span", { class: "soft small" }, detail),
      ),
    ),
  );
  if (entries.length) field.setAttribute("aria-activedescendant", `palette-${chosen}`);
  else field.removeAttribute("aria-activedescendant");
  const { none = "", some = "" } = dialog.dataset;
  setText(foot, pages === null ? "" : entries.length ? some.replace("{n}", String(entries.length)) : none);
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
}

async function open() {
  if (!(dialog instanceof HTMLDialogElement) || !field || dialog.open) return;
  field.value = "";
  named = [];
  chosen = 0;
  dialog.showModal();
  draw();
  pages ??= await ask({});
  draw();
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
field?.addEventListener("input", () => {
  named = [];
  chosen = 0;
  draw();
  clearTimeout(typing);
  const { value } = field;
  if (!value.trim()) return;
  typing = setTimeout(async () => {
    const found = await ask({ q: value });
    if (field.value !== value) return;
    named = found;
    draw();
  }, 150);
});

dialog?.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const ways = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1 });
  const way = ways[event.key];
  if (way) {
    const count = list?.children.length ?? 0;
    chosen = count ? (chosen + way + count) % count : 0;
    draw();
  } else if (event.key === "Enter") {
    const link = list?.children[chosen];
    if (link instanceof HTMLElement) link.click();
  } else return;
  event.preventDefault();
});

/** Whether a key types something where it was pressed. @param {EventTarget | null} target */
const isTyping = (target) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));

/** Pages that show a run to work on have keys of their own. */
const hasOwnKeys = () => document.getElementById("help") !== null;

/** Listen for the keys and the button that open them. */
export function listenForPalette() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const held = event.ctrlKey || event.metaKey;
    if (held && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) void open();
      return;
    }
    if (held || isTyping(event.target) || hasOwnKeys() || document.querySelector("dialog[open]")) return;
    if (event.key === "/") {
      event.preventDefault();
      void open();
    } else if (event.key === "?") {
      event.preventDefault();
      const keys = document.getElementById("site-keys");
      if (keys instanceof HTMLDialogElement) keys.showModal();
    }
  });

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("[data-palette]")) void open();
    if (target === dialog && dialog instanceof HTMLDialogElement) dialog.close(); // beside it
  });
}
