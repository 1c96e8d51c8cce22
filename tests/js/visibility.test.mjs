// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { enough } from "../../frontend/static/frontend/js/workbench/visibility.js";

test("half of a small step is enough", () => {
  assert.equal(enough(100, 300, 52, 900), true);
  assert.equal(enough(800, 1000, 52, 900), true);
  assert.equal(enough(801, 1001, 52, 900), false);
});

test("400 pixels of a tall one are enough", () => {
  assert.equal(enough(500, 5000, 52, 900), true);
  assert.equal(enough(501, 5000, 52, 900), false);
});

test("what is covered by the bar is not on screen", () => {
  assert.equal(enough(0, 100, 52, 900), false);
  assert.equal(enough(-48, 152, 52, 900), true);
});

test("what is not on screen at all is not seen", () => {
  assert.equal(enough(1000, 1010, 52, 900), false);
  assert.equal(enough(-20, -10, 52, 900), false);
});
