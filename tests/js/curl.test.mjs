// @ts-check
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";

import { addressOf, curlOf, missingOf, quoted } from "../../frontend/static/frontend/js/lib/curl.js";

const HOME = "https://tristep.example.org";
/** @param {string} path @param {[string, string, boolean][]} [parameters] */
const operation = (path, parameters = []) => ({
  method: "GET",
  path,
  parameters: parameters.map(([name, where, required]) => ({ name, where, required, type: "string" })),
  media: "",
  example: "",
});

describe("the address of a request", () => {
  test("holds what is asked for, and nothing that is empty", () => {
    const one = operation("/api/v1/projects/{slug}/trajectories/", [
      ["slug", "path", true],
      ["q", "query", false],
      ["page", "query", false],
    ]);
    const url = addressOf(HOME, one, { slug: "a b/c", q: "x&y=1", page: "" });
    assert.equal(url, `${HOME}/api/v1/projects/a%20b%2Fc/trajectories/?q=x%26y%3D1`);
    assert.deepEqual(missingOf(one, { q: "x" }), ["slug"]);
  });

  for (const path of ["//evil.example/{slug}", "https://evil.example/{slug}", "/admin/{slug}", "/api/{slug}/../x/"]) {
    test(`leads nowhere but to the API: ${path}`, () => {
      assert.throws(() => addressOf(HOME, operation(path), { slug: ".." }));
    });
  }
});

describe("the command", () => {
  test("sends the very bytes, whatever they are, and does not hold the token", () => {
    const body = `{"name": "it's $HOME \\ \"quoted\" \n"}`;
    const command = curlOf({ method: "POST", url: `${HOME}/api/`, media: "application/json", body, file: "" });
    assert.match(command, /Bearer \$TRISTEP_TOKEN"/);
    const script = command.replace("curl", 'printf "%s\\0"');
    const words = execFileSync("sh", ["-c", script], { env: { TRISTEP_TOKEN: "tri_1" } })
      .toString()
      .split("\0");
    assert.deepEqual(words.slice(0, -1), [
      "-X",
      "POST",
      `${HOME}/api/`,
      "-H",
      "Authorization: Bearer tri_1",
      "-H",
      "Content-Type: application/json",
      "--data",
      body,
    ]);
  });

  test("of a file names it", () => {
    const command = curlOf({
      method: "PUT",
      url: HOME,
      media: "application/octet-stream",
      body: "",
      file: "a'b.jsonl",
    });
    assert.ok(command.endsWith(`--data-binary ${quoted("@a'b.jsonl")}`));
  });
});
