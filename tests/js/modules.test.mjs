// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";

const home = new URL("../../frontend/", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, home), "utf8");

/** @param {string} name @param {Set<string>} found the modules that a module needs, itself among them */
function needed(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const imports = read(`static/frontend/js/${name}.js`).matchAll(/^(?:import|export)\s[^;]*?from "(\.[^"]+)\.js";/gmu);
  for (const [, other] of imports) needed(posix.join(name, "..", String(other)), found);
  return found;
}

test("the page names every module in advance, and none in vain: one after the other they would be late", () => {
  const page = read("templates/frontend/workbench.html");
  const named = /modules="([\w/ ]+)"/u.exec(page)?.[1]?.split(" ") ?? [];
  const scripts = [...page.matchAll(/<script type="module" src="[^"]*?js\/([\w/]+)\.js/gu)].map(([, name]) => String(name));
  assert.ok(scripts.includes("workbench/main"));
  const wanted = new Set(scripts.flatMap((name) => [...needed(name)]));
  assert.deepEqual(named.toSorted(), [...wanted].toSorted());
});
