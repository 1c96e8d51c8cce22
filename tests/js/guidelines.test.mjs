// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { guidelineTopic } from "../../frontend/static/frontend/js/workbench/state/selectors.js";
import { after, makeState } from "./page.mjs";

/** @typedef {import("../../frontend/static/frontend/js/workbench/state/reducer.js").Action} Action */

/** @param {number} position @returns {Action} */
const focus = (position) => ({ type: "focus", position });
/** @param {number} key @param {-1 | 0 | 1} value @returns {Action} */
const label = (key, value) => ({ type: "value", key, value });

describe("which part of the guidelines concerns the focused step", () => {
  test("the cases, of a step without a label and of a new error", () => {
    assert.equal(guidelineTopic(makeState(3)), "cases");
    assert.equal(guidelineTopic(after(makeState(3), label(2, -1), focus(0))), "cases");
  });

  test("propagation, of a proposal, of a consequence and of what ends an error", () => {
    assert.equal(guidelineTopic(after(makeState(3), label(2, -1), focus(1))), "propagation");
    assert.equal(guidelineTopic(after(makeState(3), label(2, -1), label(4, -1), focus(1))), "propagation");
    /** @type {Action} */
    const corrected = { type: "edit", key: 4, change: { closes: "corrected" } };
    assert.equal(guidelineTopic(after(makeState(3), label(2, -1), label(4, 1), corrected, focus(1))), "propagation");
  });

  test("the outcome, at the end when only that is missing", () => {
    const labelled = after(makeState(2), label(2, 1), label(4, 1));
    assert.equal(guidelineTopic(after(labelled, focus(1))), "outcome");
    assert.equal(guidelineTopic(after(labelled, focus(0))), "cases");
  });
});
