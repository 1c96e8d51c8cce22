// @ts-check
/** Progress of jobs in the background. Without it the pages still show where things stand when they are reloaded. */

import { get } from "./api.js";

const EVERY = 1000;

/** Whether somebody has begun to fill in a form, which loading the page anew would empty. */
function inUse() {
  return [...document.querySelectorAll("main input, main select, main textarea")].some((field) => {
    if (field instanceof HTMLSelectElement) {
      const preset = [...field.options].findIndex((one) => one.defaultSelected);
      return field.selectedIndex !== Math.max(preset, 0);
    }
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    if (!(field instanceof HTMLInputElement)) return false;
    if (field.type === "file") return Boolean(field.files?.length);
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    return field.value !== field.defaultValue;
  });
}

/**
 * Ask how far the jobs on this page are; when one has ended, the page is loaded anew to show what came of it, unless
 * a form is in use, or on its way as an upload.
 */
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
      if (!state.finished) continue;
      if (!inUse()) return location.reload();
      bar?.remove();
    }
    setTimeout(ask, EVERY); // also when the server is away for a moment
  }
  setTimeout(ask, EVERY);
}
