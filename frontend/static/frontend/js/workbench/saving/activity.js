// @ts-check
/**
 * The time that somebody is at work on a trajectory. A pause of more than a minute does not count, nor does a hidden
 * page. The clock is pure; `measure` brings it to a page; `reportWorkTime` tells the server, and the person.
 */

import { post } from "../../lib/api.js";
import { byRole, setText } from "../../lib/dom.js";

export const IDLE_MS = 60_000;
const REPORT_MS = 60_000;
/** The most time that the server takes in one report. */
export const MOST_MS = 600_000;

export function makeClock() {
  /** @type {number | null} the last sign of life, null while the page is hidden */
  let last = null;
  let active = 0;
  return {
    /** A sign of life. @param {number} now in ms */
    sign(now) {
      if (last !== null && now > last && now - last <= IDLE_MS) active += now - last;
      last = now;
    },
    /** The page is hidden: nothing counts until the next sign of life. @param {number} now */
    rest(now) {
      this.sign(now);
      last = null;
    },
    /** The time since the last report, in whole ms. */
    take() {
      const taken = Math.min(Math.floor(active), MOST_MS);
      active -= taken;
      return taken;
    },
    /** Put back what could not be reported. @param {number} ms */
    put(ms) {
      active += ms;
    },
  };
}

/**
 * Report at most once a minute, and when the page is left.
 * @param {(ms: number, last: boolean) => Promise<boolean>} report  whether it arrived
 * @returns {() => Promise<void>} report now
 */
export function measure(report) {
  const clock = makeClock();
  const sign = () => clock.sign(performance.now());

  /** @param {boolean} last */
  async function send(last) {
    const ms = clock.take();
    if (ms && !(await report(ms, last))) clock.put(ms);
  }

  sign();
  for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "input", "touchmove"]) {
    document.addEventListener(kind, sign, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clock.rest(performance.now());
    else sign();
  });
  window.addEventListener("pagehide", () => {
    clock.rest(performance.now());
    void send(true);
  });
  setInterval(() => void send(false), REPORT_MS);
  return () => {
    clock.rest(performance.now());
    return send(false);
  };
}

/**
 * Measure the time at work while the trajectory is open, and show it.
 * @param {{open: boolean, active_ms: number, urls: {activity: string}}} page
 * @param {import("../../lib/dom.js").Words} words
 * @returns {() => Promise<void>} report it until now
 */
export function reportWorkTime(page, words) {
  const time = byRole(document, "time", HTMLElement);
  let total = page.active_ms;
  const show = () => setText(time, words("time", { n: Math.round(total / 60_000) }));
  show();
  if (!page.open) return async () => {};
  return measure(async (ms, last) => {
    const answer = await post(page.urls.activity, { active_ms: ms }, { last });
    if (!answer.ok) return answer.reached;
    total += ms;
    show();
    return true;
  });
}
