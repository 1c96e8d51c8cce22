// @ts-check
/**
 * The one module that talks to the server.
 */

/**
 * What came of a request. `reached` is false without any answer, or with one that asks to try again (5xx, 429).
 * @typedef {object} Answer
 * @property {boolean} reached
 * @property {boolean} ok
 * @property {number} status
 * @property {any} data      the JSON body, or null
 */

/**
 * The CSRF token as it is now: signing in again, in another tab too, makes a new one.
 * @param {string} fallback  the one that the page came with
 */
export function csrfToken(fallback) {
  return /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? fallback;
}

/**
 * Send JSON, with the session and its CSRF token.
 * @param {string} url
 * @param {unknown} body
 * @param {string} csrf
 * @param {{last?: boolean, timeout?: number, method?: "POST" | "GET"}} [options] `last`: the page is going away, let
 *   the request outlive it
 * @returns {Promise<Answer>}
 */
export async function post(url, body, csrf, { last = false, timeout = 15000, method = "POST" } = {}) {
  try {
    const response = await fetch(url, {
      method,
      credentials: "same-origin",
      redirect: "error",
      keepalive: last,
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        "Accept-Language": document.documentElement.lang, // refusals in the language of the page
        "X-CSRFToken": csrfToken(csrf),
      },
      body: method === "GET" ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeout),
    });
    /** @type {unknown} */
    let data = null;
    try {
      data = await response.json();
    } catch {
      // an answer without JSON: its status says enough
    }
    const again = response.status >= 500 || response.status === 429 || response.status === 408;
    return { reached: !again, ok: response.ok, status: response.status, data };
  } catch {
    return { reached: false, ok: false, status: 0, data: null };
  }
}

/**
 * Ask for JSON.
 * @param {string} url
 * @param {string} csrf
 */
export const get = (url, csrf) => post(url, null, csrf, { method: "GET" });

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
