// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { isVisible } from "../../frontend/static/frontend/js/workbench/view/visibility.js";

test("half of a small step is enough", () => {
  assert.equal(isVisible(100, 300, 52, 900), true);
  assert.equal(isVisible(800, 1000, 52, 900), true);
  assert.equal(isVisible(801, 1001, 52, 900), false);
});

test("400 pixels of a tall one are enough", () => {
  assert.equal(isVisible(500, 5000, 52, 900), true);
  assert.equal(isVisible(501, 5000, 52, 900), false);
});

test("what is covered by the bar is not on screen", () => {
  assert.equal(isVisible(0, 100, 52, 900), false);
  assert.equal(isVisible(-48, 152, 52, 900), true);
});

test("what is not on screen at all is not seen", () => {
  assert.equal(isVisible(1000, 1010, 52, 900), false);
  assert.equal(isVisible(-20, -10, 52, 900), false);
});
