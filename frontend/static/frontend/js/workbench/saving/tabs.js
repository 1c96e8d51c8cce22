// @ts-check
/**
 * Other windows with the same assignment: noticed, told what is stored, and outlived.
 */

/** @typedef {import("./sync.js").Answer} Answer */
/** @typedef {{type: "here" | "hello" | "bye", id: string} | {type: "saved", answer: Answer} | {type: "closed"}} Word */
/**
 * @typedef {object} Host
 * @property {string} id
 * @property {string} name                        of the channel
 * @property {(others: number) => void} count     how many other windows there are
 * @property {(answer: Answer) => void} saved     another window has stored something
 * @property {() => void} closed                  another window has handed in or given back
 */

/** @param {Host} host */
export function joinTabs(host) {
  const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(host.name) : null;
  /** @type {Set<string>} */
  const others = new Set();

  /** @param {Word} word */
  const tell = (word) => channel?.postMessage(word);

  channel?.addEventListener("message", ({ data }) => {
    const word = /** @type {Word} */ (data);
    if (word.type === "saved") host.saved(word.answer);
    else if (word.type === "closed") host.closed();
    else {
      if (word.type === "bye") others.delete(word.id);
      else others.add(word.id);
      if (word.type === "hello") tell({ type: "here", id: host.id });
      host.count(others.size);
    }
  });
  tell({ type: "hello", id: host.id });
  window.addEventListener("pagehide", () => tell({ type: "bye", id: host.id }));
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) tell({ type: "hello", id: host.id });
  });
  return { tell, knows: (/** @type {string} */ id) => others.has(id) };
}

/**
 * Hold a name as long as the page lives, so that others can tell whether it is gone.
 * @param {string} name
 */
export function holdOn(name) {
  void navigator.locks?.request(name, () => new Promise(() => {}));
}

/**
 * Do something for the page of that name if it is gone. Only one page gets to do it at a time.
 * @param {string} name
 * @param {() => boolean} answers  whether it has been heard of (where there are no locks: outside HTTPS)
 * @param {() => void} work
 */
export async function ifGone(name, answers, work) {
  if (navigator.locks) await navigator.locks.request(name, { ifAvailable: true }, (lock) => lock && work());
  else if (!answers()) work();
}
