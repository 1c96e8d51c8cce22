// @ts-check
/** Work that can wait: done when the browser has nothing better to do, a little at a time. */

/** For so long at once, where the browser does not say how long it has. */
const A_WHILE = 4;
/** At the latest so soon. */
const LATEST = 250;

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
