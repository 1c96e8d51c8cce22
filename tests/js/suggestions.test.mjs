// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { suggestionTarget } from "../../frontend/static/frontend/js/workbench/state/selectors.js";
import { after, makeState } from "./page.mjs";

/** @param {number} position @returns {import("../../frontend/static/frontend/js/workbench/state/reducer.js").Action} */
const focus = (position) => ({ type: "focus", position });
/** @param {number} key @returns {import("../../frontend/static/frontend/js/workbench/state/reducer.js").Action} */
const plus = (key) => ({ type: "value", key, value: 1 });

describe("which step the key for suggestions means", () => {
  /** @param {import("../../frontend/static/frontend/js/workbench/state/reducer.js").State} state */
  const labelled = (state) => (/** @type {number} */ index) => state.labels.get(index)?.value !== null;

  test("the focused one", () => {
    const state = after(makeState(3), plus(2), plus(4), focus(0));
    assert.equal(suggestionTarget(state, labelled(state)), 0);
  });

  test("the one just labelled, when the focus has moved on to one without a label", () => {
    const state = after(makeState(3), plus(2), focus(1));
    assert.equal(suggestionTarget(state, labelled(state)), 0);
  });

  test("not one that was labelled earlier, or that is further away", () => {
    const further = after(makeState(3), plus(2), focus(2));
    assert.equal(suggestionTarget(further, labelled(further)), 2);
    const earlier = after(makeState(4), plus(2), plus(6), focus(1));
    assert.equal(suggestionTarget(earlier, labelled(earlier)), 1);
  });

  test("the focused one, when it has a label of its own", () => {
    const state = after(makeState(3), plus(4), plus(2), focus(1));
    assert.equal(suggestionTarget(state, labelled(state)), 1);
  });
});
