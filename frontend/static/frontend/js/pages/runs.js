// @ts-check
/**
 * The page of a run, live: bar, figures and kinds of failure are asked for, in the reader's words, until the run
 * rests; then the page is loaded anew, to show what can be done with it. Without a script, reloading says the same.
 */

import { get } from "../lib/api.js";
import { byRole, el, makeWords, setText } from "../lib/dom.js";

const EVERY = 1500;
const SLOWEST = 30000;

/**
 * @typedef {object} Run
 * @property {string} state
 * @property {string} title
 * @property {boolean} busy
 * @property {{done: number, failed: number, total: number}} progress
 * @property {Record<string, string>} figures        by data-role, in the reader's words
 * @property {{kind: string, title: string, count: number, message: string}[]} failures
 */

/** @param {HTMLElement} page */
function watch(page) {
  const url = page.dataset.run ?? "";
  const before = page.dataset.state ?? "";
  const words = makeWords({ away: page.dataset.away ?? "" });
  const bar = byRole(page, "bar", HTMLProgressElement);
  const note = byRole(page, "note", HTMLElement);
  const kinds = byRole(page, "kinds", HTMLElement);
  let wait = EVERY;

  /** @param {Run} run */
  function draw(run) {
    bar.max = run.progress.total || 1;
    bar.value = run.progress.done + run.progress.failed;
    for (const [role, text] of Object.entries(run.figures)) {
      const field = page.querySelector(`[data-role="${role}"]`);
      if (field && field.textContent !== text) field.textContent = text;
    }
    drawKinds(run);
  }

  /** @param {Run} run */
  function drawKinds(run) {
    const key = JSON.stringify(run.failures);
    if (kinds.dataset.shown === key) return;
    kinds.dataset.shown = key;
    kinds.hidden = run.failures.length === 0;
    const list = byRole(kinds, "kind-list", HTMLElement);
    list.replaceChildren(
      ...run.failures.map(({ title, count, message }) =>
        el(
          "li",
          {},
          el("span", { class: "count" }, String(count)),
          el("div", { class: "rows__main" }, el("strong", {}, title), el("span", { class: "soft small" }, message)),
        ),
      ),
    );
  }

  /** Somebody who is typing is not interrupted: they get a link. */
  function renew() {
    const at = document.activeElement;
    if (at instanceof HTMLInputElement && page.contains(at)) byRole(page, "renew", HTMLElement).hidden = false;
    else location.reload();
  }

  async function ask() {
    const answer = await get(url);
    if (answer.redirected || answer.status === 403 || answer.status === 404) return location.reload();
    /** @type {Run | null} */
    const run = answer.ok ? answer.data : null;
    if (run) {
      setText(note, "");
      wait = EVERY;
      draw(run);
      if (run.state !== before || !run.busy) return renew();
    } else {
      wait = Math.min(2 * wait, SLOWEST);
      setText(note, words("away"));
    }
    next();
  }

  function next() {
    setTimeout(
      () => (document.hidden ? document.addEventListener("visibilitychange", ask, { once: true }) : ask()),
      wait,
    );
  }

  next();
}

const page = document.querySelector("[data-run]");
if (page instanceof HTMLElement && page.dataset.busy) watch(page);
