// @ts-check
/**
 * Progress on the import pages: of the upload, and of imports under way. Without it the form still uploads and
 * the pages still show where things stand when they are reloaded.
 */

import { upload } from "../lib/api.js";
import { el } from "../lib/dom.js";
import { forgetErrors, showErrors } from "../lib/form_errors.js";
import { watchJobs } from "../lib/job_progress.js";

/** @param {Element} root @param {string} selector @returns {HTMLElement | null} */
const find = (root, selector) => root.querySelector(selector);

/** Send the form with a progress bar, and go where the server says; what it refuses is shown at its field. */
function guideUpload() {
  const form = document.querySelector("form[data-upload]");
  if (!(form instanceof HTMLFormElement)) return;
  const area = find(form, "[data-upload-progress]");
  const problem = find(form, "[data-upload-problem]");
  const bar = area?.querySelector("progress");
  const text = area && find(area, "[role=status]");
  const buttons = form.querySelectorAll("button");
  if (!area || !problem || !bar || !text) return;

  /**
   * @param {Record<string, string[]>} fields  sentences by the name of the field; those of no field as ""
   * @param {string} uploaded  what was taken all the same
   */
  function refuse(fields, uploaded = "") {
    if (!area || !problem || !text || !(form instanceof HTMLFormElement)) return;
    area.hidden = !uploaded;
    text.textContent = uploaded;
    for (const button of buttons) button.disabled = false;
    const rest = showErrors(form, fields);
    problem.replaceChildren(...rest.map((sentence) => el("p", {}, sentence)));
    problem.hidden = !rest.length;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(form, event.submitter);
    const size = [...data.values()].reduce((sum, value) => sum + (value instanceof File ? value.size : 0), 0);
    problem.hidden = true;
    forgetErrors(form);
    if (size > Number(form.dataset.max)) return refuse({ file: [form.dataset.tooLarge ?? ""] });
    area.hidden = false;
    for (const button of buttons) button.disabled = true;
    const answer = await upload(form.action || location.href, data, (share) => {
      bar.value = Math.round(100 * share);
      text.textContent = `${bar.value} %`;
    });
    if (answer.ok && answer.data?.next) location.assign(answer.data.next);
    else refuse(answer.data?.fields ?? { "": [form.dataset.failed ?? ""] }, answer.data?.uploaded);
  });
}

guideUpload();
watchJobs();
