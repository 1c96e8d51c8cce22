// @ts-check
/**
 * Sends what sync.js puts together, one batch at a time, again and again until it has arrived; and keeps it in the
 * browser until then.
 */

import { newOpId, post, reasonOf } from "../../lib/api.js";
import { afterPaint } from "../../lib/dom.js";
import { knownVersions, nextBatch, restore, retryDelay, takeAnswer, toBackup } from "./sync.js";

/** @typedef {import("../state/reducer.js").State} State */
/** @typedef {import("./sync.js").Batch} Batch */
/** @typedef {import("./sync.js").Backup} Backup */
/**
 * @typedef {"saved" | "saving" | "conflict" | "offline" | "unavailable" | "signed_out" | "closed" | "failed"} Status
 */
/**
 * @typedef {object} Host  what the saver works for
 * @property {() => State} getState
 * @property {(state: State) => void} setState         a state with an answer taken in
 * @property {(status: Status, reason: string) => void} showStatus
 * @property {(kept: Backup | null) => boolean} backUp   in the browser, until it is acknowledged
 * @property {(answer: import("./sync.js").Answer) => void} broadcast   to other windows: what is stored
 * @property {{labels: string, marks: string}} urls
 */

/** A change that was understood and refused as often as this waits until something changes. */
const REFUSALS = 3;

/** @typedef {ReturnType<typeof makeSaver>} Saver */

/** @param {Host} host */
export function makeSaver(host) {
  /** @type {Batch[]} sent or to be sent first, and not acknowledged */
  let batches = [];
  let failures = 0;
  let refusals = 0;
  let stopped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Promise<void> | null} */
  let running = null;

  const backUp = () => host.backUp(toBackup(host.getState(), batches));

  /** @returns {Batch | undefined} the next batch, kept in the browser before it is sent */
  function upcoming() {
    if (!batches.length) {
      const next = nextBatch(host.getState(), newOpId());
      if (next) batches = [next];
    }
    backUp();
    return batches[0];
  }

  /** Send until nothing is left or an answer fails to come. */
  async function run() {
    while (!stopped) {
      const batch = upcoming();
      if (!batch && !host.getState().marksDirty) {
        host.showStatus(
          [...host.getState().problems.values()].some(({ kind }) => kind === "stale") ? "conflict" : "saved",
          "",
        );
        return;
      }
      host.showStatus("saving", "");
      await afterPaint(); // to begin a request takes longer than to draw a label; kept in the browser it is already
      if (stopped || !(await (batch ? sendBatch(batch) : sendMarks()))) return;
    }
  }

  /** @param {Batch} batch @returns {Promise<boolean>} whether to go on */
  async function sendBatch(batch) {
    const answer = await post(host.urls.labels, batch.body);
    if (!answer.ok || !answer.data) {
      // what the server has understood and refused as a whole is put together and tried anew
      return failed(answer, () => void batches.shift());
    }
    failures = refusals = 0;
    batches = batches.filter((one) => one !== batch);
    host.setState(takeAnswer(host.getState(), batch, answer.data));
    host.broadcast({ labels: answer.data.labels, outcome: answer.data.outcome });
    return true;
  }

  async function sendMarks() {
    const { marks } = host.getState();
    const answer = await post(host.urls.marks, marks);
    if (!answer.ok) return failed(answer, () => {});
    failures = refusals = 0;
    const now = host.getState();
    if (now.marks === marks) host.setState({ ...now, marksDirty: false });
    return true;
  }

  /**
   * @param {import("../../lib/api.js").Answer} answer
   * @param {() => void} giveUp
   */
  function failed(answer, giveUp) {
    if (answer.reached && answer.status === 409 && answer.data?.error?.code === "not_open") {
      stopped = true;
      host.showStatus("closed", "");
      return false;
    }
    failures += 1;
    const signedOut = answer.status === 401 || answer.data?.error?.code === "csrf_failed";
    if (!answer.reached) host.showStatus(answer.status === 503 ? "unavailable" : "offline", "");
    else if (signedOut) host.showStatus("signed_out", "");
    else host.showStatus("failed", reasonOf(answer, String(answer.status)));
    const refused = answer.reached && !signedOut;
    if (refused) giveUp();
    refusals = refused ? refusals + 1 : 0;
    if (refusals < REFUSALS) timer = setTimeout(save, retryDelay(failures));
    return false;
  }

  /** Save what there is to save. @returns {Promise<void>} when nothing is under way any more */
  function save() {
    clearTimeout(timer);
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  }

  const pending = () =>
    !stopped && (batches.length > 0 || host.getState().dirty.size > 0 || host.getState().marksDirty);

  return {
    save,
    pending,
    /** Something has changed: keep it in the browser at once, and send it. */
    changed() {
      if (running) backUp();
      refusals = 0;
      return save();
    },
    /** Send what a page that is gone has left. @param {Backup} kept */
    restore(kept) {
      const taken = restore(host.getState(), kept);
      batches = [...batches, ...taken.batches];
      host.setState(taken.state);
      backUp();
      void save();
    },
    /** Somebody looks again: send what waits; with nothing under way, ask what is stored now. */
    async refresh() {
      if (stopped || running || !host.getState().open) return;
      if (pending()) return save();
      const known = knownVersions(host.getState());
      const answer = await post(host.urls.labels, { op_id: newOpId(), changes: [], known_versions: known });
      if (answer.ok && answer.data) host.setState(takeAnswer(host.getState(), null, answer.data));
      else if (answer.data?.error?.code === "not_open") failed(answer, () => {});
    },
    /** Send what is left while the page goes away; the op_id makes it safe to have sent it before. */
    farewell() {
      if (!pending()) return;
      upcoming();
      const state = host.getState();
      for (const { body } of batches) void post(host.urls.labels, body, { last: true });
      const rest = new Set([...state.dirty].filter((key) => !batches.some(({ sent }) => sent.has(key))));
      // kept in the browser as well: if this one is lost, the next visit sends it
      const last = nextBatch({ ...state, dirty: rest }, newOpId());
      if (last) void post(host.urls.labels, last.body, { last: true });
      if (state.marksDirty) void post(host.urls.marks, state.marks, { last: true });
    },
    /** The trajectory has been handed in or given back elsewhere. */
    stop() {
      stopped = true;
      host.showStatus("closed", "");
    },
  };
}
