// @ts-check
/** Progress of jobs in the background. Without it the pages still show where things stand when they are reloaded. */

import { get } from "./api.js";

const EVERY = 1000;

/** Ask how far the jobs on this page are; when one has ended, the page is loaded anew to show what came of it. */
export function watchJobs() {
  const list = document.querySelector("[data-jobs]");
  if (!(list instanceof HTMLElement)) return;
  const rows = new Map([...list.querySelectorAll("[data-job]")].map((row) => [row.getAttribute("data-job"), row]));
  if (!rows.size) return;
  const url = `${list.dataset.jobs}?ids=${[...rows.keys()].join(",")}`;

  async function ask() {
    const answer = await get(url);
    for (const state of answer.ok && answer.data ? answer.data.jobs : []) {
      const row = rows.get(String(state.id));
      const bar = row?.querySelector("progress");
      const title = row?.querySelector("[data-state]");
      if (bar) {
        bar.max = state.total || 1;
        bar.value = state.done;
      }
      if (title && title.textContent !== state.title) title.textContent = state.title;
      if (state.finished) return location.reload();
    }
    setTimeout(ask, EVERY); // also when the server is away for a moment
  }
  setTimeout(ask, EVERY);
}
