// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { nextBatch, retryDelay, takeAnswer } from "../../frontend/static/frontend/js/workbench/saving/sync.js";
import { labelAt } from "../../frontend/static/frontend/js/workbench/state/selectors.js";
import { after, answer, makeState, shown } from "./page.mjs";

/** @typedef {import("../../frontend/static/frontend/js/workbench/state/reducer.js").State} State */
/** @param {number | "outcome"} key @param {any} value @returns {any} */
const press = (key, value) => ({ type: "value", key, value });

/** @param {State} state */
function batchOf(state) {
  const batch = nextBatch(state, "op");
  assert.ok(batch);
  return batch;
}

describe("a batch", () => {
  test("there is none when nothing has changed", () => {
    assert.equal(nextBatch(makeState(2), "op"), null);
  });

  test("holds what has changed, in the order of the steps, with the versions it is based on", () => {
    const state = after(
      makeState(3, { steps: { 4: { version: 7 } } }),
      press("outcome", -1),
      press(6, 0),
      press(4, -1),
    );
    const { body } = batchOf(state);
    const changes = /** @type {any[]} */ (body.changes);
    assert.equal(body.op_id, "op");
    assert.deepEqual(
      changes.map(({ target, message_index, version, value }) => [target, message_index, version, value]),
      [
        ["step", 4, 7, -1],
        ["step", 6, 0, 0],
        ["outcome", null, 0, -1],
      ],
    );
    assert.deepEqual([changes[0].source, changes[0].root, changes[0].root_pinned], ["explicit", 4, false]);
  });

  test("does not hold what merely follows from a change", () => {
    const full = after(makeState(3), press(2, -1), { type: "seen", index: 4 }, { type: "confirm" });
    const saved = takeAnswer(full, batchOf(full), answer(full, batchOf(full)));
    const changed = after(saved, press(2, 1));
    assert.equal(shown(changed), "1 . .");
    assert.deepEqual(
      /** @type {any[]} */ (batchOf(changed).body.changes).map((change) => change.message_index),
      [2],
    );
  });
});

describe("an answer", () => {
  test("makes clean what it stored, and draws nothing anew", () => {
    const state = after(makeState(2), press(2, 1));
    const next = takeAnswer(state, batchOf(state), answer(state, batchOf(state)));
    assert.equal(next.dirty.size, 0);
    assert.equal(next.versions.get(2), 1);
    assert.equal(labelAt(next, 2), labelAt(state, 2));
  });

  test("leaves alone what was edited since, on its new version", () => {
    const state = after(makeState(2), press(2, 1));
    const batch = batchOf(state);
    const edited = after(state, press(2, -1), press(4, 0));
    const next = takeAnswer(edited, batch, answer(state, batch));
    assert.equal(shown(next), "-1@2 0");
    assert.deepEqual([...next.dirty], [2, 4]);
    assert.equal(next.versions.get(2), 1);
  });

  test("a stale label shows what is stored, and says what was not", () => {
    const state = after(makeState(2), press(2, 1), press(4, 1));
    const batch = batchOf(state);
    const reply = answer(state, batch, { 2: { status: "stale", reason: "Changed elsewhere." } });
    reply.labels[0] = { ...reply.labels[0], value: 0, source: "explicit", version: 5 };
    const next = takeAnswer(state, batch, reply);
    assert.equal(shown(next), "0 1");
    assert.deepEqual(next.problems.get(2), { kind: "stale", mine: labelAt(state, 2), reason: "" });
    assert.equal(next.versions.get(2), 5);
    assert.equal(next.dirty.size, 0);
    assert.equal(after(next, press(2, 1)).problems.size, 0);
    assert.equal(shown(after(next, { type: "keepMine", key: 2 })), "1 1");
    assert.equal(shown(after(next, { type: "undo" })), "0 .", "undoing leaves what others have changed");
  });

  /** Another window stores a value for step 2. @param {State} state @param {any} value @param {number} version */
  function storedElsewhere(state, value, version) {
    const label = { ...labelAt(state, 2), value, source: "explicit", root: value === -1 ? 2 : null };
    const outcome = { ...labelAt(state, "outcome"), version: 0 };
    return takeAnswer(state, null, { labels: [{ ...label, message_index: 2, version }], outcome });
  }

  test("a conflict is settled when both windows agree, whoever gives way", () => {
    const state = after(makeState(2), press(2, 1), press(4, 1));
    const batch = batchOf(state);
    const reply = answer(state, batch, { 2: { status: "stale", reason: "Changed elsewhere." } });
    reply.labels[0] = { ...reply.labels[0], value: 0, source: "explicit", version: 5 };
    const next = takeAnswer(state, batch, reply);
    assert.equal(after(next, press(2, 0)).problems.size, 0, "the same is pressed here");
    assert.equal(storedElsewhere(next, 1, 6).problems.size, 0, "the other window stores what was meant here");
    assert.equal(storedElsewhere(next, -1, 6).problems.get(2)?.kind, "stale", "a third value settles nothing");
  });

  test("a change elsewhere is told until it is undone there, agreed to here, or something is done here", () => {
    const told = storedElsewhere(makeState(2), 1, 3);
    assert.equal(told.problems.get(2)?.kind, "elsewhere");
    assert.equal(after(told, press(2, 1)).problems.size, 0);
    assert.equal(after(told, press(4, 0)).problems.size, 0);
    assert.equal(after(told, { type: "focus", position: 1 }).problems.size, 1);
  });

  test("a refused outcome is told as well", () => {
    const state = after(makeState(1), press("outcome", 1));
    const batch = batchOf(state);
    const reply = answer(state, batch, { outcome: { status: "refused", reason: "No." } });
    reply.outcome = { ...reply.outcome, value: null };
    const next = takeAnswer(state, batch, reply);
    assert.equal(labelAt(next, "outcome").value, null);
    assert.equal(next.problems.get("outcome")?.kind, "refused");
  });

  test("brings in what another window has labelled meanwhile", () => {
    const state = after(makeState(2), press(2, 1));
    const batch = batchOf(state);
    const reply = answer(state, batch);
    reply.labels[1] = { ...reply.labels[1], value: -1, source: "explicit", root: 4, version: 3 };
    const next = takeAnswer(state, batch, reply);
    assert.equal(shown(next), "1 -1@4");
    assert.equal(next.versions.get(4), 3);
  });
});

test("tries come further and further apart, up to five seconds", () => {
  assert.deepEqual([1, 2, 3, 9].map(retryDelay), [1000, 2000, 4000, 5000]);
});
