// @ts-check
/**
 * The order in which steps are drawn. The step that a key was about is drawn at once. A −1 may change ninety
 * proposals: those on screen follow a frame later; those far away when they come near, or when the browser has nothing
 * else to do. So do the counters, the controls of far steps, and the details of a label (why, since when): filling a
 * list takes longer than everything else about a key. The renderer does the drawing.
 */

import { afterPaint, whenIdle } from "../../lib/dom.js";

/** The distances from the window within which a step is drawn soon, and gets its controls. */
const NEAR = "0px";
const FAR = "100% 0px";
/** The time after which browsers have looked at a new page's fields, in ms. */
const LOOKED = 1000;

/**
 * @typedef {object} Render   what there is to draw; steps by message index
 * @property {(index: number) => void} step       what is seen of it at once
 * @property {(index: number) => void} details    what can wait
 * @property {(index: number) => void} controls   make them, if they are not there yet
 * @property {() => void} counters                what belongs to the whole trajectory
 */

/** @param {Render} render */
export function makeRenderQueue(render) {
  /** @type {Set<number>} steps that do not show what they are to show */
  const late = new Set();
  /** @type {Set<number>} steps whose details are not those of what they show */
  const undetailed = new Set();
  /** @type {Set<number>} steps without controls as yet */
  const bare = new Set();
  /** @type {Set<number>} */
  const near = new Set();
  let countersDue = false;
  let waiting = false;
  // not before: browsers look at every field when a page has come, and would lay out every step for it
  let loaded = document.readyState === "complete";

  const watchers = [
    whenNear(NEAR, (index, isNear) => {
      if (isNear) near.add(index);
      else near.delete(index);
      if (isNear) drawNow(index);
    }),
    whenNear(FAR, (index, isNear) => {
      if (isNear) render.controls(index);
    }),
  ];
  window.addEventListener("load", () => {
    setTimeout(() => {
      loaded = true;
      work();
    }, LOOKED);
  });

  /** @param {string} rootMargin @param {(index: number, isNear: boolean) => void} tell */
  function whenNear(rootMargin, tell) {
    const told = (/** @type {IntersectionObserverEntry[]} */ entries) => {
      for (const { target, isIntersecting } of entries) {
        if (target instanceof HTMLElement) tell(Number(target.dataset.step), isIntersecting);
      }
    };
    return new IntersectionObserver(told, { rootMargin });
  }

  /** @param {number} index */
  function drawNow(index) {
    if (!late.delete(index)) return;
    render.step(index);
    undetailed.add(index);
  }

  /** Do the remaining work, a little at a time. */
  function work() {
    if (waiting || !(countersDue || late.size || undetailed.size || (loaded && bare.size))) return;
    waiting = true;
    whenIdle((more) => {
      waiting = false;
      if (countersDue) render.counters();
      countersDue = false;
      for (const index of undetailed) {
        if (!more()) break;
        undetailed.delete(index);
        if (!late.has(index)) render.details(index);
      }
      for (const index of late) {
        if (!more()) break;
        drawNow(index);
      }
      for (const index of loaded ? bare : []) {
        if (!more()) break;
        render.controls(index);
      }
      work();
      // laid out now, while there is time, or the next key would have to wait for it
      document.documentElement.getBoundingClientRect();
    });
  }

  return {
    /** A step has come to the page. @param {number} index @param {HTMLElement} article */
    add(index, article) {
      bare.add(index);
      for (const watcher of watchers) watcher.observe(article);
      work();
    },
    /** A step has left the page. @param {number} index @param {HTMLElement} article */
    remove(index, article) {
      for (const steps of [late, undetailed, bare, near]) steps.delete(index);
      for (const watcher of watchers) watcher.unobserve(article);
    },
    drawNow,
    /** A step is to show something else. @param {number} index */
    changed: (index) => void late.add(index),
    /** A step has got its controls; they lack their details. @param {number} index */
    controlsMade(index) {
      bare.delete(index);
      undetailed.add(index);
      work();
    },
    /** Draw what has changed: on screen with the next frame, and the rest in time. */
    flush() {
      countersDue = true;
      if (late.size) void afterPaint().then(() => near.forEach(drawNow));
      work();
    },
    /** Whether a step is drawn as it should be. @param {number} index */
    isDrawn: (index) => !late.has(index),
  };
}
