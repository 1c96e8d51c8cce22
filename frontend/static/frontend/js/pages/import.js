// @ts-check
/**
 * Progress on the import pages: of the upload, and of imports under way. Without it the form still uploads and
 * the pages still show where things stand when they are reloaded.
 */

const EVERY = 1000;

/** @param {Element} root @param {string} selector @returns {HTMLElement | null} */
const find = (root, selector) => root.querySelector(selector);

/** Send the form with a progress bar, and go where the server says; what it refuses is shown above the button. */
function upload() {
  const form = document.querySelector("form[data-upload]");
  if (!(form instanceof HTMLFormElement)) return;
  const area = find(form, "[data-upload-progress]");
  const errors = find(form, "[data-upload-errors]");
  const bar = area?.querySelector("progress");
  const text = area && find(area, "[role=status]");
  const button = form.querySelector("button");
  if (!area || !errors || !bar || !text || !button) return;

  /** @param {string[]} sentences */
  function refuse(sentences) {
    if (!area || !errors || !button) return;
    area.hidden = true;
    button.disabled = false;
    errors.replaceChildren(
      ...sentences.map((sentence) => {
        const line = document.createElement("p");
        line.textContent = sentence;
        return line;
      }),
    );
    errors.hidden = false;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const size = [...data.values()].reduce((sum, value) => sum + (value instanceof File ? value.size : 0), 0);
    errors.hidden = true;
    if (size > Number(form.dataset.max)) return refuse([form.dataset.tooLarge ?? ""]);
    const request = new XMLHttpRequest();
    request.open("POST", form.action || location.href);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", (step) => {
      if (!step.lengthComputable) return;
      const share = Math.round((100 * step.loaded) / step.total);
      bar.value = share;
      text.textContent = `${share} %`;
    });
    request.addEventListener("load", () => {
      const answer = request.response;
      if (request.status === 200 && answer?.next) location.assign(answer.next);
      else refuse(answer?.errors ?? [form.dataset.failed ?? ""]);
    });
    request.addEventListener("error", () => refuse([form.dataset.failed ?? ""]));
    area.hidden = false;
    button.disabled = true;
    request.send(data);
  });
}

/** Ask how far the imports on this page are; when one has ended, the page is loaded anew to show what came of it. */
function watch() {
  const list = document.querySelector("[data-imports]");
  if (!(list instanceof HTMLElement)) return;
  const rows = new Map(
    [...list.querySelectorAll("[data-import]")].map((row) => [row.getAttribute("data-import"), row]),
  );
  if (!rows.size) return;
  const url = `${list.dataset.imports}?ids=${[...rows.keys()].join(",")}`;

  async function ask() {
    try {
      const answer = await fetch(url, { headers: { Accept: "application/json" } });
      if (answer.ok) {
        for (const state of (await answer.json()).imports) {
          const row = rows.get(String(state.id));
          const bar = row?.querySelector("progress");
          const title = row && find(row, "[data-state]");
          if (bar) {
            bar.max = state.total || 1;
            bar.value = state.done;
          }
          if (title && title.textContent !== state.title) title.textContent = state.title;
          if (state.finished) return location.reload();
        }
      }
    } catch {
      // The server is away for a moment: ask again.
    }
    setTimeout(ask, EVERY);
  }
  setTimeout(ask, EVERY);
}

upload();
watch();
