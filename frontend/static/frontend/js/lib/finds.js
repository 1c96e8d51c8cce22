// @ts-check
/** The places where words stand in what is drawn of a run, and the marks on them. */

import { matches, MOST } from "./search.js";

/**
 * A place where the text stands: in which message, the how many-th there, and where on the page, when it is there.
 * @typedef {{message: number, nth: number, range: Range | null}} Find
 */

/** @param {Element | null} run @param {string} query */
export function findsIn(run, query) {
  /** @type {Find[]} */
  const found = [];
  if (!query.trim()) return found;
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const root of run?.querySelectorAll(".text, .md, .call__name, .call__arguments dt") ?? []) {
    if (root.parentElement?.closest(".text, .md") || root.closest("[hidden]")) continue;
    const inside = root.closest("[data-message]");
    const message = inside instanceof HTMLElement ? Number(inside.dataset.message) : -1;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const [start, end] of matches(node.nodeValue ?? "", query, MOST - found.length)) {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        const nth = counts.get(message) ?? 0;
        counts.set(message, nth + 1);
        found.push({ message, nth, range });
      }
    }
    if (found.length >= MOST) break;
  }
  return found;
}

/**
 * Mark the words that a search has led to (`?words=`), and open what hides the first of them in its message.
 * @param {(node: Node) => void} uncover
 */
export function markAsked(uncover) {
  const asked = new URLSearchParams(window.location.search).get("words") ?? "";
  const run = document.querySelector(".run");
  if (!asked.trim() || !("highlights" in CSS) || !run) return;
  const finds = findsIn(run, asked);
  CSS.highlights.set("find", new Highlight(...finds.flatMap(({ range }) => range ?? [])));
  const message = Number(window.location.hash.replace("#m", ""));
  const first = finds.find((find) => find.message === message)?.range;
  if (first) uncover(first.startContainer);
}
