// @ts-check
/**
 * The whole run as a strip of steps, on every page that has one: each is a stroke in the path of its label. A click
 * goes to the step under it; arrows move along, and Enter goes there. The going itself is left to a link, which each
 * page follows as it follows the others.
 */

import { byRole, makeWords, setAttribute, setText } from "./dom.js";

/**
 * From where to where each mark goes, of 24 in height.
 * @type {Record<string, [kind: string, top: number, end: number]>}
 */
const MARKS = {
  p: ["plus", 0, 9.5],
  z: ["zero", 6.5, 12.5],
  m: ["minus", 9.5, 19],
  d: ["differ", 0, 19],
  n: ["none", 8.5, 10.5],
};
const HEIGHT = 24;
const SIGNS = new Map([
  ["p", "+1"],
  ["z", "0"],
  ["m", "−1"],
]);
/** The width of a mark among few, and the least among thousands, in pixels. */
const WIDEST = 18;
const THINNEST = 1.5;
/** How far down the window somebody reads. */
const READ_AT = 0.35;

const box = document.querySelector('[data-role="run-strip"]');
const redraw = box instanceof HTMLElement ? begin(box) : null;

/** Whether the page has a strip. */
export const hasStrip = redraw !== null;

/** Colour the marks: a letter of `MARKS` for each step. @param {string} labels */
export const drawStrip = (labels) => redraw?.(labels);

/** @param {HTMLElement} strip */
function begin(strip) {
  /** @type {{steps: number[], calls: string, labels: string}} */
  const data = JSON.parse(document.getElementById("run-strip")?.textContent ?? "{}");
  let sum = 0;
  const indexes = data.steps.map((more) => (sum += more));
  let { labels } = data;
  const words = makeWords(/** @type {Record<string, string>} */ ({ ...strip.dataset }));
  const link = byRole(strip, "strip-link", HTMLAnchorElement);
  const field = strip.querySelector("input");
  const marks = strip.querySelector(".run-strip__marks");
  const svg = strip.querySelector("svg");
  if (!field || !svg || !(marks instanceof HTMLElement)) throw new Error("the strip has no marks");
  const [input, area] = [field, marks];
  const count = indexes.length;
  let here = 0;

  /** @param {string} name @param {string} path */
  const drawPath = (name, path) => setAttribute(/** @type {Element} */ (svg?.querySelector(`.is-${name}`)), "d", path);

  function draw() {
    /** @type {Map<string, string>} */
    const paths = new Map();
    for (let step = 0; step < count; step += 1) {
      const [kind, top, end] = MARKS[labels[step] ?? "n"] ?? ["none", 8.5, 10.5];
      paths.set(kind, `${paths.get(kind) ?? ""}M${step + 0.5} ${top}V${end}`);
    }
    for (const [kind] of Object.values(MARKS)) drawPath(kind, paths.get(kind) ?? "");
  }

  /** What a step is, in words. @param {number} step */
  function said(step) {
    const letter = labels[step] ?? "n";
    const label = SIGNS.get(letter) ?? words(letter === "d" ? "differ" : "none");
    const parts = [words("here", { n: step + 1, all: count }), label, data.calls[step] === "1" ? words("calls") : ""];
    return parts.filter(Boolean).join(" · ");
  }

  /** Say of a step what it is, and where it is. @param {number} step */
  function name(step) {
    const index = String(indexes[step]);
    setText(link, said(step));
    setAttribute(link, "href", `#m${index}`);
    link.dataset.goto = index;
  }

  /** @param {number} step */
  function mark(step) {
    here = step;
    const rect = svg?.querySelector("rect");
    const width = Math.max(1, (3 * count) / Math.max(area.clientWidth, 1));
    if (rect) {
      setAttribute(rect, "x", String(step + 0.5 - width / 2));
      setAttribute(rect, "width", String(width));
    }
    input.value = String(step + 1);
    setAttribute(input, "aria-valuetext", said(step));
    name(step);
  }

  /** The step under the pointer. @param {MouseEvent} event */
  function under({ clientX }) {
    const { left, width } = area.getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
  }

  /** @param {number} step */
  function go(step) {
    mark(step);
    link.click();
  }

  /** The last step up to a message. @param {number} index */
  function stepUpTo(index) {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((indexes[middle] ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** Mark the step that somebody reads. @param {Element | null | undefined} element */
  function follow(element) {
    const message = element?.closest(".run [data-message]");
    if (message instanceof HTMLElement) place(stepUpTo(Number(message.dataset.message)));
  }

  /** @param {number} step */
  function place(step) {
    if (step !== here && document.activeElement !== input) mark(step);
  }

  /** Mark where the window is: at the step that has the focus, or at what is read. */
  function followWindow() {
    const held = document.activeElement?.closest(".run [data-message]");
    const at = held?.getBoundingClientRect();
    if (at && at.bottom > 0 && at.top < window.innerHeight) return follow(held);
    const run = document.querySelector(".run")?.getBoundingClientRect();
    const line = window.innerHeight * READ_AT;
    if (!run || run.top > line) return place(0);
    return follow(document.elementFromPoint(run.left + run.width / 2, line));
  }

  svg.setAttribute("viewBox", `0 0 ${count} ${HEIGHT}`);
  svg.setAttribute("width", String(count * WIDEST));
  setAttribute(input, "max", String(count));
  drawPath("call", [...data.calls].map((calls, step) => (calls === "1" ? `M${step + 0.5} 21V24` : "")).join(""));
  draw();
  strip.hidden = false;
  const measure = () => {
    const each = area.clientWidth / count;
    svg.setAttribute("stroke-width", String(Math.max(THINNEST, Math.min(each - 1, 0.75 * each))));
    mark(here);
  };
  new ResizeObserver(measure).observe(area);

  area.addEventListener("click", (event) => go(under(event)));
  area.addEventListener("mousemove", (event) => name(under(event)));
  area.addEventListener("mouseleave", () => name(here));
  input.addEventListener("input", () => mark(Number(input.value) - 1));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(here);
  });
  document.addEventListener("focusin", ({ target }) => follow(target instanceof Element ? target : null));
  let asked = false;
  const look = () => {
    asked = false;
    followWindow();
  };
  window.addEventListener(
    "scroll",
    () => {
      if (!asked) requestAnimationFrame(look);
      asked = true;
    },
    { passive: true },
  );

  /** @param {string} fresh */
  return (fresh) => {
    if (fresh === labels) return;
    labels = fresh;
    draw();
    mark(here);
  };
}
