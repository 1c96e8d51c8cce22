// @ts-check
/**
 * The one module that talks to the server: JSON, forms and uploads, all answered in the same shape. Nothing throws, but
 * for `tryOut`.
 */

/**
 * The result of a request. `reached` is false without any answer, or with one that asks to try again (5xx, 429).
 * @typedef {object} Answer
 * @property {boolean} reached
 * @property {boolean} ok
 * @property {number} status      0 without an answer that can be read
 * @property {boolean} redirected the server sent us elsewhere: as a rule, to sign in
 * @property {any} data           the JSON body, or null
 */

/** The longest time for an answer, in ms. */
const TIMEOUT = 15_000;
/** The longest time for the answer to a form, in ms. */
const FORM_TIMEOUT = 60_000;

/** @type {Answer} */
const NO_ANSWER = Object.freeze({ reached: false, ok: false, status: 0, redirected: false, data: null });

/** The CSRF token as it is now: signing in again, in another tab too, makes a new one. */
export function csrfToken() {
  const cookie = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  if (cookie) return cookie;
  const field = document.querySelector('input[name="csrfmiddlewaretoken"]');
  return field instanceof HTMLInputElement ? field.value : "";
}

/** An answer that asks to try again. @param {number} status */
const asksAgain = (status) => status >= 500 || status === 429 || status === 408;

/**
 * @param {string} url
 * @param {RequestInit & {headers?: Record<string, string>}} init
 * @param {number} timeout   in ms
 * @returns {Promise<Answer>}
 */
async function send(url, init, timeout) {
  try {
    const response = await fetch(url, {
      ...init,
      credentials: "same-origin",
      redirect: "manual",
      headers: {
        ...init.headers,
        Accept: "application/json",
        "Accept-Language": document.documentElement.lang, // refusals in the language of the page
      },
      signal: AbortSignal.timeout(timeout),
    });
    if (response.type === "opaqueredirect") return { ...NO_ANSWER, redirected: true };
    // an answer without JSON: its status says enough; one that breaks off is none
    const text = await response.text();
    const { status, ok } = response;
    return { reached: !asksAgain(status), ok, status, redirected: false, data: parsed(text) };
  } catch {
    return NO_ANSWER;
  }
}

/** @param {string} text @returns {any} null when it is not JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Send a request once more that was refused for its token: signing in again in another tab changes it, perhaps between
 * its being read here and its arrival.
 * @param {(token: string) => Promise<Answer>} request
 */
async function withToken(request) {
  const token = csrfToken();
  const answer = await request(token);
  const now = csrfToken();
  return answer.status === 403 && now !== token ? request(now) : answer;
}

/**
 * Send JSON, with the session and its CSRF token.
 * @param {string} url
 * @param {unknown} body
 * @param {{last?: boolean}} [options] `last`: the page is going away, let the request outlive it
 */
export function post(url, body, { last = false } = {}) {
  return withToken((token) => {
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
    return send(url, { method: "POST", keepalive: last, headers, body: JSON.stringify(body) }, TIMEOUT);
  });
}

/**
 * Ask for JSON.
 * @param {string} url
 * @param {{timeout?: number}} [options]
 */
export const get = (url, { timeout = TIMEOUT } = {}) => send(url, {}, timeout);

/**
 * Ask for a page, or a part of one, as nodes that can be put into this one.
 * @param {string} url
 * @returns {Promise<Document | null>} null when it could not be had
 */
export function getDocument(url) {
  const request = new XMLHttpRequest(); // `fetch` answers with text, and no text becomes markup here
  request.open("GET", url);
  request.responseType = "document";
  request.timeout = FORM_TIMEOUT;
  return new Promise((done) => {
    request.addEventListener("loadend", () => done(request.status === 200 ? request.responseXML : null));
    request.send();
  });
}

/**
 * Send the fields of a form, as its own button would.
 * @param {string} url
 * @param {FormData} data
 */
export function form(url, data) {
  return withToken((token) => {
    data.set("csrfmiddlewaretoken", token);
    return send(url, { method: "POST", body: data }, FORM_TIMEOUT);
  });
}

/**
 * Send a form with files, however long it takes, and say how far it is. (`fetch` cannot tell.)
 * @param {string} url
 * @param {FormData} data
 * @param {(share: number) => void} onProgress   from 0 to 1
 * @returns {Promise<Answer>}
 */
export function upload(url, data, onProgress) {
  data.set("csrfmiddlewaretoken", csrfToken());
  const request = new XMLHttpRequest();
  request.open("POST", url);
  request.setRequestHeader("Accept", "application/json");
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (lengthComputable) onProgress(loaded / total);
  });
  return new Promise((done) => {
    request.addEventListener("load", () => {
      const { status, responseText } = request;
      const ok = status >= 200 && status < 300;
      done({ reached: !asksAgain(status), ok, status, redirected: false, data: parsed(responseText) });
    });
    request.addEventListener("error", () => done(NO_ANSWER));
    request.send(data);
  });
}

/**
 * Send what somebody tries on the API's page, to this server alone: with their token and without the session.
 * Unlike the others it answers with the bare response, which the page shows as it is, and throws where there is none.
 * @param {{method: string, url: string, media: string, body: string | File | null, token: string}} request
 */
export const tryOut = ({ method, url, media, body, token }) =>
  fetch(url, {
    method,
    headers: {
      Accept: "application/json",
      Authorization: `Bearer ${token}`,
      ...(media && body ? { "Content-Type": media } : {}),
    },
    ...(body ? { body } : {}),
    credentials: "omit",
    redirect: "error",
    cache: "no-store",
  });

/**
 * The sentence in an error answer, or the fallback.
 * @param {Answer} answer
 * @param {string} fallback
 * @returns {string}
 */
export function reasonOf(answer, fallback) {
  const message = answer.data?.error?.message;
  return typeof message === "string" && message ? message : fallback;
}

/** @returns {string} a name for a batch that nobody else gives */
export function newOpId() {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
