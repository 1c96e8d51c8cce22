// @ts-check
/**
 * Sends what the queue says, one batch at a time, again and again until it has arrived.
 */

import { newOpId, post, reasonOf } from "./api.js";
import { nextBatch, retryDelay, stored } from "./queue.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./queue.js").Batch} Batch */
/** @typedef {"saved" | "saving" | "unsaved" | "offline" | "signed_out" | "closed" | "failed"} Status */
/**
 * @typedef {object} Host  what the saver works for
 * @property {() => State} get
 * @property {(state: State) => void} set            a state with an answer taken in
 * @property {(status: Status, reason: string) => void} tell
 * @property {string} url
 * @property {string} csrf
 */

/** @param {Host} host */
export function makeSaver(host) {
  /** @type {Batch | null} */
  let batch = null;
  let failures = 0;
  let stopped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Promise<void> | null} */
  let running = null;

  /** Send until nothing is left or an answer fails to come. */
  async function run() {
    while (!stopped) {
      batch ??= nextBatch(host.get(), newOpId());
      if (!batch) {
        host.tell("saved", "");
        return;
      }
      host.tell("saving", "");
      const answer = await post(host.url, batch.body, host.csrf);
      if (answer.ok && answer.data) {
        failures = 0;
        const done = batch;
        batch = null;
        host.set(stored(host.get(), done, answer.data));
        continue;
      }
      if (answer.reached && answer.status === 409 && answer.data?.error?.code === "not_open") {
        stopped = true;
        host.tell("closed", "");
        return;
      }
      failures += 1;
      const signedOut = answer.status === 401 || answer.status === 403;
      if (!answer.reached) host.tell("offline", "");
      else if (signedOut) host.tell("signed_out", "");
      else host.tell("failed", reasonOf(answer, String(answer.status)));
      // what the server has understood and refused as a whole is taken apart and tried anew
      if (answer.reached && !signedOut) batch = null;
      timer = setTimeout(save, retryDelay(failures));
      return;
    }
  }

  /** Save what there is to save. @returns {Promise<void>} when nothing is under way any more */
  function save() {
    clearTimeout(timer);
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  }

  return {
    save,
    /** Whether something is not known to be stored. */
    pending: () => !stopped && (batch !== null || host.get().dirty.size > 0),
    /** Send what is left while the page goes away; the op_id makes it safe to have sent it before. */
    farewell() {
      const last = batch ?? nextBatch(host.get(), newOpId());
      if (last && !stopped) void post(host.url, last.body, host.csrf, { last: true });
    },
  };
}
