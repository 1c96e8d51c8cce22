// @ts-check
/** A trajectory with what a model says of it: n and p go to the next and the previous step on which they differ. */

import { reach } from "../lib/run_parts.js";
import "./transcript.js";

const list = document.querySelector("[data-differing]");
const differing =
  list instanceof HTMLElement ? (list.dataset.differing ?? "").split(" ").filter(Boolean).map(Number) : [];
let last = -1;

/** @param {number} by  1: the next one below, −1: the one above; from the last one on to the first */
async function jump(by) {
  if (!differing.length) return;
  const step = document.activeElement?.closest("[data-differs]");
  const here = step instanceof HTMLElement ? differing.indexOf(Number(step.dataset.message)) : -1;
  const at = here < 0 ? last : here;
  last = ((at < 0 && by < 0 ? 0 : at) + by + differing.length) % differing.length;
  const next = await reach(differing[last] ?? 0);
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "start" });
}

/** @param {EventTarget | null} target */
const writes = (target) => target instanceof HTMLElement && target.matches("input, textarea, select");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return;
  if (event.key === "n" || event.key === "p") void jump(event.key === "n" ? 1 : -1);
});

for (const button of document.querySelectorAll("[data-jump]")) {
  if (button instanceof HTMLElement) button.addEventListener("click", () => void jump(Number(button.dataset.jump)));
}

document.documentElement.dataset.differences = "ready";
