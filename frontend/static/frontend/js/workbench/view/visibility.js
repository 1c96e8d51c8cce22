// @ts-check
/**
 * Steps that have been on screen: at least half of one, or 400 px of a tall one, for 150 ms without a break.
 */

const ENOUGH_PIXELS = 400;
const LONG_ENOUGH = 150;

/**
 * Whether enough of something is on screen.
 * @param {number} top
 * @param {number} bottom   of the thing, in the window
 * @param {number} from
 * @param {number} to       of the part of the window that is not covered
 */
export function isVisible(top, bottom, from, to) {
  const visible = Math.min(bottom, to) - Math.max(top, from);
  return visible > 0 && visible >= Math.min((bottom - top) / 2, ENOUGH_PIXELS);
}

/**
 * @param {object} options
 * @param {(index: number) => boolean} options.wanted       whether it matters that this one is seen
 * @param {(index: number) => void} options.seen            it has been seen
 * @param {() => number} options.coveredTop      how many pixels of the window's top are covered
 * @param {() => number} options.visibleBottom   where in the window something covers its bottom, or it ends
 */
export function watchVisibility({ wanted, seen, coveredTop, visibleBottom }) {
  /** @type {Map<number, Element>} by message index */
  const elements = new Map();
  /** @type {Set<number>} */
  const near = new Set();
  /** @type {Map<number, ReturnType<typeof setTimeout>>} */
  const timers = new Map();
  /** @type {Map<Element, number>} */
  const indexes = new Map();
  let asked = false;

  /** @param {number} index */
  function stop(index) {
    clearTimeout(timers.get(index));
    timers.delete(index);
  }

  /** @param {number} index */
  function isOn(index) {
    const box = elements.get(index)?.getBoundingClientRect();
    return box !== undefined && isVisible(box.top, box.bottom, coveredTop(), visibleBottom());
  }

  function look() {
    asked = false;
    for (const index of near) {
      if (!wanted(index) || document.hidden || !isOn(index)) stop(index);
      else if (!timers.has(index)) timers.set(index, setTimeout(arrive, LONG_ENOUGH, index));
    }
  }

  /** @param {number} index */
  function arrive(index) {
    timers.delete(index);
    if (wanted(index) && !document.hidden && isOn(index)) seen(index);
  }

  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(look);
  }

  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const index = indexes.get(entry.target);
      if (index === undefined) continue;
      if (entry.isIntersecting) near.add(index);
      else {
        near.delete(index);
        stop(index);
      }
    }
    ask();
  });
  window.addEventListener("scroll", ask, { passive: true });
  window.addEventListener("resize", ask, { passive: true });
  document.addEventListener("visibilitychange", ask);
  return {
    /** Look again: what is wanted has changed. */
    ask,
    /** @param {number} index @param {Element} element */
    add(index, element) {
      elements.set(index, element);
      indexes.set(element, index);
      observer.observe(element);
    },
    /** @param {number} index @param {Element} element */
    remove(index, element) {
      observer.unobserve(element);
      elements.delete(index);
      indexes.delete(element);
      near.delete(index);
      stop(index);
    },
  };
}
