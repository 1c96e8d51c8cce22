// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { effectOf, judged } from "../../frontend/static/frontend/js/case/effects.js";
import { errorRuns } from "../../frontend/static/frontend/js/workbench/state/propagation_preview.js";

/** @typedef {import("../../frontend/static/frontend/js/case/effects.js").CaseStep} CaseStep */

const RULES = { suspend_on_user_turn: false, carry_forward: false };

/** @param {string} text  one character a step: + 0 - and . for an undecided one @returns {CaseStep[]} */
const consensus = (text) =>
  [...text].map((sign, at) => ({
    index: 2 * at + 2,
    after_user_turn: false,
    value: sign === "." ? null : sign === "+" ? 1 : sign === "-" ? -1 : 0,
  }));

describe("what a decision does to the errors", () => {
  test("−1 begins an error, which later −1 belong to, and proposes −1 for what is undecided", () => {
    const effect = effectOf(consensus("+..-"), 4, -1, RULES);
    assert.deepEqual(effect, {
      what: "new",
      root: 4,
      runs: [{ root: 4, members: [8], proposed: [6] }],
    });
  });

  test("−1 while an error is open is its consequence", () => {
    const effect = effectOf(consensus("-.."), 4, -1, RULES);
    assert.deepEqual([effect.what, effect.root], ["joins", 2]);
    assert.deepEqual(effect.runs, [{ root: 2, members: [4], proposed: [6] }]);
  });

  test("−1 whose root somebody names has that one", () => {
    const named = consensus("--.-").map((step) => (step.index === 8 ? { ...step, root: 8 } : step));
    assert.deepEqual(
      effectOf(named, 6, -1, RULES).runs.map(({ root, members }) => [root, members]),
      [
        [2, [4, 6]],
        [8, []],
      ],
    );
    assert.deepEqual(effectOf(named, 6, -1, RULES, 6).what, "new");
  });

  test("+1 ends the open error, and a later −1 begins one of its own", () => {
    const effect = effectOf(consensus("-.-"), 4, 1, RULES);
    assert.deepEqual([effect.what, effect.root], ["ends", 2]);
    assert.deepEqual(
      effect.runs.map((run) => run.root),
      [2, 6],
    );
  });

  test("0 suspends the open error: nothing is proposed, and the next −1 rejoins it", () => {
    const effect = effectOf(consensus("-..-"), 4, 0, RULES);
    assert.deepEqual([effect.what, effect.root], ["suspends", 2]);
    assert.deepEqual(effect.runs, [{ root: 2, members: [8], proposed: [] }]);
  });

  test("+1 ends an error that a 0 has suspended", () => {
    const effect = effectOf(consensus("-0.-"), 6, 1, RULES);
    assert.deepEqual([effect.what, effect.root], ["ends", 2]);
    assert.deepEqual(
      effect.runs.map((run) => run.root),
      [2, 8],
    );
  });

  test("+1 and 0 do nothing where no error is open", () => {
    for (const value of /** @type {const} */ ([1, 0])) {
      assert.deepEqual(effectOf(consensus("+.+"), 4, value, RULES), { what: "none", root: null, runs: [] });
    }
  });

  test("a user's turn suspends it where the subset says so", () => {
    const steps = consensus("-..").map((step, at) => ({ ...step, after_user_turn: at === 1 }));
    assert.deepEqual(errorRuns(judged(steps, { ...RULES, suspend_on_user_turn: true })), [
      { root: 2, members: [], proposed: [] },
    ]);
  });
});
