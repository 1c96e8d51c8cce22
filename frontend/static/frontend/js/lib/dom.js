// @ts-check
/** Small help with elements: text nodes only, never markup. */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * The descendant with this data-role; it is part of the page, so its absence is a mistake of ours.
 * @template {HTMLElement} T
 * @param {ParentNode} parent
 * @param {string} role
 * @param {new () => T} kind
 * @returns {T}
 */
export function byRole(parent, role, kind) {
  const found = parent.querySelector(`[data-role="${role}"]`);
  if (!(found instanceof kind)) throw new Error(`the page has no ${role}`);
  return found;
}

/** @typedef {(name: string, values?: Record<string, string | number>) => string} Words */

/**
 * The page's sentences by name, with {names} filled in.
 * @param {Readonly<Record<string, string>>} words
 * @returns {Words}
 */
export function makeWords(words) {
  return (name, values = {}) =>
    (words[name] ?? name).replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
}

/**
 * Make a select offer exactly these choices; nothing is touched when it does already.
 * @param {HTMLSelectElement} select
 * @param {readonly (readonly [string, string])[]} choices  value and text
 * @param {string} chosen
 */
export function setOptions(select, choices, chosen) {
  const same =
    select.options.length === choices.length &&
    choices.every(([value, text], i) => select.options[i]?.value === value && select.options[i]?.text === text);
  if (!same) select.replaceChildren(...choices.map(([value, text]) => el("option", { value }, text)));
  if (select.value !== chosen) select.value = chosen;
}

/**
 * Only when it is another: nothing is laid out anew for what is there.
 * @param {Element} element
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Out of sight and reach, with its place kept: nothing else moves. @param {HTMLElement} element @param {boolean} on */
export function setInvisible(element, on) {
  element.classList.toggle("is-absent", on);
}

/** Write a text; an element without one is hidden. @param {HTMLElement} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
  if (element.hidden !== !text) element.hidden = !text;
}

// --- work that can wait: done when the browser has nothing better to do, a little at a time -----------------

/** For so long at once, where the browser does not say how long it has. */
const A_WHILE = 4;
/** At the latest so soon. */
const LATEST = 250;

/** Wait until changes are on screen; at most a tenth of a second, in a window that nobody sees. */
export const afterPaint = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });

/** @param {(more: () => boolean) => void} work  `more` says whether there is time for more; at first there is */
export function whenIdle(work) {
  if (typeof requestIdleCallback !== "function") {
    setTimeout(() => {
      const until = performance.now() + A_WHILE;
      work(() => performance.now() < until);
    }, 30);
    return;
  }
  requestIdleCallback(
    (idle) => {
      const until = performance.now() + A_WHILE;
      work(() => (idle.didTimeout ? performance.now() < until : idle.timeRemaining() > 1));
    },
    { timeout: LATEST },
  );
}
