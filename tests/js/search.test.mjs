// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { following, matches } from "../../frontend/static/frontend/js/lib/search.js";

test("words are found whatever the case of their letters", () => {
  assert.deepEqual(matches("Error: an ERROR", "error"), [
    [0, 5],
    [10, 15],
  ]);
});

test("what looks like a pattern is a text", () => {
  assert.deepEqual(matches("a.b axb (a.b)", "a.b"), [
    [0, 3],
    [9, 12],
  ]);
  for (const odd of ["[", "(", "\\", "*+?", "{1}", "a-z", "x/y"]) assert.equal(matches(`~${odd}~`, odd).length, 1);
});

test("white space stands for any white space", () => {
  assert.deepEqual(matches("two\n  words", "two words"), [[0, 11]]);
});

test("nothing is found for nothing, and no more than is asked for", () => {
  assert.deepEqual(matches("text", "  "), []);
  assert.equal(matches("aaaa", "a", 3).length, 3);
});

test("places are those of the text itself, whatever letters become in small", () => {
  assert.deepEqual(matches("İİ x", "x"), [[3, 4]]);
});

test("the next find goes round the end", () => {
  assert.equal(following(3, 2, 1), 0);
  assert.equal(following(3, 0, -1), 2);
  assert.equal(following(3, -1, 1), 0);
  assert.equal(following(3, -1, -1), 2);
  assert.equal(following(0, -1, 1), -1);
});
