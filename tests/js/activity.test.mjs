// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { IDLE_MS, MOST_MS, makeClock } from "../../frontend/static/frontend/js/workbench/saving/activity.js";

describe("time at work", () => {
  test("is the time between signs of life", () => {
    const clock = makeClock();
    for (const now of [0, 500, 30_000.7]) clock.sign(now);
    assert.equal(clock.take(), 30_000);
    assert.equal(clock.take(), 0);
  });

  test("leaves out pauses of more than a minute, and hidden pages", () => {
    const clock = makeClock();
    clock.sign(0);
    clock.sign(1000);
    clock.sign(1001 + IDLE_MS);
    clock.rest(2001 + IDLE_MS);
    clock.sign(900_000);
    clock.sign(900_010);
    assert.equal(clock.take(), 1000 + 1000 + 10);
  });

  test("that could not be reported is reported later, in parts that the server takes", () => {
    const clock = makeClock();
    clock.put(MOST_MS + 5);
    assert.equal(clock.take(), MOST_MS);
    assert.equal(clock.take(), 5);
  });
});
