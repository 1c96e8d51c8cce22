// @ts-check
/**
 * The workbench's store: the one state of the page, what changes it, and who is told. Without a page, a network or a
 * clock, so that a test can load it; main.js connects it to all of them.
 */

import { initialState, reduce } from "./reducer.js";

/** @typedef {import("./reducer.js").State} State */
/** @typedef {import("./reducer.js").Action} Action */
/**
 * The cause of a change: the person did something, or something came from outside (an answer of the server).
 * @typedef {"action" | "outside"} Cause
 */
/** @typedef {(state: State, cause: Cause) => void} Listener */
/** @typedef {ReturnType<typeof createStore>} Store */

/** @param {Parameters<typeof initialState>[0]} page  what the page was sent with */
export function createStore(page) {
  let state = initialState(page);
  /** @type {Listener[]} told in the order in which they came */
  const listeners = [];

  /** @param {State} next @param {Cause} cause @returns {boolean} whether it is another state */
  function change(next, cause) {
    if (next === state) return false;
    state = next;
    // a listener may change the state again: those after it are told of the newest only
    for (const listener of listeners) listener(state, cause);
    return true;
  }

  return {
    /** @returns {State} */
    get: () => state,
    /** Take over a state that came from outside. @param {State} next */
    replace: (next) => void change(next, "outside"),
    /**
     * Do the acts of the person; listeners are told once, when all are done.
     * @param {Action[]} actions
     * @returns {boolean} whether anything has changed
     */
    dispatch: (...actions) => change(actions.reduce(reduce, state), "action"),
    /** @param {Listener} listener */
    subscribe: (listener) => void listeners.push(listener),
  };
}
