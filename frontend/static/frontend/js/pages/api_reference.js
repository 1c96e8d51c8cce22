// @ts-check
/** The reference of the API: searched, and its operations tried with the reader's own token. */

import { tryOut } from "../lib/api.js";
import { addressOf, curlOf, missingOf } from "../lib/curl.js";
import { byRole, el, makeWords, setText } from "../lib/dom.js";

/** @typedef {import("../lib/curl.js").Operation} Operation */

/** More of an answer is not shown, in characters. */
const SHOWN = 100_000;
const JSON_TYPE = "application/json";

/** @param {string} id @returns {any} what the page came with */
const given = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "{}");

/** @type {Record<string, Operation>} */
const operations = given("operations");
const words = makeWords(given("words"));
const tools = byRole(document, "tools", HTMLElement);
const token = byRole(document, "token", HTMLInputElement);

// --- search -----------------------------------------------------------------------------------------------

const search = byRole(document, "search", HTMLInputElement);
const count = byRole(document, "count", HTMLElement);
const none = byRole(document, "none", HTMLElement);
const folds = [...document.querySelectorAll(".operation")].filter((one) => one instanceof HTMLElement);
const texts = folds.map(textOf);

/** Texts that find an operation: its address, its summary, and the names of fields. @param {HTMLElement} fold */
function textOf(fold) {
  const parts = [...fold.querySelectorAll(":scope > summary, :scope > .card__body > p, th code")];
  return parts
    .map((part) => part.textContent ?? "")
    .join(" ")
    .toLowerCase();
}

function look() {
  const wanted = search.value.toLowerCase().split(/\s+/u).filter(Boolean);
  let some = 0;
  folds.forEach((fold, i) => {
    fold.hidden = !wanted.every((word) => texts[i]?.includes(word));
    some += Number(!fold.hidden);
  });
  for (const group of document.querySelectorAll("[data-group]")) {
    if (group instanceof HTMLElement) group.hidden = !group.querySelector(".operation:not([hidden])");
  }
  none.hidden = some > 0;
  const speak = makeWords(/** @type {Record<string, string>} */ ({ ...count.dataset }));
  setText(count, speak("some", { n: some, all: folds.length }));
}

/** An address that names an operation opens it. */
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) named.open = true;
}

// --- try it -----------------------------------------------------------------------------------------------

/** @param {string} id @param {string} label @param {HTMLElement} control @param {boolean} required */
function fieldOf(id, label, control, required) {
  control.id = id;
  const name = el(
    "label",
    { for: id },
    label,
    ...(required ? [" ", el("span", { class: "badge" }, words("required"))] : []),
  );
  return el("div", { class: "field" }, name, control);
}

/** The form that sends one operation. @param {string} id @param {Operation} operation */
function makeTrial(id, operation) {
  /** @type {[string, HTMLInputElement][]} */
  const inputs = operation.parameters.map(({ name, type }) => [
    name,
    el("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: type }),
  ]);
  const isJson = operation.media === JSON_TYPE;
  const body = isJson ? el("textarea", { rows: "10", class: "mono", spellcheck: "false" }) : null;
  if (body) body.value = operation.example;
  const file = operation.media && !isJson ? el("input", { type: "file" }) : null;
  const send = el("button", { class: "button button--primary" }, words("send", { method: operation.method }));
  const problem = el("p", { class: "field__error", role: "alert" });
  const curl = el("textarea", {
    id: `${id}-curl`,
    class: "mono",
    rows: "4",
    readonly: "",
    "aria-label": words("curl"),
  });
  const copy = el("button", { type: "button", class: "button", "data-copy": curl.id, "data-done": words("copied") });
  copy.append(words("copy"));
  const result = el("div", { class: "stack stack--tight", "aria-live": "polite" });
  const form = el(
    "form",
    { class: "stack trial", "aria-label": `${operation.method} ${operation.path}` },
    ...operation.parameters.map(({ name, required }, i) =>
      fieldOf(`${id}-${name}`, name, inputs[i]?.[1] ?? el("input"), required),
    ),
    ...(body ? [fieldOf(`${id}-body`, words("body"), body, false)] : []),
    ...(file ? [fieldOf(`${id}-file`, `${words("file")} (${operation.media})`, file, false)] : []),
    ...(operation.method === "GET" ? [] : [el("p", { class: "alert alert--warning" }, words("changes"))]),
    problem,
    el("div", { class: "cluster" }, send),
    el("details", { class: "fold" }, el("summary", {}, words("curl")), curl, copy),
    result,
  );
  problem.hidden = true;

  const values = () => Object.fromEntries(inputs.map(([name, input]) => [name, input.value.trim()]));
  /** The request to send. */
  const request = () => ({
    method: operation.method,
    url: addressOf(location.origin, operation, values()),
    media: operation.media,
    body: body?.value.trim() ?? "",
    file: file?.files?.[0]?.name ?? "",
  });

  /** The reason why it cannot be sent, and the place; "" when it can. */
  function refusal() {
    const [missing] = missingOf(operation, values());
    if (missing !== undefined) {
      inputs.find(([name]) => name === missing)?.[1].focus();
      return words("missing", { name: missing });
    }
    try {
      if (body?.value.trim()) JSON.parse(body.value);
    } catch (error) {
      body?.focus();
      return words("not_json", { reason: String(error) });
    }
    if (token.value.trim()) return "";
    token.focus();
    return words("token");
  }

  function drawCurl() {
    curl.value = curlOf(request());
  }
  form.addEventListener("input", drawCurl);
  drawCurl();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const why = refusal();
    setText(problem, why);
    if (why) return;
    send.disabled = true;
    result.replaceChildren(el("p", { class: "soft" }, words("sending")));
    result.replaceChildren(...(await answerTo(request(), file?.files?.[0] ?? null)));
    send.disabled = false;
  });
  return form;
}

/**
 * Send it.
 * @param {Parameters<typeof curlOf>[0]} request
 * @param {File | null} file
 * @returns {Promise<HTMLElement[]>} what is to be shown
 */
async function answerTo({ method, url, media, body }, file) {
  const begun = performance.now();
  try {
    const answer = await tryOut({ method, url, media, body: file ?? body, token: token.value.trim() });
    const bytes = await answer.arrayBuffer();
    const time = Math.round(performance.now() - begun);
    const status = `${answer.status} ${answer.statusText}`.trim();
    const head = el(
      "h4",
      {},
      `${words("response")}: `,
      el("span", { class: "mono" }, words("answer", { status, time })),
    );
    return [head, ...shown(bytes, answer.headers.get("Content-Type") ?? "")];
  } catch (error) {
    return [el("p", { class: "alert alert--error" }, words("failed", { reason: String(error) }))];
  }
}

/** The body of an answer. @param {ArrayBuffer} bytes @param {string} type @returns {HTMLElement[]} */
function shown(bytes, type) {
  if (!bytes.byteLength) return [el("p", { class: "soft" }, words("no_body"))];
  if (!/json|text/u.test(type)) return [el("p", { class: "soft" }, words("binary", { bytes: bytes.byteLength, type }))];
  const text = indented(new TextDecoder().decode(bytes));
  const pre = el("pre", { class: "well reference__example", tabindex: "0" }, el("code", {}, text.slice(0, SHOWN)));
  if (text.length <= SHOWN) return [pre];
  return [pre, el("p", { class: "soft" }, words("cut", { n: SHOWN, all: text.length }))];
}

/** @param {string} text */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

document.addEventListener("click", (event) => {
  const opener = event.target instanceof Element ? event.target.closest('[data-role="open"]') : null;
  const box = opener?.closest('[data-role="try"]');
  const id = box instanceof HTMLElement ? (box.dataset.operation ?? "") : "";
  const operation = operations[id];
  if (!box || !operation) return;
  const form = makeTrial(id, operation);
  box.replaceChildren(form);
  const first = form.querySelector("input, textarea, button");
  if (first instanceof HTMLElement) first.focus();
});
search.addEventListener("input", look);
window.addEventListener("hashchange", openNamed);
window.addEventListener("pagehide", () => (token.value = ""));
tools.hidden = false;
for (const box of document.querySelectorAll('[data-role="try"]')) if (box instanceof HTMLElement) box.hidden = false;
openNamed();
