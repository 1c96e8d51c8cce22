// −1 proposed for the options of a question that are not the right one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { initialState, reduce } from "../../frontend/static/frontend/js/workbench/state/reducer.js";
import { confirmable, labelAt, whyNoOthers } from "../../frontend/static/frontend/js/workbench/state/selectors.js";

const RULES = { suspend_on_user_turn: false, carry_forward: false, propagates: false, others: true };

function begin(rules = RULES) {
  const steps = [6, 2, 4].map((index) => ({ message_index: index, value: null, source: null, root: null, note: "" }));
  return initialState({ open: true, rules, steps, outcome: { value: null, version: 0, note: "" }, preset: 1 });
}

const run = (state, ...actions) => actions.reduce(reduce, state);
const proposed = (state) => state.results.filter((step) => step.proposal).map((step) => step.message_index);

test("proposes for all without a label, in the order that is shown, and goes to the first", () => {
  const state = run(begin(), { type: "value", key: 2, value: 1 }, { type: "others" });
  assert.deepEqual(proposed(state), [6, 4]);
  assert.deepEqual(state.results[0].proposal, { value: -1, root: 6 });
  assert.equal(state.focus, 0);
  assert.deepEqual([...state.dirty], [2]);
  assert.deepEqual(proposed(reduce(state, { type: "others" })), []);
});

test("nothing is proposed unasked, before a +1, or of a pair, and it says why", () => {
  assert.deepEqual(proposed(run(begin(), { type: "value", key: 2, value: 1 })), []);
  assert.equal(whyNoOthers(begin()), "others_first");
  assert.equal(whyNoOthers(run(begin(), { type: "value", key: 2, value: 0 })), "others_first");
  assert.deepEqual(proposed(run(begin(), { type: "others" })), []);
  const pair = run(begin({ ...RULES, others: false }), { type: "value", key: 2, value: 1 }, { type: "others" });
  assert.equal(whyNoOthers(pair), "others_pair");
  assert.deepEqual(proposed(pair), []);
});

test("is confirmed once it has been seen, and undone as one", () => {
  const asked = run(begin(), { type: "value", key: 2, value: 1 }, { type: "others" });
  assert.deepEqual(confirmable(asked), []);
  const seen = run(asked, { type: "seen", index: 6 }, { type: "seen", index: 4 });
  assert.deepEqual(confirmable(seen), [0, 2]);
  const done = reduce(seen, { type: "confirm" });
  assert.deepEqual([labelAt(done, 6).value, labelAt(done, 6).source, labelAt(done, 6).root], [-1, "propagated", 6]);
  assert.equal(whyNoOthers(done), "others_none");
  const back = reduce(done, { type: "undo" });
  assert.deepEqual(proposed(back), [6, 4]);
  assert.equal(labelAt(back, 2).value, 1);
  const gone = run(done, { type: "value", key: 2, value: 0 });
  assert.deepEqual([labelAt(gone, 6).value, labelAt(gone, 4).value], [null, null]);
  assert.deepEqual([labelAt(reduce(gone, { type: "undo" }), 6).value], [-1]);
});
