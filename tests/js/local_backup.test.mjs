// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { merge } from "../../frontend/static/frontend/js/workbench/state/merge.js";
import { NO_LABEL } from "../../frontend/static/frontend/js/workbench/state/labels.js";
import { makeLocalBackup } from "../../frontend/static/frontend/js/workbench/saving/local_backup.js";
import { nextBatch, restore, takeAnswer, toBackup } from "../../frontend/static/frontend/js/workbench/saving/sync.js";
import { labelAt } from "../../frontend/static/frontend/js/workbench/state/selectors.js";
import { after, answer, makeState, shown } from "./page.mjs";

/** @typedef {import("../../frontend/static/frontend/js/workbench/state/reducer.js").State} State */
/** @param {number | "outcome"} key @param {any} value @returns {any} */
const press = (key, value) => ({ type: "value", key, value });
/** @template T @param {T} value @returns {T} as it comes out of the browser's storage */
const reread = (value) => JSON.parse(JSON.stringify(value));

/** @param {State} state @param {string} [id] */
function batchOf(state, id = "op") {
  const batch = nextBatch(state, id);
  assert.ok(batch);
  return batch;
}

/**
 * @param {State} state
 * @param {readonly import("../../frontend/static/frontend/js/workbench/saving/sync.js").Batch[]} batches
 */
function keptOf(state, batches) {
  const kept = toBackup(state, batches);
  assert.ok(kept);
  return reread(kept);
}

describe("what is kept in the browser", () => {
  test("nothing, once everything is stored", () => {
    const state = after(makeState(2), press(2, 1));
    const batch = batchOf(state);
    assert.equal(toBackup(makeState(2), []), null);
    assert.equal(toBackup(takeAnswer(state, batch, answer(state, batch)), []), null);
  });

  test("the batch under way as it was sent, and what was edited since", () => {
    const state = after(makeState(3), press(2, 1), press(4, 0));
    const batch = batchOf(state);
    const edited = after(state, press(4, -1), press(6, 0));
    const kept = keptOf(edited, [batch]);
    assert.deepEqual(kept.ops[0]?.body, reread(batch.body));
    assert.deepEqual(
      kept.edits.map(({ key, label }) => [key, label.value]),
      [
        [4, -1],
        [6, 0],
      ],
    );
  });

  test("a page that takes it up shows the same labels, and sends the same batch first", () => {
    const state = after(makeState(3), press(2, 1), press(4, -1), press("outcome", 0));
    const batch = batchOf(state);
    const edited = after(state, press(6, 0), { type: "edit", key: 2, change: { note: "n" } });
    const taken = restore(makeState(3), keptOf(edited, [batch]));
    assert.equal(shown(taken.state), shown(edited));
    assert.deepEqual(taken.batches[0]?.body, reread(batch.body));
    assert.deepEqual([...taken.state.dirty].sort(), [2, 4, 6, "outcome"]);
  });

  test("a batch that had arrived before the crash is acknowledged, and the rest goes on from there", () => {
    const state = after(makeState(2), press(2, 1));
    const batch = batchOf(state);
    const edited = after(state, press(2, -1), press(4, 0));
    const arrived = { 2: { value: 1, source: "explicit", version: 1 } };
    const { state: page, batches } = restore(makeState(2, { steps: arrived }), keptOf(edited, [batch]));
    assert.equal(shown(page), "-1@2 0");
    const replay = batches[0];
    assert.ok(replay);
    const reply = {
      results: [{ target: "step", message_index: 2, status: "saved", reason: "" }],
      labels: [{ ...NO_LABEL, message_index: 2, value: 1, source: "explicit", version: 1 }],
      outcome: { ...NO_LABEL, version: 0 },
    };
    const next = takeAnswer(page, replay, reply);
    assert.equal(shown(next), "-1@2 0");
    assert.equal(next.problems.size, 0);
    const changes = /** @type {any[]} */ (batchOf(next).body.changes);
    assert.deepEqual(
      changes.map(({ message_index, version, value }) => [message_index, version, value]),
      [
        [2, 1, -1],
        [4, 0, 0],
      ],
    );
  });

  test("what somebody changed meanwhile is not overwritten: the conflict is told", () => {
    const kept = keptOf(after(makeState(2), press(2, 1), press(4, 1)), []);
    const page = makeState(2, { steps: { 2: { value: -1, source: "explicit", root: 2, version: 1 } } });
    const { state } = restore(page, kept);
    assert.equal(shown(state), "-1@2 1");
    assert.deepEqual([...state.dirty], [4]);
    assert.equal(state.problems.get(2)?.mine.value, 1);
  });

  test("what is being edited in this page already stays", () => {
    const kept = keptOf(after(makeState(2), press(2, 1), press(4, 1)), []);
    const { state } = restore(after(makeState(2), press(2, 0)), kept);
    assert.equal(shown(state), "0 1");
  });

  test("flags on the whole are kept as well", () => {
    const kept = keptOf(after(makeState(1), { type: "mark", change: { broken: true } }), []);
    const { state } = restore(makeState(1), kept);
    assert.deepEqual([state.marks, state.marksDirty], [{ needs_discussion: false, broken: true }, true]);
  });

  test("a page that is not open takes nothing up", () => {
    const kept = keptOf(after(makeState(1), press(2, 1)), []);
    assert.equal(shown(restore(makeState(1, { open: false }), kept).state), ".");
  });
});

describe("labels from another window", () => {
  /** @param {State} state @param {number} index @param {object} label */
  const word = (state, index, label) => ({
    labels: [{ ...labelAt(state, index), message_index: index, ...label }],
    outcome: { ...NO_LABEL, version: 0 },
  });

  test("appear here, with a word about it, and undoing leaves them", () => {
    const state = after(makeState(2), press(2, 1));
    const next = takeAnswer(state, null, word(state, 4, { value: 0, source: "explicit", version: 1 }));
    assert.equal(shown(next), "1 0");
    assert.equal(next.problems.get(4)?.kind, "elsewhere");
    assert.equal(shown(after(next, { type: "undo" })), ". 0");
  });

  test("older than what is known here change nothing", () => {
    const state = makeState(1, { steps: { 2: { value: 1, source: "explicit", version: 3 } } });
    assert.equal(shown(takeAnswer(state, null, word(state, 2, { value: 0, version: 2 }))), "1");
  });

  test("never overwrite, nor are overwritten by, what is not sent yet", () => {
    const state = after(makeState(2), press(4, 1));
    const next = takeAnswer(state, null, word(state, 4, { value: -1, source: "explicit", root: 4, version: 1 }));
    assert.equal(shown(next), ". -1@4");
    assert.deepEqual([next.problems.get(4)?.kind, next.problems.get(4)?.mine.value], ["stale", 1]);
    assert.equal(next.dirty.size, 0);
  });
});

describe("merging one label", () => {
  const base = { ...NO_LABEL, value: /** @type {const} */ (1), source: /** @type {const} */ ("explicit") };

  test("a mark here and a judgement there go together", () => {
    const { label, conflict } = merge(base, { ...base, flagged: true }, { ...base, value: 0 });
    assert.deepEqual([label.value, label.flagged, conflict], [0, true, false]);
  });

  test("two notes stand one after the other", () => {
    assert.equal(merge(base, { ...base, note: "mine" }, { ...base, note: "theirs" }).label.note, "theirs\n\nmine");
  });

  test("a fill that the rule took back gives way to a judgement", () => {
    const fill = { ...base, value: /** @type {const} */ (-1), source: /** @type {const} */ ("propagated"), root: 2 };
    const orphan = { ...NO_LABEL };
    assert.deepEqual(merge(fill, base, orphan), { label: base, conflict: false });
  });

  test("the same judgement twice is no conflict", () => {
    const other = { ...base, value: /** @type {const} */ (0) };
    assert.equal(merge(base, other, { ...other }).conflict, false);
  });
});

describe("the browser's storage", () => {
  /** @param {Record<string, string>} entries */
  function storageOf(entries) {
    const methods = {
      getItem: (/** @type {string} */ name) => entries[name] ?? null,
      setItem: (/** @type {string} */ name, /** @type {string} */ text) => void (entries[name] = text),
      removeItem: (/** @type {string} */ name) => void delete entries[name],
    };
    Object.setPrototypeOf(entries, methods);
    return /** @type {Storage} */ (/** @type {unknown} */ (entries));
  }
  /** @type {import("../../frontend/static/frontend/js/workbench/saving/sync.js").Backup} */
  const kept = { v: 1, ops: [], edits: [], marks: null };

  test("holds one's own entry until it is cleared, and sees those of the same person and assignment", () => {
    const storage = storageOf({
      "tristep:1:7:old": JSON.stringify(kept),
      "tristep:2:7:else": "{}",
      "tristep:1:70:x": "{}",
    });
    const outbox = makeLocalBackup({ storage, user: 1, assignment: 7, id: "me" });
    assert.equal(outbox.write(kept), true);
    assert.deepEqual(outbox.others(), ["tristep:1:7:old"]);
    assert.deepEqual(outbox.read("tristep:1:7:old"), kept);
    assert.equal(outbox.read("tristep:2:7:else"), null);
    outbox.write(null);
    assert.equal(storage.getItem(outbox.own), null);
  });

  test("that is missing or full is no reason to stop", () => {
    const full = { setItem: () => assert.fail("full") };
    for (const storage of [null, /** @type {Storage} */ (/** @type {unknown} */ (full))]) {
      const outbox = makeLocalBackup({ storage, user: 1, assignment: 7, id: "me" });
      assert.equal(outbox.write(kept), false);
      assert.equal(outbox.write(null), outbox.write(null));
    }
  });
});
