// @ts-check
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";

import { makeSaver } from "../../frontend/static/frontend/js/workbench/saving/saver.js";
import { labelAt } from "../../frontend/static/frontend/js/workbench/state/selectors.js";
import { createStore } from "../../frontend/static/frontend/js/workbench/state/store.js";
import { answer, makePage, makeState, shown } from "./page.mjs";

/** @typedef {import("../../frontend/static/frontend/js/workbench/state/store.js").Store} Store */
/** @param {number | "outcome"} key @param {any} value @returns {any} */
const press = (key, value) => ({ type: "value", key, value });

/** Everything that a listener of this store is told. @param {Store} store */
function heard(store) {
  /** @type {[string, string][]} */
  const told = [];
  store.subscribe((state, cause) => told.push([shown(state), cause]));
  return told;
}

describe("the store", () => {
  test("begins with what the page was sent with", () => {
    const store = createStore(makePage(2, { steps: { 2: { value: 1, source: "explicit", version: 1 } } }));
    assert.equal(shown(store.get()), "1 .");
    assert.equal(store.get().focus, 1);
  });

  test("tells every listener once of all that one dispatch has done", () => {
    const store = createStore(makePage(3));
    const told = [heard(store), heard(store)];
    assert.equal(store.dispatch(press(2, -1), { type: "focus", position: 1 }), true);
    assert.equal(shown(store.get()), "-1@2 ?-1@2 ?-1@2");
    for (const one of told) assert.deepEqual(one, [["-1@2 ?-1@2 ?-1@2", "action"]]);
  });

  test("tells nobody of what changes nothing", () => {
    const store = createStore(makePage(2));
    const told = heard(store);
    assert.equal(store.dispatch({ type: "undo" }), false);
    store.replace(store.get());
    assert.deepEqual(told, []);
  });

  test("takes over a state from outside, and says that it is from there", () => {
    const store = createStore(makePage(1));
    const told = heard(store);
    store.replace(makeState(1, { steps: { 2: { value: 0, source: "explicit" } } }));
    assert.deepEqual(told, [["0", "outside"]]);
  });

  test("tells listeners the newest state when one of them changes it again", () => {
    const store = createStore(makePage(1));
    store.subscribe((state) => void (state.open && store.dispatch({ type: "close" })));
    /** @type {boolean[]} */
    const open = [];
    store.subscribe((state) => open.push(state.open));
    store.dispatch(press(2, 1));
    assert.deepEqual(open, [false, false]);
  });

  test("of a page that is not open takes no labels", () => {
    const store = createStore(makePage(1, { open: false }));
    assert.equal(store.dispatch(press(2, 1)), false);
  });
});

describe("the store and its saver", () => {
  /** @type {any} */
  const world = globalThis;
  const { fetch: nativeFetch } = globalThis;
  /** @type {any[]} */
  let posted = [];
  /** @type {unknown[]} */
  let backups = [];
  /** @type {string[]} */
  let statuses = [];

  beforeEach(() => {
    [posted, backups, statuses] = [[], [], []];
    world.document = { cookie: "csrftoken=t", documentElement: { lang: "en" } };
    world.requestAnimationFrame = (/** @type {() => void} */ work) => setTimeout(work);
  });
  afterEach(() => {
    world.fetch = nativeFetch;
    delete world.document;
    delete world.requestAnimationFrame;
  });

  /** A store that is saved as the page does it. @param {(body: any, store: Store) => Response} server */
  function connected(server) {
    const store = createStore(makePage(3));
    const saver = makeSaver({
      getState: store.get,
      setState: store.replace,
      showStatus: (status) => statuses.push(status),
      backUp: (backup) => Boolean(backups.push(backup)),
      broadcast: () => {},
      urls: { labels: "/labels/", marks: "/marks/" },
    });
    store.subscribe((state, cause) => {
      if (cause === "action" && (state.dirty.size || state.marksDirty)) void saver.changed();
    });
    world.fetch = async (/** @type {string} */ url, /** @type {any} */ { body }) => {
      posted.push({ url, body: JSON.parse(body) });
      return server(JSON.parse(body), store);
    };
    return { store, saver };
  }

  /** @param {any} body @param {Store} store */
  const stores = (body, store) => Response.json(answer(store.get(), { body, sent: new Map(), base: new Map() }));

  test("what is done is drawn first, then sent, and clean when the server has it", async () => {
    const { store, saver } = connected(stores);
    store.dispatch(press(2, 1));
    assert.deepEqual([shown(store.get()), posted.length], ["1 . .", 0]);
    assert.ok(backups.at(-1), "kept in the browser before it is sent");
    await saver.save();
    assert.deepEqual(
      posted.map(({ url, body }) => [url, body.changes[0].value]),
      [["/labels/", 1]],
    );
    assert.deepEqual([store.get().dirty.size, store.get().versions.get(2)], [0, 1]);
    assert.deepEqual([statuses.at(-1), backups.at(-1), saver.pending()], ["saved", null, false]);
  });

  test("what is done while a batch is under way goes with the next one", async () => {
    const { store, saver } = connected(stores);
    store.dispatch(press(2, 1));
    const saving = saver.save();
    store.dispatch(press(4, -1));
    await saving;
    assert.deepEqual(
      posted.map(({ body }) => body.changes.map((/** @type {any} */ one) => one.message_index)),
      [[2], [4]],
    );
    store.dispatch(press(6, 0), press("outcome", 1));
    await saver.save();
    assert.deepEqual(posted.at(-1).body.changes.length, 2);
    assert.deepEqual([labelAt(store.get(), "outcome").value, store.get().dirty.size], [1, 0]);
  });

  test("a server that is away loses nothing: the same batch is sent again", async () => {
    let away = true;
    const { store, saver } = connected((body, it) => (away ? new Response("", { status: 503 }) : stores(body, it)));
    store.dispatch(press(2, -1));
    await saver.save();
    assert.deepEqual([statuses.at(-1), saver.pending(), shown(store.get())], ["unavailable", true, "-1@2 ?-1@2 ?-1@2"]);
    away = false;
    await saver.save();
    assert.equal(posted[0].body.op_id, posted[1].body.op_id);
    assert.deepEqual([statuses.at(-1), saver.pending()], ["saved", false]);
  });

  test("moving about saves nothing", async () => {
    const { store } = connected(stores);
    store.dispatch({ type: "focus", position: 2 });
    assert.deepEqual([posted, statuses], [[], []]);
  });
});
