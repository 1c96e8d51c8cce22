// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { makeDrafts } from "../../frontend/static/frontend/js/lib/drafts.js";

const DAY = 24 * 3600 * 1000;

/** A storage whose entries are its own keys, as a browser's are. @returns {Storage} */
function makeStorage() {
  /** @type {any} */
  const storage = Object.create({
    getItem: (/** @type {string} */ key) => storage[key] ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ text) => void (storage[key] = text),
    removeItem: (/** @type {string} */ key) => void delete storage[key],
  });
  return storage;
}

describe("a draft", () => {
  test("is there until it is emptied", () => {
    const storage = makeStorage();
    makeDrafts({ storage }).write("1:7:4:text", "I see it otherwise");
    assert.equal(makeDrafts({ storage }).read("1:7:4:text", 0), "I see it otherwise");
    assert.equal(makeDrafts({ storage }).read("2:7:4:text", 0), "");
    makeDrafts({ storage }).write("1:7:4:text", "  ");
    assert.deepEqual(Object.keys(storage), []);
  });

  test("that was sent is kept until its place holds more", () => {
    const storage = makeStorage();
    const drafts = makeDrafts({ storage });
    drafts.send("a", "sent", 2);
    assert.equal(drafts.read("a", 2), "sent");
    assert.equal(drafts.read("a", 3), "");
    assert.equal(drafts.read("a", 2), "");
  });

  test("goes after a month, and what is no draft at once", () => {
    const storage = makeStorage();
    makeDrafts({ storage, now: () => 0 }).write("old", "text");
    storage.setItem("tristep:draft:odd", "{");
    storage.setItem("tristep:1:2:id", "another's");
    makeDrafts({ storage, now: () => 29 * DAY });
    assert.deepEqual(Object.keys(storage), ["tristep:draft:old", "tristep:1:2:id"]);
    makeDrafts({ storage, now: () => 31 * DAY });
    assert.deepEqual(Object.keys(storage), ["tristep:1:2:id"]);
  });

  test("is nowhere without a storage, and nothing breaks", () => {
    const drafts = makeDrafts({ storage: null });
    assert.equal(drafts.write("a", "text"), false);
    assert.equal(drafts.read("a", 0), "");
  });
});
