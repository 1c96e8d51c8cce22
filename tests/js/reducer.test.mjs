// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  closedAt,
  confirmable,
  earlierRoots,
  firstMissing,
  focused,
  labelAt,
  nextUnlabelled,
  presetOutcome,
  stepToExplain,
} from "../../frontend/static/frontend/js/workbench/state/selectors.js";
import { initialState, reduce } from "../../frontend/static/frontend/js/workbench/state/reducer.js";
import { after, makePage, makeState, shown } from "./page.mjs";

/** @typedef {import("../../frontend/static/frontend/js/workbench/state/reducer.js").Action} Action */
/** @param {number | "outcome"} key @param {any} value @returns {Action} */
const press = (key, value) => ({ type: "value", key, value });
/** @param {number} index @returns {Action} */
const seen = (index) => ({ type: "seen", index });

describe("alternatives", () => {
  const rules = { propagates: false };

  test("an outcome that only stands there is none, and nothing is missing without it", () => {
    const open = after(makeState(2, { rules, preset: 1 }), press(2, 1), press(4, -1));
    assert.deepEqual([firstMissing(open), presetOutcome(open)], [null, 1]);
    assert.deepEqual([labelAt(open, "outcome").value, open.dirty.has("outcome")], [null, false]);
    const dropped = after(open, press("outcome", -1));
    assert.deepEqual([presetOutcome(dropped), labelAt(dropped, "outcome").value], [null, -1]);
    assert.equal(presetOutcome(after(dropped, { type: "undo" })), 1);
    assert.equal(presetOutcome(makeState(2, { rules, preset: 1, open: false })), null);
    assert.equal(firstMissing(after(makeState(2, { rules }), press(2, 1), press(4, -1))), "outcome");
  });

  test("shown in another order than stored, each keeps its label", () => {
    const page = makePage(3, { rules, preset: 1 });
    const state = after(initialState({ ...page, steps: page.steps.toReversed() }), press(6, -1), press(2, 1));
    assert.deepEqual(
      state.results.map(({ message_index: index, value, root }) => [index, value, root]),
      [
        [6, -1, 6],
        [4, null, null],
        [2, 1, null],
      ],
    );
    assert.deepEqual([firstMissing(state), nextUnlabelled(state, 0)], [1, 1]);
  });
});

describe("labels", () => {
  test("an error proposes to what follows, and shows what it proposes", () => {
    const state = after(makeState(4), press(2, 1), press(4, -1));
    assert.equal(shown(state), "1 -1@4 ?-1@4 ?-1@4");
    assert.deepEqual([...state.dirty], [2, 4]);
  });

  test("pressing the same label again changes nothing", () => {
    const state = after(makeState(2), press(2, 1));
    assert.equal(reduce(state, press(2, 1)), state);
  });

  test("pressing a confirmed fill makes it explicit", () => {
    const filled = after(makeState(3), press(2, -1), seen(4), { type: "confirm" });
    assert.equal(shown(filled), "-1@2 ~-1@2 ?-1@2");
    assert.equal(shown(after(filled, press(4, -1))), "-1@2 -1@2 ?-1@2");
  });

  test("a new value drops the reason and the closing of the old one", () => {
    const state = after(
      makeState(2),
      press(2, -1),
      press(4, 1),
      { type: "edit", key: 4, change: { closes: "corrected", reason: "recovery", note: "kept" } },
      press(4, 0),
    );
    const { closes, reason, note } = labelAt(state, 4);
    assert.deepEqual({ closes, reason, note }, { closes: "", reason: "", note: "kept" });
  });

  test("a question that is left open is asked again with the next label", () => {
    const asked = after(makeState(4), press(2, -1), press(4, 1));
    assert.equal(stepToExplain(asked), 4);
    const left = after(asked, { type: "unasked" });
    assert.equal(stepToExplain(left), null);
    assert.deepEqual(labelAt(left, 4), labelAt(asked, 4), "the label stays");
    assert.equal(left.last, 4, "its keys still mean it");
    assert.equal(reduce(left, { type: "unasked" }), left);
    assert.equal(stepToExplain(after(left, press(6, -1), press(8, 1))), 8);
  });

  test("taking a label back leaves its note", () => {
    const state = after(makeState(1), press(2, 1), { type: "edit", key: 2, change: { note: "why" } }, press(2, null));
    assert.equal(labelAt(state, 2).value, null);
    assert.equal(labelAt(state, 2).note, "why");
  });

  test("nothing can be changed once it is closed", () => {
    const state = after(makeState(2), { type: "close" });
    for (const action of /** @type {Action[]} */ ([press(2, 1), { type: "confirm" }, { type: "undo" }])) {
      assert.equal(reduce(state, action), state);
    }
    assert.equal(after(state, { type: "focus", position: 1 }).focus, 1);
  });
});

describe("roots", () => {
  test("a consequence can be made a new error, and back", () => {
    const state = after(makeState(3), press(2, -1), press(4, -1), { type: "root", key: 4, root: 4 });
    assert.equal(shown(state), "-1@2 -1@4 ?-1@4");
    assert.deepEqual(earlierRoots(state, 6), [2, 4]);
    assert.equal(shown(after(state, { type: "root", key: 4, root: 2 })), "-1@2 -1@2 ?-1@2");
  });

  test("only an error has a root", () => {
    const state = after(makeState(2), press(2, 1));
    assert.equal(reduce(state, { type: "root", key: 2, root: 2 }), state);
  });

  test("a +1 that ends a run knows which", () => {
    const state = after(makeState(3), press(2, -1), press(4, 1), press(6, 1));
    assert.deepEqual([closedAt(state, 2), closedAt(state, 4), closedAt(state, 6)], [null, 2, null]);
  });
});

describe("confirming", () => {
  const run = () => after(makeState(4), press(2, -1), { type: "focus", position: 1 });

  test("a proposal that has not been on screen is not confirmed", () => {
    const state = run();
    assert.deepEqual(confirmable(state), []);
    assert.equal(reduce(state, { type: "confirm" }), state);
  });

  test("confirms up to the first that has not been seen, and focuses the next step", () => {
    const state = after(run(), seen(4), seen(8), { type: "confirm" });
    assert.equal(shown(state), "-1@2 ~-1@2 ?-1@2 ?-1@2");
    assert.equal(focused(state), 6);
  });

  test("passes over labelled steps", () => {
    const state = after(run(), press(6, -1), seen(4), seen(8), { type: "confirm" });
    assert.equal(shown(state), "-1@2 ~-1@2 -1@2 ~-1@2");
  });

  test("what lies before the focus is left alone", () => {
    const state = after(run(), seen(4), seen(6), { type: "focus", position: 2 }, { type: "confirm" });
    assert.equal(shown(state), "-1@2 ?-1@2 ~-1@2 ?-1@2");
  });

  test("can be asked for one step only", () => {
    const state = after(run(), seen(4), seen(6), { type: "confirm", only: true });
    assert.equal(shown(state), "-1@2 ~-1@2 ?-1@2 ?-1@2");
  });

  test("only proposals can be seen, and a proposal that changes has to be seen again", () => {
    const bare = makeState(2);
    assert.equal(reduce(bare, seen(2)), bare);
    const state = after(run(), seen(8));
    assert.equal(state.seen.has(8), true);
    assert.equal(after(state, press(4, -1), { type: "root", key: 4, root: 4 }).seen.has(8), false);
    assert.equal(after(state, press(2, 1)).seen.has(8), false);
  });
});

describe("undo", () => {
  test("one undo takes back a root with all that followed from it, one redo brings it back", () => {
    const full = after(makeState(4), press(2, -1), { type: "focus", position: 1 }, seen(4), seen(6), {
      type: "confirm",
    });
    const changed = after(full, press(2, 1));
    assert.equal(shown(changed), "1 . . .");
    const undone = after(changed, { type: "undo" });
    assert.equal(shown(undone), "-1@2 ~-1@2 ~-1@2 ?-1@2");
    assert.deepEqual([...undone.dirty].sort(), [2, 4, 6]);
    assert.equal(undone.focus, 0);
    assert.equal(shown(after(undone, { type: "redo" })), "1 . . .");
  });

  test("goes back to the beginning and no further", () => {
    const start = makeState(2);
    const state = after(start, press(2, 1), press(4, 0), { type: "undo" }, { type: "undo" });
    assert.equal(shown(state), ". .");
    assert.equal(reduce(state, { type: "undo" }), state);
  });

  test("a new label ends what could be redone", () => {
    const state = after(makeState(2), press(2, 1), { type: "undo" }, press(2, 0));
    assert.equal(reduce(state, { type: "redo" }), state);
  });
});

describe("what is left to do", () => {
  test("the first step without a label comes first, then the outcome", () => {
    let state = after(makeState(3), press(2, -1), press(6, 1));
    assert.equal(firstMissing(state), 1);
    state = after(state, press(4, 0));
    assert.equal(firstMissing(state), "outcome");
    assert.equal(firstMissing(after(state, press("outcome", -1))), null);
  });

  test("a proposal counts as no label, and the search goes round", () => {
    const state = after(makeState(3), press(2, -1), press(6, 1));
    assert.equal(nextUnlabelled(state, 2), 1);
    assert.equal(nextUnlabelled(after(state, press(4, 1)), 0), null);
  });

  test("a page begins at the first step without a label", () => {
    assert.equal(makeState(3, { steps: { 2: { value: 1, source: "explicit" } } }).focus, 1);
  });

  test("the focus stays within the steps", () => {
    const state = makeState(2);
    assert.equal(after(state, { type: "focus", position: 9 }).focus, 1);
    assert.equal(after(state, { type: "focus", position: -3 }).focus, 0);
  });
});
