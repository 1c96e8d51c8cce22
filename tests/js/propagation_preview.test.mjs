// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { resolve } from "../../frontend/static/frontend/js/workbench/state/propagation_preview.js";

/** @typedef {import("../../frontend/static/frontend/js/workbench/state/propagation_preview.js").StepInput} StepInput */
/**
 * @typedef {import("../../frontend/static/frontend/js/workbench/state/propagation_preview.js").StepResult} StepResult
 */
/** @typedef {import("../../frontend/static/frontend/js/workbench/state/propagation_preview.js").Value} Value */

/** @type {{cases: {name: string, rules: string[], steps: string, expected: string}[]}} */
const shared = JSON.parse(readFileSync(new URL("../propagation_cases.json", import.meta.url), "utf-8"));

const TOKEN = /^(u)?(\d+):(x)?(?:\.|([~?])?([+0-])(?:([@!])(\d+))?)$/;

/** @param {string[]} names */
const rulesOf = (names) => ({
  suspend_on_user_turn: names.includes("turn"),
  carry_forward: names.includes("carry"),
  propagates: !names.includes("alone"),
  others: names.includes("others"),
});

/** @param {string} token */
function parse(token) {
  const match = TOKEN.exec(token);
  assert.ok(match, token);
  const [, turn, index, orphan, kind, sign, at, root] = match;
  /** @type {Value | null} */
  const value = sign === undefined ? null : sign === "+" ? 1 : sign === "-" ? -1 : 0;
  return {
    turn: turn !== undefined,
    index: Number(index),
    orphaned: orphan !== undefined,
    kind,
    value,
    pinned: at === "!",
    root: root === undefined ? null : Number(root),
  };
}

/** @param {string} text @returns {StepInput[]} */
export function readSteps(text) {
  return text
    .split(" ")
    .filter(Boolean)
    .map((token) => {
      const t = parse(token);
      return {
        message_index: t.index,
        value: t.value,
        source: t.value === null ? null : t.kind === "~" ? "propagated" : "explicit",
        root: t.root,
        root_pinned: t.pinned,
        after_user_turn: t.turn,
      };
    });
}

/** @param {string} text @returns {Omit<StepResult, "open">[]} */
function readResults(text) {
  return text
    .split(" ")
    .filter(Boolean)
    .map((token) => {
      const t = parse(token);
      const labelled = t.value !== null && t.kind !== "?";
      return {
        message_index: t.index,
        value: labelled ? t.value : null,
        source: labelled ? (t.kind === "~" ? "propagated" : "explicit") : null,
        root: labelled ? t.root : null,
        root_pinned: t.pinned,
        proposal: t.value !== null && t.kind === "?" ? { value: t.value, root: t.root } : null,
        orphaned: t.orphaned,
      };
    });
}

describe("the shared cases", () => {
  for (const { name, rules, steps, expected } of shared.cases) {
    test(name, () => {
      const input = readSteps(steps);
      const results = resolve(input, rulesOf(rules));
      assert.deepEqual(
        results.map(({ open: _open, ...result }) => result),
        readResults(expected),
      );
      const again = input.map((step, i) => {
        const result = results[i];
        assert.ok(result);
        const { value, source, root, root_pinned } = result;
        return { ...step, value, source, root, root_pinned };
      });
      const settled = results.map((result) => ({ ...result, orphaned: false }));
      assert.deepEqual(resolve(again, rulesOf(rules)), settled);
    });
  }
});

test("steps out of order are refused", () => {
  assert.throws(() => resolve(readSteps("4:. 2:."), rulesOf([])), RangeError);
});
