// @ts-check
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, test } from "node:test";

import { form, get, post, reasonOf } from "../../frontend/static/frontend/js/lib/api.js";

const SCRIPTS = new URL("../../frontend/static/frontend/js/", import.meta.url);

/** @type {any} */
const world = globalThis;
const { fetch: nativeFetch } = globalThis;
/** @type {{url: string, init: any}[]} */
let requests = [];

/** Answer every request like this. @param {() => Response} answer */
function answering(answer) {
  world.fetch = async (/** @type {string} */ url, /** @type {any} */ init) => {
    requests.push({ url, init });
    return answer();
  };
}

beforeEach(() => {
  requests = [];
  world.document = { cookie: "a=b; csrftoken=fresh", documentElement: { lang: "zh-hans" } };
});
afterEach(() => {
  world.fetch = nativeFetch;
  delete world.document;
});

/** @param {unknown} data @param {number} status */
const json =
  (data, status = 200) =>
  () =>
    new Response(JSON.stringify(data), { status });

describe("an answer", () => {
  for (const [name, answer, expected] of /** @type {const} */ ([
    ["is its data", json({ n: 1 }), { reached: true, ok: true, status: 200, data: { n: 1 } }],
    ["that refuses has been reached", json({ n: 2 }, 409), { reached: true, ok: false, status: 409, data: { n: 2 } }],
    [
      "without JSON says its status",
      () => new Response("<p>", { status: 403 }),
      { reached: true, ok: false, status: 403, data: null },
    ],
    ["of a server in trouble asks to try again", json({}, 503), { reached: false, ok: false, status: 503, data: {} }],
    [
      "of a server that is asked too often asks to try again",
      json({}, 429),
      { reached: false, ok: false, status: 429, data: {} },
    ],
  ])) {
    test(name, async () => {
      answering(answer);
      assert.deepEqual(await get("/x/"), { redirected: false, ...expected });
    });
  }

  test("that never comes is told like one that cannot be reached", async () => {
    answering(() => assert.fail("no network"));
    assert.deepEqual(await post("/x/", {}), { reached: false, ok: false, status: 0, redirected: false, data: null });
  });

  test("that leads elsewhere is not followed", async () => {
    answering(() => /** @type {any} */ ({ type: "opaqueredirect", status: 0, ok: false }));
    assert.equal((await get("/x/")).redirected, true);
    assert.equal(requests[0]?.init.redirect, "manual");
  });

  test("with a sentence gives it as the reason", async () => {
    answering(json({ error: { message: "Too late." } }, 400));
    assert.equal(reasonOf(await get("/x/"), "400"), "Too late.");
    assert.equal(reasonOf({ reached: true, ok: false, status: 400, redirected: false, data: null }, "400"), "400");
  });
});

describe("a request", () => {
  test("with JSON carries the token as it is now, and the language of the page", async () => {
    answering(json({}));
    await post("/labels/", { n: 1 }, { last: true });
    const { method, body, headers, keepalive } = requests[0]?.init;
    assert.deepEqual([method, body, keepalive], ["POST", '{"n":1}', true]);
    assert.deepEqual([headers["X-CSRFToken"], headers["Accept-Language"]], ["fresh", "zh-hans"]);
  });

  test("that is refused while one signs in in another tab is sent again with the new token, once", async () => {
    answering(() => {
      world.document.cookie = `csrftoken=${["newer", "newest"][requests.length - 1] ?? "newest of all"}`;
      return new Response("", { status: 403 });
    });
    assert.equal((await post("/labels/", {})).status, 403);
    assert.deepEqual(
      requests.map(({ init }) => init.headers["X-CSRFToken"]),
      ["fresh", "newer"],
    );
  });

  test("that is refused for another reason is not sent again", async () => {
    answering(json({}, 403));
    await form("/members/", new FormData());
    assert.equal(requests.length, 1);
  });

  test("with a form carries the token as one of its fields", async () => {
    answering(json({}));
    const data = new FormData();
    data.set("csrfmiddlewaretoken", "stale");
    await form("/decide/", data);
    assert.equal(requests[0]?.init.body.get("csrfmiddlewaretoken"), "fresh");
  });
});

test("no other module talks to the server", () => {
  const talks = /\bfetch\(|XMLHttpRequest|sendBeacon|EventSource|WebSocket/u;
  const files = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
  assert.ok(files.length > 20);
  assert.deepEqual(
    files.filter((name) => talks.test(readFileSync(new URL(name, SCRIPTS), "utf8"))),
    ["lib/api.js"],
  );
});
