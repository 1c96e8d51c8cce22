// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { makeKeys } from "../../frontend/static/frontend/js/workbench/keys.js";

const TABLE = new URL("../../annotation/core/keys.json", import.meta.url);
const { bindings: BINDINGS, actionOf, caps, shortcut } = makeKeys(JSON.parse(readFileSync(TABLE, "utf-8")));

/** @param {Partial<import("../../frontend/static/frontend/js/workbench/keys.js").Press>} press */
const typed = (press) => ({
  key: "",
  code: "",
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...press,
});

describe("keys", () => {
  for (const [name, press, action] of /** @type {const} */ ([
    ["1", { key: "1", code: "Digit1" }, "plus"],
    ["1 on the number pad", { key: "1", code: "Numpad1" }, "plus"],
    ["1 on a French keyboard, where it types &", { key: "&", code: "Digit1" }, "plus"],
    ["0", { key: "0", code: "Digit0" }, "zero"],
    ["-", { key: "-", code: "Minus" }, "minus"],
    ["- on a German keyboard", { key: "-", code: "Slash" }, "minus"],
    ["Shift+1", { key: "!", code: "Digit1", shiftKey: true }, "outcome_plus"],
    ["Shift+-", { key: "_", code: "Minus", shiftKey: true }, "outcome_minus"],
    ["Shift+- on a German keyboard", { key: "_", code: "Slash", shiftKey: true }, "outcome_minus"],
    ["c", { key: "c", code: "KeyC" }, "closes_corrected"],
    ["j", { key: "j", code: "KeyJ" }, "next"],
    ["j with caps lock", { key: "J", code: "KeyJ" }, "next"],
    ["Shift+j", { key: "J", code: "KeyJ", shiftKey: true }, "trajectory_next"],
    ["Shift+k", { key: "K", code: "KeyK", shiftKey: true }, "trajectory_previous"],
    ["arrow up", { key: "ArrowUp", code: "ArrowUp" }, "previous"],
    ["u", { key: "u", code: "KeyU" }, "undo"],
    ["Shift+u", { key: "U", code: "KeyU", shiftKey: true }, "redo"],
    ["Ctrl+Enter", { key: "Enter", code: "Enter", ctrlKey: true }, "submit"],
    ["⌘+Enter", { key: "Enter", code: "Enter", metaKey: true }, "submit"],
    ["Enter", { key: "Enter", code: "Enter" }, "confirm"],
    ["? with Shift", { key: "?", code: "Slash", shiftKey: true }, "help"],
    ["a key without a meaning", { key: "z", code: "KeyZ" }, null],
    ["Ctrl+1 belongs to the browser", { key: "1", code: "Digit1", ctrlKey: true }, null],
    ["Alt+j belongs to the browser", { key: "j", code: "KeyJ", altKey: true }, null],
    ["Ctrl+f belongs to the browser", { key: "f", code: "KeyF", ctrlKey: true }, null],
    ["a key of an input method", { key: "1", code: "Digit1", isComposing: true }, null],
  ])) {
    test(name, () => assert.equal(actionOf(typed(press)), action));
  }

  test("while a field is typed into, only submitting is a command", () => {
    for (const binding of BINDINGS) {
      for (const key of binding.keys) {
        const press = typed({ key: key.key, code: key.code ?? "", shiftKey: !!key.shift, ctrlKey: !!key.ctrl });
        assert.equal(actionOf(press, "field"), binding.id === "submit" ? "submit" : null);
      }
    }
  });

  test("arrows choose among radio buttons, letters and digits still label", () => {
    assert.equal(actionOf(typed({ key: "ArrowDown" }), "radio"), null);
    assert.equal(actionOf(typed({ key: "0", code: "Digit0" }), "radio"), "zero");
  });

  test("a focused button keeps its Enter", () => {
    assert.equal(actionOf(typed({ key: "Enter" }), "control"), null);
    assert.equal(actionOf(typed({ key: "j" }), "control"), "next");
  });
});

describe("Enter alone, where it submits", () => {
  const { actionOf: actionHere } = makeKeys([{ id: "submit", group: "rest", keys: [{ key: "Enter" }] }]);
  for (const [where, action] of /** @type {const} */ ([
    ["", "submit"],
    ["radio", "submit"],
    ["field", null],
    ["control", null],
  ])) {
    test(`in ${where || "the run"}`, () => assert.equal(actionHere(typed({ key: "Enter" }), where), action));
  }
});

describe("the table", () => {
  test("gives every key one meaning", () => {
    const all = BINDINGS.flatMap(({ keys }) => keys.map((key) => JSON.stringify([key.key, !!key.shift, !!key.ctrl])));
    assert.equal(new Set(all).size, all.length);
  });

  test("every binding can be shown and announced", () => {
    for (const { id } of BINDINGS) {
      assert.ok(caps(id).flat().every(Boolean));
      assert.match(shortcut(id), /^\S/);
    }
    assert.equal(shortcut("outcome_minus"), "Shift+-");
    assert.equal(shortcut("submit"), "Control+Enter");
    assert.deepEqual(caps("next"), [["j"], ["↓"]]);
  });
});
